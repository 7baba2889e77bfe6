"""Shapley values in exact rational arithmetic, two ways. A double is a rational, so the two must agree to the last digit."""

from fractions import Fraction
from math import comb, factorial

from fixture import require


def by_marginals(table):
    """The sum over coalitions of s!(n-1-s)!/n! (v(S + i) - v(S)) (Shapley 1953)."""
    players = len(table).bit_length() - 1
    weights = [Fraction(factorial(s) * factorial(players - 1 - s), factorial(players)) for s in range(players)]
    by_size = [[Fraction(0)] * players for _ in range(players)]  # sums first, one product per size: cheaper in rationals
    for coalition, value in enumerate(table):
        for player in range(players):
            if not coalition >> player & 1:
                by_size[player][coalition.bit_count()] += table[coalition | 1 << player] - value
    return [sum(weight * sums for weight, sums in zip(weights, row)) for row in by_size]


def by_dividends(table):
    """The sum of c_T/|T| over the T that contain the player, c the dividends (Harsanyi 1963)."""
    players = len(table).bit_length() - 1
    dividends = list(table)
    for player in range(players):
        for coalition in range(len(dividends)):
            if coalition >> player & 1:
                dividends[coalition] -= dividends[coalition ^ 1 << player]
    by_size = [[Fraction(0)] * (players + 1) for _ in range(players)]
    for coalition, dividend in enumerate(dividends):
        for player in range(players):
            if coalition >> player & 1:
                by_size[player][coalition.bit_count()] += dividend
    return [sum(sums / size for size, sums in enumerate(row) if size) for row in by_size]


def exact_shapley_values(table):
    """Rationals; `table` holds rationals or doubles, bit i of the index = player i."""
    table = [Fraction(value) for value in table]
    first, second = by_marginals(table), by_dividends(table)
    require(first == second, "oracles disagree:", first, second)
    require(sum(first) == table[-1] - table[0], "oracles are not efficient")
    return first


def shapley_values(table):
    return [float(value) for value in exact_shapley_values(table)]


def banzhaf_values(table):
    """The mean of v(S + i) - v(S) over all S without i."""
    table = [Fraction(value) for value in table]
    players = len(table).bit_length() - 1
    return [float(sum(value if coalition >> player & 1 else -value for coalition, value in enumerate(table)) / (1 << (players - 1)))
            for player in range(players)]


def kernel_weight(players, size):
    """W = 1/(C(n, s) s (n - s)), the Shapley kernel for 0 < s < n, as a rational."""
    return Fraction(1, comb(players, size) * size * (players - size))
