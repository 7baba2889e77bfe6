"""OddSHAP on its stored support and rows."""

import numpy as np
import shapiq

from fixture import close, mask, require
from games import dyadic_table, from_table, smooth_table
from oracles import shapley_values
from shapiq_rows import first_order, rows_of

about = ("shapiq.OddSHAP (LightGBM surrogate, sizes drawn uniformly, paired, ten evaluations a term): `support` are the odd coalitions T whose Walsh coefficients it fits, "
         "`coalitions` its rows, `weights` relative to the Shapley kernel. Re-derived from support and rows by a least-squares problem with a multiplier for the sum of the "
         "coefficients. Players outside the support get 0.")
packages = ["shapiq", "numpy", "lightgbm"]


def fitted(matrix, weights, targets, support, gain):
    """φ_i = -2 Σ_{T∋i} β_T/|T| with β the least-squares fit of (-1)^{|S∩T|} to v(S) - (v(N)+v(∅))/2 subject to Σβ = -gain/2."""
    members = np.array([[int(term, 16) >> player & 1 for player in range(matrix.shape[1])] for term in support])
    design = 1.0 - 2.0 * ((matrix.astype(int) @ members.T) % 2)
    terms = len(support)
    system = np.zeros((terms + 1, terms + 1))
    system[:-1, :-1] = design.T @ (weights[:, None] * design) / weights.sum()
    system[-1, :-1] = system[:-1, -1] = 1
    right = np.append(design.T @ (weights * targets) / weights.sum(), -gain / 2)
    coefficients = np.linalg.solve(system, right)[:-1]
    return -2 * (coefficients / members.sum(axis=1)) @ members


def case(name, table, players, budget, seed):
    game = from_table(table)
    approximator = shapiq.OddSHAP(players, random_state=seed)
    values = first_order(approximator.approximate(budget=budget, game=game), players)
    rows, matrix = rows_of(approximator._sampler, game)
    support = [mask(row) for row in approximator.odd_interaction_matrix_binary[1:]]
    require(all(int(term, 16).bit_count() % 2 for term in support), "odd_shap: an even term")
    if budget < 1 << players:
        targets = rows["values"] - (rows["grand"] + rows["empty"]) / 2
        close(values, fitted(matrix, rows["weights"], targets, support, rows["grand"] - rows["empty"]), 1e-9, "odd_shap", players, budget)
    return {"name": name, "players": players, "budget": budget, "seed": seed, **rows, "support": support, "shapiq": values}


def cases():
    for players, budget in ((6, 40), (8, 100), (10, 200), (12, 160)):
        yield case("dyadic", dyadic_table(players), players, budget, players)
        yield case("smooth", smooth_table(players), players, budget, players)
    table = dyadic_table(5)
    full = case("full", table, 5, 32, 0)
    yield {**full, "shapley_values": shapley_values(table)}
