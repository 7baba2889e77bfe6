"""LeverageSHAP: how many rows of each size, their weights, and the answer on stored rows."""

from math import comb

import numpy as np
import shapiq

from fixture import close, masks, require
from games import dyadic_table, from_table
from oracles import shapley_values
from shapiq_rows import first_order
from subject_kernel_shap import constrained

about = ("shapiq.LeverageSHAP, paired, deterministic counts. Cases with `per_size`: rows of sizes 1..n-1. Cases with `coalitions`: the rows, their weights relative to "
         "the Shapley kernel, 1/(s(n-s)k_s) for k_s rows of size s, and shapiq's answer, re-derived by least squares with a Lagrange multiplier.")
packages = ["shapiq", "numpy"]


def sampled(players, budget, seed=0):
    rows, weights = shapiq.LeverageSHAP(players, random_state=seed)._sample(budget)
    return rows[2:], weights[2:]


def counts(players, budget):
    rows, _ = sampled(players, budget)
    per_size = np.bincount(rows.sum(axis=1).astype(int), minlength=players + 1)[1:players]
    total = 2 + 2 * ((min(budget, 1 << players) - 2) // 2)
    require(2 + per_size.sum() == total, "leverage_shap", players, budget, "rows", per_size.sum())
    require((per_size == per_size[::-1]).all() and all(k <= comb(players, s) for s, k in enumerate(per_size, 1)), "leverage_shap counts", players, budget)
    return {"players": players, "budget": budget, "per_size": per_size}


def case(players, budget, seed):
    table = dyadic_table(players)
    approximator = shapiq.LeverageSHAP(players, random_state=seed)
    values = first_order(approximator.approximate(budget=budget, game=from_table(table)), players)
    rows, weights = sampled(players, budget, seed)  # the same seed draws the same rows
    sizes = rows.sum(axis=1)
    of_size = np.bincount(sizes, minlength=players)
    close(weights, 1 / (sizes * (players - sizes) * of_size[sizes]), 1e-14, "leverage_shap weights")
    targets = from_table(table)(rows) - table[0]
    close(values, constrained(rows, weights, targets, table[-1] - table[0]), 1e-10, "leverage_shap", players, budget)
    if budget == 1 << players:
        close(values, shapley_values(table), 1e-12, "leverage_shap full")
    return {"players": players, "budget": budget, "seed": seed, "empty": table[0], "grand": table[-1], "coalitions": masks(rows), "weights": weights,
            "values": targets + table[0], "shapiq": values}


def cases():
    for players, budgets in {7: (2, 9, 14, 28, 56, 100, 128), 8: (16, 17, 32, 64, 128, 254, 256), 15: (30, 60, 120, 1000), 16: (32, 64, 128, 1024),
                             64: (128, 256, 512, 1024)}.items():
        for budget in budgets:
            yield counts(players, budget)
    for players, budget in ((6, 64), (7, 40), (8, 64), (12, 96)):
        yield case(players, budget, players)
