"""Tables of all 2^n values with their Shapley values, and sums of unanimity games."""

import shapiq
from shapiq_games.synthetic import SOUM, DummyGame

from fixture import all_coalitions, close, mask
from games import dyadic_table, from_table
from oracles import shapley_values

about = ("shapiq.ExactComputer('SV') on tables of multiples of 1/64 (bit i of the index = player i), on DummyGame(5, (1, 2)) and on SOUM(10 players, 30 terms of "
         "1 to 4 players); `shapley_values` are the exact rationals, rounded once, that shapiq's values agree with to 1e-12.")
packages = ["shapiq", "numpy"]


def computed(game, players):
    values = shapiq.ExactComputer(game, players)("SV", 1)
    return [values[(player,)] for player in range(players)]


def case(name, players, table, **more):
    expected = shapley_values(table)
    values = computed(from_table(table), players)
    close(values, expected, 1e-12, name)
    return {"name": name, "players": players, **more, "shapley_values": expected, "shapiq": values}


def cases():
    for players in (1, 2, 3, 4, 5, 8, 10, 12):
        table = dyadic_table(players)
        yield case(f"table {players}", players, table, values=table)
    dummy = DummyGame(5, (1, 2))
    table = dummy(all_coalitions(5))
    yield case("dummy", 5, table, values=table)
    soum = SOUM(n=10, n_basis_games=30, min_interaction_size=1, max_interaction_size=5, random_state=5)
    terms = [{"coalition": mask(game.interaction_binary), "coefficient": soum.linear_coefficients[k]} for k, game in soum.unanimity_games.items()]
    own = [int(term["coalition"], 16) for term in terms]
    table = [sum(term["coefficient"] for term, index in zip(terms, own) if index & ~coalition == 0) for coalition in range(1 << 10)]
    close(soum(all_coalitions(10)), table, 1e-14, "soum")
    expected = case("soum", 10, table, terms=terms)
    dividends = [sum(term["coefficient"] / index.bit_count() for term, index in zip(terms, own) if index >> player & 1) for player in range(10)]
    close(expected["shapley_values"], dividends, 1e-13, "soum dividends")
    yield expected
