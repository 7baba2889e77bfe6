#include "support/generators.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <ostream>
#include <utility>

#include "core/coalitions.hpp"
#include "games/unanimity.hpp"
#include "support/tolerance.hpp"

namespace opshap {

namespace {

/// 1..most, all equally likely: left to itself RapidCheck begins with small numbers and seldom comes to large ones.
rc::Gen<int> player_counts(int most) { return rc::gen::resize(rc::kNominalSize, rc::gen::inRange(1, most + 1)); }

rc::Gen<double> dyadic() {
  return rc::gen::map(rc::gen::inRange(-128, 129), [](int k) { return k / 64.0; });
}

rc::Gen<std::vector<double>> dyadics(std::size_t count) {
  return rc::gen::container<std::vector<double>>(count, dyadic());
}

rc::Gen<double> offset() { return rc::gen::weightedOneOf<double>({{3, dyadic()}, {1, rc::gen::just(1e6)}}); }

/// Adds to the value of each coalition, a player at a time, that of the coalition without the player, times a factor.
void add_without_each_player(Table& table, double factor) {
  for (int player = 0; player < table.players; ++player)
    for (std::size_t mask = 0; mask < table.values.size(); ++mask)
      if (mask >> player & 1) table.values[mask] += factor * table.values[mask ^ (std::size_t{1} << player)];
}

/// The table with the Möbius coefficients given for coalitions of at most `order` players, 0 for larger ones.
rc::Gen<Table> of_order(int players, int order) {
  const std::size_t all = std::size_t{1} << players;
  return rc::gen::apply(
      [players, order](std::vector<double> coefficients, double empty) {
        Table table{.players = players, .values = std::move(coefficients)};
        for (std::size_t mask = 0; mask < table.values.size(); ++mask) {
          if (std::popcount(mask) > order) table.values[mask] = 0;
        }
        table.values[0] = empty;
        add_without_each_player(table, 1);
        return table;
      },
      dyadics(all), offset());
}

rc::Gen<Table> of_values(int players) {
  return rc::gen::apply(
      [players](std::vector<double> values, double shift) {
        for (double& value : values) value += shift;
        return Table{.players = players, .values = std::move(values)};
      },
      dyadics(std::size_t{1} << players), offset());
}

}  // namespace

double Table::scale() const { return largest(values); }

std::ostream& operator<<(std::ostream& out, const Table& table) {
  out << "players=" << table.players << " values={";
  for (std::size_t mask = 0; mask < table.values.size(); ++mask) out << (mask > 0 ? ", " : "") << table.values[mask];
  return out << "}";
}

std::ostream& operator<<(std::ostream& out, const NullPlayerGame& game) {
  return out << "null player " << game.null_player << " in " << game.table;
}

Table moebius_coefficients(Table table) {
  add_without_each_player(table, -1);
  return table;
}

std::unique_ptr<Game> as_game(const Table& table) {
  const Table coefficients = moebius_coefficients(table);
  std::vector<games::UnanimityTerm> terms;
  for (std::size_t mask = 1; mask < coefficients.values.size(); ++mask) {
    if (coefficients.values[mask] == 0) continue;
    games::UnanimityTerm term{.coalition = {}, .coefficient = coefficients.values[mask]};
    for (int player = 0; player < table.players; ++player) {
      if (mask >> player & 1) term.coalition.push_back(player);
    }
    terms.push_back(std::move(term));
  }
  return games::unanimity_sum(table.players, std::move(terms), table.empty());
}

Table as_table(const Game& game) {
  return {.players = game.players(),
          .values = game.values(Coalitions::enumerate(game.players(), 0, std::uint64_t{1} << game.players()))};
}

std::unique_ptr<SolvedGame> random_interactions(int players, std::size_t count, double empty, Rng& rng,
                                                const std::function<std::uint64_t()>& size) {
  std::vector<games::UnanimityTerm> terms(count);
  for (games::UnanimityTerm& term : terms) {
    term.coalition.resize(static_cast<std::size_t>(players));
    std::iota(term.coalition.begin(), term.coalition.end(), 0);
    rng.shuffle(term.coalition);
    term.coalition.resize(std::min(term.coalition.size(), static_cast<std::size_t>(size())));
    term.coefficient = rng.normal();
  }
  return games::unanimity_sum(players, std::move(terms), empty);
}

Table dual(const Table& table) {
  Table result = table;
  const std::size_t grand = table.values.size() - 1;
  for (std::size_t mask = 0; mask <= grand; ++mask)
    result.values[mask] = table.grand() + table.empty() - table.values[grand ^ mask];
  return result;
}

Table combination(double a, const Table& f, double b, const Table& g) {
  Table result = f;
  for (std::size_t mask = 0; mask < result.values.size(); ++mask)
    result.values[mask] = a * f.values[mask] + b * g.values[mask];
  return result;
}

rc::Gen<Table> any_game(int most_players) { return rc::gen::mapcat(player_counts(most_players), of_values); }

rc::Gen<Table> additive_games(int most_players) {
  return rc::gen::mapcat(player_counts(most_players), [](int players) { return of_order(players, 1); });
}

rc::Gen<Table> two_additive_games(int most_players) {
  return rc::gen::mapcat(player_counts(most_players), [](int players) { return of_order(players, 2); });
}

rc::Gen<Table> even_games(int most_players) {
  return rc::gen::map(any_game(most_players), [](Table table) {
    const std::size_t grand = table.values.size() - 1;
    for (std::size_t mask = 0; mask < (grand + 1) / 2; ++mask) table.values[grand ^ mask] = table.values[mask];
    return table;
  });
}

rc::Gen<std::pair<Table, Table>> two_games(int most_players) {
  return rc::gen::mapcat(player_counts(most_players),
                         [](int players) { return rc::gen::pair(of_values(players), of_values(players)); });
}

rc::Gen<NullPlayerGame> null_player_games(int most_players) {
  return rc::gen::mapcat(any_game(most_players), [](const Table& table) {
    return rc::gen::map(rc::gen::inRange(0, table.players), [table](int player) {
      NullPlayerGame game{.table = table, .null_player = player};
      const std::size_t bit = std::size_t{1} << player;
      for (std::size_t mask = 0; mask < table.values.size(); ++mask) {
        if (mask & bit) game.table.values[mask] = table.values[mask ^ bit];
      }
      return game;
    });
  });
}

}  // namespace opshap
