"""UnbiasedKernelSHAP, SHAP-IQ and SVARM on stored rows."""

import numpy as np
import shapiq

from fixture import close
from games import dyadic_table, from_table
from oracles import shapley_values
from shapiq_rows import first_order, rows_of

about = ("shapiq.UnbiasedKernelSHAP (= shapiq.SHAPIQ for the Shapley value) and shapiq.SVARM with their sampled rows; `weights` are relative to the Shapley kernel, "
         "`counts` say how often a row was drawn (1 for rows of `enumerated` sizes). Re-derived from rows, weights and counts by formula. shapiq's SVARM gives a stratum "
         "without rows the mean 0.")
packages = ["shapiq", "numpy", "scipy"]


def unbiased(matrix, rows):
    """(v(N) - v(∅))/n + n Σ w (v(S) - v(∅)) (1[i in S] - s/n)."""
    players = matrix.shape[1]
    gains = rows["weights"] * (rows["values"] - rows["empty"])
    centred = matrix - matrix.mean(axis=1, keepdims=True)
    return (rows["grand"] - rows["empty"]) / players + players * gains @ centred


def stratified(matrix, rows):
    """1/n Σ over sizes of the mean of v(S) over the S that contain i, less the mean over those that do not: each size of S and side is a stratum."""
    players = matrix.shape[1]
    sizes = matrix.sum(axis=1)
    counts = np.asarray(rows["counts"], float)
    gains = rows["values"] - rows["empty"]
    values = np.full(players, rows["grand"] - rows["empty"])
    for player in range(players):
        for inside in (True, False):
            for size in range(1, players):
                stratum = (sizes == size) & (matrix[:, player] == inside)
                if stratum.any():
                    values[player] += (1 if inside else -1) * (counts[stratum] @ gains[stratum]) / counts[stratum].sum()
    return values / players


def case(method, make, formula, players, budget, pairing, seed):
    game = from_table(dyadic_table(players))
    approximator = make(n=players, pairing_trick=pairing, random_state=seed)
    values = first_order(approximator.approximate(budget=budget, game=game), players)
    rows, matrix = rows_of(approximator._sampler, game)
    close(values, formula(matrix, rows), 1e-11, method, players, budget)
    if budget >= 1 << players:
        close(values, shapley_values(dyadic_table(players)), 1e-11, method, "full", players)
    enumerated = np.flatnonzero(~approximator._sampler.is_coalition_size_sampled)
    return {"method": method, "players": players, "budget": budget, "paired": pairing, "seed": seed, "enumerated": [s for s in enumerated if 0 < s < players], **rows,
            "shapiq": values}


def shapiq_sv(n, pairing_trick, random_state):
    return shapiq.SHAPIQ(n, max_order=1, index="SV", pairing_trick=pairing_trick, random_state=random_state)


def cases():
    methods = [("kernel_shap_unbiased", shapiq.UnbiasedKernelSHAP, unbiased), ("shap_iq", shapiq_sv, unbiased), ("svarm", shapiq.SVARM, stratified)]
    for method, make, formula in methods:
        for players, budget in ((4, 16), (6, 20), (8, 64), (12, 96)):
            for pairing in (False, True):
                if budget == 1 << players and pairing:
                    continue
                if method == "shap_iq" and players > 6:
                    continue
                yield case(method, make, formula, players, budget, pairing, players)
