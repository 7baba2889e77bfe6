#include "games/measure.hpp"

#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.hpp"

namespace opshap::games {

Measure::Measure(std::vector<double> cells) : cells_(std::move(cells)) {
  require(!cells_.empty() && cells_.size() <= Coalitions::max_players, "measure: cells=", cells_.size(), " (needs 1..",
          Coalitions::max_players, "). Give one cell a player.");
  for (std::size_t cell = 0; cell < cells_.size(); ++cell)
    require(std::isfinite(cells_[cell]), "measure: cell=", cells_[cell], " (cell ", cell,
            " is not finite). Give a number.");
}

Measure Measure::of_distribution(int cells, const std::function<double(double)>& distribution) {
  std::vector<double> increments;
  double below = distribution(0);
  for (int cell = 1; cell <= cells; ++cell) {
    const double here = distribution(static_cast<double>(cell) / cells);
    increments.push_back(here - below);
    below = here;
  }
  return Measure(std::move(increments));
}

double Measure::total() const { return std::accumulate(cells_.begin(), cells_.end(), 0.0); }

double Measure::inner_product(const Measure& other) const {
  require(other.players() == players(), "measure: cells=", players(), " and ", other.players(),
          " (two measures of one partition have equally many). Give one cell a player.");
  return std::inner_product(cells_.begin(), cells_.end(), other.cells_.begin(), 0.0);
}

std::vector<double> Measure::of(const Coalitions& coalitions) const {
  std::vector<double> measures(coalitions.size(), 0.0);
  for (std::size_t index = 0; index < measures.size(); ++index) {
    const auto row = coalitions.row(index);
    double sum = 0;
    for (std::size_t word = 0; word < row.size(); ++word) {
      for (std::uint64_t rest = row[word]; rest != 0; rest &= rest - 1)
        sum += cells_[word * 64 + static_cast<std::size_t>(std::countr_zero(rest))];
    }
    measures[index] = sum;
  }
  return measures;
}

namespace {

/// 1/16 .. 2 in steps of 1/16, over n.
double random_cell(int players, Rng& rng) { return static_cast<double>(1 + rng.below(32)) / (16 * players); }

}  // namespace

Measure random_measure(int players, Rng& rng) {
  std::vector<double> cells(static_cast<std::size_t>(players));
  for (double& cell : cells) cell = random_cell(players, rng);
  return Measure(std::move(cells));
}

Measure random_signed_measure(int players, Rng& rng) {
  std::vector<double> cells(static_cast<std::size_t>(players));
  for (double& cell : cells) cell = rng.below(4) == 0 ? -random_cell(players, rng) : random_cell(players, rng);
  return Measure(std::move(cells));
}

std::vector<int> random_integer_cells(int players, int largest, Rng& rng) {
  std::vector<int> cells(static_cast<std::size_t>(players));
  for (int& cell : cells) cell = 1 + static_cast<int>(rng.below(static_cast<std::uint64_t>(largest)));
  return cells;
}

}  // namespace opshap::games
