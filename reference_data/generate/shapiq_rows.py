"""What shapiq's CoalitionSampler has drawn: rows, how often, and weights relative to the Shapley kernel."""

import numpy as np
from scipy.special import gammaln

from fixture import masks


def log_kernel_weight(players, sizes):
    """log W_S = -log(C(n, s) s (n - s)) for sizes 0 < s < n."""
    return gammaln(sizes + 1) + gammaln(players - sizes + 1) - gammaln(players + 1) - np.log(sizes) - np.log(players - sizes)


def rows_of(sampler, game):
    """The interior rows. `weights` are ω_S W_S: the expectation of the sum of weight·f(S) over rows is the sum of W_S f(S) over all coalitions."""
    matrix = sampler.coalitions_matrix
    values = np.asarray(game(matrix), float)
    sizes = matrix.sum(axis=1)
    players = matrix.shape[1]
    interior = (sizes > 0) & (sizes < players)
    weights = np.exp(sampler.log_sampling_adjustment_weights[interior] + log_kernel_weight(players, sizes[interior]))
    return {
        "empty": values[sizes == 0][0],
        "grand": values[sizes == players][0],
        "coalitions": masks(matrix[interior]),
        "counts": sampler.coalitions_counter[interior],
        "weights": weights,
        "values": values[interior],
    }, matrix[interior]


def first_order(values, players):
    return np.array([values[(player,)] for player in range(players)])
