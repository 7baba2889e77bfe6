"""KernelSHAP on stored rows, and the constrained least squares that it stands for."""

import numpy as np
import shapiq

from fixture import close
from games import dyadic_table, from_table
from oracles import kernel_weight, shapley_values
from shapiq_rows import first_order, rows_of

about = ("shapiq.KernelSHAP with its sampled rows: `weights` are relative to the Shapley kernel, W_S = 1/(C(n,s)s(n-s)) for an enumerated size; `shapiq` is its answer, "
         "which meets efficiency to about 1e-8 only (the ends have weight 1e8); `constrained` minimises the same weighted squares with efficiency as a hard "
         "constraint (numpy, Lagrange multiplier). Cases with `full` have every coalition; there `constrained` is the exact Shapley value.")
packages = ["shapiq", "numpy", "scipy"]


def constrained(matrix, weights, targets, gain):
    """min sum of w (y - x·1_S)^2 subject to sum x = gain, by the stationarity conditions with one multiplier."""
    players = matrix.shape[1]
    rows = matrix.astype(float)
    weights = weights / weights.max()
    system = np.ones((players + 1, players + 1))
    system[-1, -1] = 0
    system[:-1, :-1] = rows.T @ (weights[:, None] * rows)
    right = np.append(rows.T @ (weights * targets), gain)
    solution = np.linalg.solve(system, right)
    return (solution + np.linalg.solve(system, right - system @ solution))[:-1]


def big_m(matrix, weights, targets, gain):
    """The same with efficiency as a row of weight 1e8 instead: what shapiq solves, here by singular values."""
    players = matrix.shape[1]
    rows = np.vstack([matrix.astype(float), np.ones(players)])
    roots = np.sqrt(np.append(weights * players, 1e8))
    return np.linalg.lstsq(roots[:, None] * rows, roots * np.append(targets, gain), rcond=None)[0]


def case(players, budget, pairing, seed):
    table = dyadic_table(players)
    game = from_table(table)
    approximator = shapiq.KernelSHAP(n=players, pairing_trick=pairing, random_state=seed)
    values = first_order(approximator.approximate(budget=budget, game=game), players)
    rows, matrix = rows_of(approximator._sampler, game)
    targets, gain = rows["values"] - rows["empty"], rows["grand"] - rows["empty"]
    solution = constrained(matrix, rows["weights"], targets, gain)
    close(values, big_m(matrix, rows["weights"], targets, gain), 1e-6, "kernel_shap", players, budget)
    close(values, solution, 1e-5, "kernel_shap constrained", players, budget)
    return {"players": players, "budget": budget, "paired": pairing, "seed": seed, "full": budget >= 1 << players, **rows, "shapiq": values, "constrained": solution}


def cases():
    for players in (4, 6, 8):
        full = case(players, 1 << players, False, 0)
        expected = shapley_values(dyadic_table(players))
        close(full["constrained"], expected, 1e-12, "full", players)
        for row, weight in zip(full["coalitions"], full["weights"]):
            close(weight, float(kernel_weight(players, int(row, 16).bit_count())), 1e-12, "weight")
        yield {**full, "constrained": expected}
    for players in (6, 8, 12):
        for budget in (4 * players, 8 * players):
            for pairing in (False, True):
                for seed in range(5 if players == 12 else 2):
                    yield case(players, budget, pairing, seed)
