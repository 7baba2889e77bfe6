"""PermutationSamplingSV with the orderings it drew."""

import numpy as np
import shapiq

from fixture import close
from games import dyadic_table, from_table
from oracles import shapley_values
from shapiq_rows import first_order

about = ("shapiq.PermutationSamplingSV: the orderings are read off the coalitions it asks for. `values` holds v of all coalitions, index bit i = player i. Re-derived "
         "from the orderings. For 4 players all 24 orderings are given as well (`shapiq` is then the exact value).")
packages = ["shapiq", "numpy"]


def mean_contributions(table, orderings, players):
    values = np.zeros(players)
    for ordering in orderings:
        before = 0
        for player in ordering:
            after = before | 1 << player
            values[player] += table[after] - table[before]
            before = after
    return values / len(orderings)


def case(players, budget, seed):
    table = dyadic_table(players)
    asked = []

    def game(coalitions):
        coalitions = np.atleast_2d(coalitions)
        if len(coalitions) > 1 or players == 2 and coalitions.sum() == 1:
            asked.append(coalitions.copy())
        return from_table(table)(coalitions)

    values = first_order(shapiq.PermutationSamplingSV(players, random_state=seed).approximate(budget=budget, game=game), players)
    chains = np.vstack(asked).reshape(-1, players - 1, players)
    orderings = []
    for chain in chains:
        full = np.vstack([np.zeros(players, bool), chain, np.ones(players, bool)]).astype(int)
        orderings.append(np.argmax(np.diff(full, axis=0), axis=1))
    close(values, mean_contributions(table, orderings, players), 1e-13, "permutation", players)
    return {"players": players, "values": table, "orderings": np.array(orderings), "shapiq": values}


def cases():
    import itertools

    for players, budget, seed in ((2, 12, 0), (3, 22, 1), (5, 50, 2), (8, 2 + 7 * 17, 3)):
        yield case(players, budget, seed)
    orderings = list(itertools.permutations(range(4)))
    table = dyadic_table(4)
    values = shapley_values(table)
    close(values, mean_contributions(table, orderings, 4), 1e-13, "all orderings")
    yield {"players": 4, "values": table, "orderings": orderings, "shapiq": values}
