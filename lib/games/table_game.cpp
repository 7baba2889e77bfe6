#include "games/table_game.hpp"

#include <utility>

#include "core/error.hpp"

namespace opshap::games {

namespace {

class TableGame final : public Game {
 public:
  TableGame(int players, std::vector<double> values) : players_(players), values_(std::move(values)) {}

  int players() const override { return players_; }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values(coalitions.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = values_[coalitions.row(i)[0]];
    return values;
  }

 private:
  int players_;
  std::vector<double> values_;
};

}  // namespace

std::unique_ptr<Game> table_game(int players, std::vector<double> values) {
  require(players >= 1 && players <= max_table_game_players, "table_game: players=", players,
          " (a table has 2^n values, 1 <= n <= ", max_table_game_players,
          "). Use a sum of unanimity games for more players.");
  require(values.size() == std::size_t{1} << players, "table_game: values=", values.size(), " (", players,
          " players have 2^", players, " = ", std::size_t{1} << players, " coalitions). Give one value per coalition.");
  return std::make_unique<TableGame>(players, std::move(values));
}

std::unique_ptr<Game> random_table_game(int players, Rng& rng) {
  require(players >= 1 && players <= max_table_game_players, "table_game: players=", players,
          " (a table has 2^n values, 1 <= n <= ", max_table_game_players, "). Use fewer players.");
  std::vector<double> values(std::size_t{1} << players);
  for (double& value : values) value = (static_cast<double>(rng.below(256)) - 128) / 64;
  return table_game(players, std::move(values));
}

}  // namespace opshap::games
