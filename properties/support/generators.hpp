#pragma once

#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <vector>

#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap {

/// A game by all its values, index bit i = player i. The generators' values are multiples of 1/64, so sums and
/// differences of them are exact.
struct Table {
  int players = 1;
  std::vector<double> values;

  double empty() const { return values.front(); }
  double grand() const { return values.back(); }
  double gain() const { return grand() - empty(); }
  double scale() const;  ///< the largest absolute value
};

std::ostream& operator<<(std::ostream& out, const Table& table);

/// The table as a game with gradients: the sum of unanimity games with its Möbius coefficients.
std::unique_ptr<Game> as_game(const Table& table);
/// All 2^n values of a game, n <= 24.
Table as_table(const Game& game);
/// The table with c_T in place of v(T): v(S) = Σ_{T⊆S} c_T. Exact for multiples of 1/64. O(n 2^n).
Table moebius_coefficients(Table table);

/// A sum of so many interactions of random players, with normal coefficients. `size` is asked for each.
std::unique_ptr<SolvedGame> random_interactions(int players, std::size_t count, double empty, Rng& rng,
                                                const std::function<std::uint64_t()>& size);

/// v(N) + v(∅) − v(N∖S).
Table dual(const Table& table);
/// a·f + b·g.
Table combination(double a, const Table& f, double b, const Table& g);

/// Any game of at most `most_players` players; v(∅) is usually not 0, sometimes 10^6.
rc::Gen<Table> any_game(int most_players);
rc::Gen<Table> additive_games(int most_players);
/// Interactions of at most two players.
rc::Gen<Table> two_additive_games(int most_players);
/// v(S) = v(N∖S).
rc::Gen<Table> even_games(int most_players);
/// Two games of equally many players.
rc::Gen<std::pair<Table, Table>> two_games(int most_players);

/// A game one of whose players never changes the value.
struct NullPlayerGame {
  Table table;
  int null_player = 0;
};
std::ostream& operator<<(std::ostream& out, const NullPlayerGame& game);
rc::Gen<NullPlayerGame> null_player_games(int most_players);

}  // namespace opshap
