"""Shows, one at a time, what reports/shapiq_findings.md says of shapiq 1.8.

    .venv-golden/bin/python reference_data/generate/findings.py [NAME ...]

The environment is that of golden.py. Without names all are shown.
"""

import argparse
import json
import warnings
from itertools import combinations

import numpy as np
import shapiq
import xgboost
from shapiq.approximator.sampling import CoalitionSampler
from shapiq.tree.interventional.computer import InterventionalTreeSHAPIQ

from fixture import all_coalitions
from games import dyadic_table, from_table, smooth_table
from oracles import shapley_values
from shapiq_rows import first_order


def singular_design():
    """KernelSHAP with fewer independent rows than players: v(S) = (Σ weights)² with weights 1..n over n, whose Shapley values are at most `true`."""
    for players, budget, pairing in ((16, 10, False), (32, 20, False), (32, 60, True), (64, 80, True)):
        weights = np.arange(1, players + 1.0) / players
        true = (weights * weights.sum()).max()  # ψ_i = w_i Σw
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            approximator = shapiq.KernelSHAP(players, pairing_trick=pairing, random_state=0)
            values = first_order(approximator.approximate(budget, lambda rows: (np.atleast_2d(rows) @ weights) ** 2), players)
        rank = np.linalg.matrix_rank(approximator._sampler.coalitions_matrix.astype(float))
        print(f"n={players} budget={budget} paired={pairing}: rank {rank}, largest |value| {np.abs(values).max():.3g} (true {true:.3g}), warnings {len(caught)}")


def soft_efficiency():
    """The sum of KernelSHAP's values less v(N) - v(∅), with every coalition evaluated."""
    for players in (6, 8, 10):
        table = dyadic_table(players)
        values = first_order(shapiq.KernelSHAP(players).approximate(1 << players, from_table(table)), players)
        error = np.abs(values - shapley_values(table)).max()
        print(f"n={players}: sum off by {abs(values.sum() - table[-1] + table[0]):.2g}, largest error {error:.2g}")


def too_small_budgets():
    """Permutation sampling and stratified sampling on the additive game of weights 1..n."""
    for name, method, players, budget in (("PermutationSamplingSV", shapiq.PermutationSamplingSV, 8, 8), ("StratifiedSamplingSV", shapiq.StratifiedSamplingSV, 1, 2),
                                          ("StratifiedSamplingSV", shapiq.StratifiedSamplingSV, 8, 6)):
        weights = np.arange(1, players + 1.0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            values = first_order(method(players, random_state=0).approximate(budget, lambda rows: np.atleast_2d(rows) @ weights), players)
        print(f"{name}, n={players}, budget {budget}: {np.round(values, 3).tolist()}, warnings {len(caught)}")


def empty_strata():
    """SVARM and StratifiedSamplingSV: the sum of the values less v(N) - v(∅), and the strata that no coalition fell on."""
    players = 6
    table = dyadic_table(players)
    for budget in (20, 32, 48):
        approximator = shapiq.SVARM(players, random_state=0)
        values = first_order(approximator.approximate(budget, from_table(table)), players)
        rows = approximator._sampler.coalitions_matrix
        sizes = rows.sum(axis=1)
        empty = sum(not ((sizes == size) & (rows[:, player] == inside)).any() for size in range(1, players) for player in range(players) for inside in (0, 1))
        stratified = first_order(shapiq.StratifiedSamplingSV(players, random_state=0).approximate(budget, from_table(table)), players)
        gain = table[-1] - table[0]
        print(f"n={players} budget={budget}: SVARM {values.sum() - gain:+.3f} with {empty} of {2 * players * (players - 1)} strata empty; StratifiedSamplingSV "
              f"{stratified.sum() - gain:+.3f}")


def stopping_rule():
    """How often coalitions of two players are drawn when drawing ends with the second different coalition: n = 4, budget 4.

    By enumeration: with chances p, S is drawn k times and then T once. Estimators linear in v weigh such a row by its share of the draws over its chance, so they
    are unbiased only if the mean share is the chance. Player 0 of v(S) = 1[|S| = 2, 0 in S] then has a mean that is too large by the same factor.
    """
    players, runs = 4, 20000
    law = {1: 4 / 11, 2: 3 / 11, 3: 4 / 11}
    sizes = np.array([s for s in law for _ in combinations(range(players), s)])
    chance = np.array([law[s] / (6 if s == 2 else 4) for s in sizes])
    share = np.zeros(len(sizes))
    for a, pa in enumerate(chance):
        for b, pb in enumerate(chance):
            if a != b:
                k = np.arange(1, 200)
                share[a] += (pa**k * pb * k / (k + 1)).sum()
                share[b] += (pa**k * pb / (k + 1)).sum()
    drawn = []
    for seed in range(runs):
        sampler = CoalitionSampler(players, np.array([1, 1 / 3, 1 / 4, 1 / 3, 1]), random_state=seed)
        sampler.sample(4)
        counts, of_size = sampler.coalitions_counter[2:], sampler.coalitions_size[2:]
        drawn.append(counts[of_size == 2].sum() / counts.sum())
    pairs = share[sizes == 2].sum()
    print(f"share of pairs: law {law[2]:.5f}, mean by enumeration {pairs:.5f}, mean of {runs} samples {np.mean(drawn):.5f} +- {np.std(drawn) / runs**0.5:.5f}")
    print(f"UnbiasedKernelSHAP's mean for player 0: {0.25 * pairs / law[2]:.5f}, Shapley value 0.25")


def unpaired_rows():
    """Rows without their complement in samples with the pairing trick."""
    for players, budget in ((8, 11), (10, 41), (16, 101)):
        lonely = []
        for seed in range(50):
            sizes = np.arange(1, players)
            weights = np.concatenate([[1.0], 1 / (sizes * (players - sizes)), [1.0]])
            sampler = CoalitionSampler(players, weights, pairing_trick=True, random_state=seed)
            sampler.sample(budget)
            rows = {row.tobytes() for row in sampler.coalitions_matrix}
            lonely.append(sum((~row).tobytes() not in rows for row in sampler.coalitions_matrix))
        print(f"n={players} budget={budget}: {np.mean(lonely):.2f} rows per sample")


def exact_tree_method():
    """InterventionalTreeSHAPIQ of XGBoost models on all coalitions of six players, against the Shapley values of their predictions."""
    players = 6
    rows = all_coalitions(players).astype(float)
    for tree_method in ("hist", "approx", "exact"):
        model = xgboost.XGBRegressor(n_estimators=20, max_depth=4, tree_method=tree_method, n_jobs=1, gamma=0.01).fit(rows, smooth_table(players))
        values = first_order(InterventionalTreeSHAPIQ(model, data=np.zeros((1, players)), index="SV", max_order=1).explain_function(np.ones((1, players))), players)
        expected = np.array(shapley_values(model.predict(rows).astype(float)))
        trees = json.loads(bytes(model.get_booster().save_raw("json")))["learner"]["gradient_booster"]["model"]["trees"]
        leaves = [(tree["base_weights"][i], tree["split_conditions"][i]) for tree in trees for i, left in enumerate(tree["left_children"]) if left == -1]
        print(f"xgboost {xgboost.__version__} tree_method={tree_method}: largest error {np.abs(values - expected).max():.2g} of {np.abs(expected).max():.2g}; "
              f"base_weights is not the leaf's value in {sum(abs(a - b) > 1e-6 for a, b in leaves)} of {len(leaves)} leaves")


def players_left_out():
    """OddSHAP gives exactly 0 to players beyond one term for each ten evaluations, here on the additive game of weights 1..n."""
    players = 12
    weights = np.arange(1, players + 1.0)
    for budget in (50, 100, 120):
        values = first_order(shapiq.OddSHAP(players, random_state=0).approximate(budget, lambda rows: np.atleast_2d(rows) @ weights), players)
        print(f"n={players} budget={budget}: {int((values == 0).sum())} zeros; largest error {np.abs(values - weights).max():.3g}")


def since_1_6():
    """What versions up to 1.6 did and 1.8 does no more."""
    for proxy in ("xgboost", "linear"):
        weights = shapiq.RegressionMSR(8, index="SV", proxy_model=proxy)._sampler._sampling_weights
        ratio = weights[1] / weights[4]
        print(f"RegressionMSR, {proxy}: sizes 1 and 4 of 8 are drawn in the ratio {ratio:.4f} (1/(s(n-s)): {16 / 7:.4f}, its square root: {(16 / 7) ** 0.5:.4f})")
    table = dyadic_table(5)
    kept = table[np.arange(32)].copy()
    returned = []

    def game(rows):
        values = from_table(table)(rows)
        returned.append((values, values.copy()))
        return values

    shapiq.RegressionMSR(5, index="SV", proxy_model="tree", random_state=0).approximate(20, game)
    print("RegressionMSR changes the array that the game returned:", any((a != b).any() for a, b in returned) or bool((table != kept).any()))
    first, second = (shapiq.RegressionMSR(8, index="SV", proxy_model="tree", random_state=s) for s in (1, 2))
    second.set_random_state(1)
    second.proxy_model.set_params(random_state=1)
    same = [first_order(a.approximate(40, from_table(dyadic_table(8))), 8) for a in (first, second)]
    print("set_random_state gives the values of a new approximator with that seed:", bool((same[0] == same[1]).all()))
    for players in (1029, 1030, 1100):
        weights = np.ones(players)
        values = first_order(shapiq.UnbiasedKernelSHAP(players, random_state=0).approximate(64, lambda rows: np.atleast_2d(rows) @ weights), players)
        print(f"UnbiasedKernelSHAP, n={players}: finite {bool(np.isfinite(values).all())}, sum {values.sum():.6f}")


FINDINGS = {f.__name__: f for f in (singular_design, soft_efficiency, too_small_budgets, empty_strata, stopping_rule, unpaired_rows, exact_tree_method, players_left_out, since_1_6)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=", ".join(FINDINGS))
    warnings.simplefilter("ignore")
    for name in parser.parse_args().names or FINDINGS:
        print(f"== {name}")
        FINDINGS[name]()


if __name__ == "__main__":
    main()
