"""Games whose Shapley values are known in exact rationals."""

from fractions import Fraction
from math import comb, factorial

from fixture import require
from oracles import exact_shapley_values

about = ("Shapley values in exact rationals (`exact`) and rounded once (`shapley_values`), by a closed form and, where `values` holds all 2^n values (bit i of the index = player i), "
         "by two enumerations of them. `parameters` say which game it is: with a measure μ of weights `weights`, cube is μ(S)³, product μ(S)·λ(S), powers Π(1+w_i) - 1, relu "
         "max(μ(S) - threshold, 0) with integer `cells`, airport the largest of the `costs` in S, gloves the smallest of the shares of three hands, of which `owners` have one glove each.")
packages = []


def measure(weights, coalition):
    return sum((w for player, w in enumerate(weights) if coalition >> player & 1), Fraction(0))


def written(name, parameters, closed, worth=None):
    """The table is written when worth(S) is given, and the closed form compared with it."""
    players = len(closed)
    case = {"name": name, "players": players, "parameters": parameters, "exact": [str(value) for value in closed], "shapley_values": [float(value) for value in closed]}
    if worth:
        table = [Fraction(worth(coalition)) for coalition in range(1 << players)]
        require(exact_shapley_values(table) == closed, "closed form", name)
        case["values"] = [float(value) for value in table]
    return case


def texts(values):
    return [str(value) for value in values]


def cube(weights):
    """ψ_k = w_k (M² + (Σw² - M w_k)/2) with M = Σw."""
    total, squares = sum(weights), sum(w * w for w in weights)
    closed = [w * (total**2 + (squares - total * w) / 2) for w in weights]
    return written("cube", {"weights": texts(weights)}, closed, lambda s: measure(weights, s) ** 3)


def product(first, second):
    closed = [(a * sum(second) + b * sum(first)) / 2 for a, b in zip(first, second)]
    return written("product", {"weights": texts(first), "other_weights": texts(second)}, closed, lambda s: measure(first, s) * measure(second, s))


def powers(weights):
    """ψ_k = w_k ∫ Π_{j≠k} (1 + t w_j) dt: a polynomial."""
    closed = []
    for k, w in enumerate(weights):
        polynomial = [Fraction(1)]
        for j, other in enumerate(weights):
            if j != k:
                polynomial = [a + other * b for a, b in zip(polynomial + [Fraction(0)], [Fraction(0)] + polynomial)]
        closed.append(w * sum(c / (power + 1) for power, c in enumerate(polynomial)))

    def worth(coalition):
        result = Fraction(1)
        for player, w in enumerate(weights):
            result *= 1 + w if coalition >> player & 1 else 1
        return result - 1

    return written("powers", {"weights": texts(weights)}, closed, worth)


def airport(costs):
    """Sorted increasingly, ψ_k = Σ_{l≤k} (c_l - c_{l-1})/(n - l + 1) (Littlechild and Owen 1973)."""
    players, closed, sum_, before = len(costs), [], Fraction(0), Fraction(0)
    for place, cost in enumerate(costs):
        sum_ += (cost - before) / (players - place)
        before = cost
        closed.append(sum_)
    worth = (lambda s: max((c for player, c in enumerate(costs) if s >> player & 1), default=Fraction(0))) if players <= 10 else None
    return written("airport", {"costs": texts(costs)}, closed, worth)


def gloves(owners):
    """Hands with `owners` players each, who own equal shares: by counting the owners of each hand in a coalition."""
    players = sum(owners)

    def least(counts):
        return min(Fraction(count, n) for count, n in zip(counts, owners))

    by_hand = []
    for hand in range(3):
        value = Fraction(0)
        rest = [n - (h == hand) for h, n in enumerate(owners)]
        for a in range(rest[0] + 1):
            for b in range(rest[1] + 1):
                for c in range(rest[2] + 1):
                    more = [a, b, c]
                    more[hand] += 1
                    size = a + b + c
                    ways = comb(rest[0], a) * comb(rest[1], b) * comb(rest[2], c)
                    value += Fraction(ways * factorial(size) * factorial(players - 1 - size), factorial(players)) * (least(more) - least((a, b, c)))
        by_hand.append(value)
    hands = [hand for hand, n in enumerate(owners) for _ in range(n)]

    def worth(coalition):
        return least([sum(1 for player, h in enumerate(hands) if h == hand and coalition >> player & 1) for hand in range(3)])

    case = written("gloves", {"owners": list(owners)}, [by_hand[hand] for hand in hands], worth if players <= 10 else None)
    case["hands"] = [float(value * n) for value, n in zip(by_hand, owners)]
    require(sum(value * n for value, n in zip(by_hand, owners)) == 1, "gloves are not efficient")
    return case


def relu(weights, threshold):
    """Integer weights: the coalitions of the others are counted by size and weight."""
    players, total = len(weights), sum(weights)
    values = {}
    for own in set(weights):
        others = list(weights)
        others.remove(own)
        ways = [[0] * (total + 1) for _ in range(players)]
        ways[0][0] = 1
        for index, w in enumerate(others):
            for size in range(index, -1, -1):
                row, above = ways[size], ways[size + 1]
                for weight in range(total - w + 1):
                    if row[weight]:
                        above[weight + w] += row[weight]
        value = Fraction(0)
        for size, row in enumerate(ways):
            gained = sum(count * (max(weight + own - threshold, 0) - max(weight - threshold, 0)) for weight, count in enumerate(row) if count)
            value += Fraction(factorial(size) * factorial(players - 1 - size), factorial(players)) * gained
        values[own] = value
    worth = (lambda s: max(measure(weights, s) - threshold, Fraction(0))) if players <= 8 else None
    case = written("relu", {"cells": weights, "threshold": threshold}, [values[w] for w in weights], worth)
    require(sum(values[w] for w in weights) == total - threshold, "relu is not efficient")
    return case


def cases():
    f = Fraction
    anchor = cube([f(1, 10), f(2, 10), f(3, 10), f(4, 10)])
    require(anchor["exact"] == ["11/100", "21/100", "3/10", "19/50"], "anchor of the cube")
    yield anchor
    yield cube([f(1, 2), f(-3, 4), f(5, 8), f(-1, 8), f(7, 16), f(1, 16)])
    yield product([f(1, 8), f(3, 8), f(1, 4), f(3, 4)], [f(1, 2), f(-1, 4), f(1, 8), f(5, 8)])
    yield powers([f(1, 2), f(-1, 4), f(3, 4), f(1, 8), f(-5, 8), f(2)])
    anchor = airport([f(1), f(2), f(3)])
    require(anchor["exact"] == ["1/3", "5/6", "11/6"], "anchor of the airport")
    yield anchor
    for players in (8, 16, 32, 64, 128):
        yield airport([f(2 * k + 1, 2 * players) for k in range(players)])
    yield gloves((1, 2, 4))
    anchor = gloves((4, 8, 16))
    require([round(value, 8) for value in anchor["hands"]] == [0.37795832, 0.32292159, 0.29912008], "anchor of the gloves")
    yield anchor
    for players in (8, 16, 32):
        yield relu([1, 2] * (players // 2), 3 * players // 4)  # half of the measure
