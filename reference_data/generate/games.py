"""Games as tables, index bit i = player i, and as the callables that shapiq wants."""

import numpy as np

from fixture import all_coalitions, indices


def dyadic_table(players, seed=0):
    """Multiples of 1/64 in [-2, 2) with v(∅) = 3.25: sums and differences of them are exact."""
    table = np.random.default_rng([players, seed]).integers(-128, 128, 1 << players) / 64
    table[0] = 3.25
    return table


def smooth_table(players, seed=0):
    """Mostly additive, with an interaction of every order: (1 + a·1_S)^3 - 1/2 (b·1_S)^2 + 5/4."""
    rng = np.random.default_rng([players, seed, 1])
    rows = all_coalitions(players).astype(float)
    a, b = rng.integers(-16, 64, players) / (64 * players), rng.integers(-64, 64, players) / 128
    return (1 + rows @ a) ** 3 - 0.5 * (rows @ b) ** 2 + 1.25


def from_table(table):
    """A callable of boolean rows. It hands out a new array, since an estimator may change what it gets."""
    table = np.asarray(table, float)
    return lambda coalitions: table[indices(np.atleast_2d(coalitions))]
