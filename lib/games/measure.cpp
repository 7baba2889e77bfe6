#include "games/measure.hpp"

#include <cmath>
#include <numeric>

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
  std::vector<double> measures;
  measures.reserve(coalitions.size());
  for (std::size_t row = 0; row < coalitions.size(); ++row)
    measures.push_back(coalition_sum(cells_, coalitions.row(row)));
  return measures;
}

namespace {

/// 1/16 .. 2 in steps of 1/16, over n.
double random_cell(int players, Rng& rng) { return static_cast<double>(1 + rng.below(32)) / (16 * players); }

}  // namespace

double Measure::of(std::span<const double> point) const {
  return std::inner_product(point.begin(), point.end(), cells_.begin(), 0.0);
}

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

namespace {

class FunctionOfMeasure final : public SolvedGame {
 public:
  FunctionOfMeasure(Measure measure, ScalarFunction f, std::function<std::vector<double>()> shapley_values)
      : measure_(std::move(measure)),
        total_(measure_.total()),
        f_(std::move(f)),
        shapley_values_(std::move(shapley_values)),
        extension_(measure_.players(), [this](std::span<const double> point, std::span<double> slopes) {
          const double slope = f_.slope(measure_.of(point));
          for (std::size_t player = 0; player < slopes.size(); ++player) slopes[player] = measure_[player] * slope;
        }) {}

  int players() const override { return measure_.players(); }
  const Extension* extension() const override { return &extension_; }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values = measure_.of(coalitions);
    for (double& value : values) value = f_.value(value);
    return values;
  }

  std::vector<double> shapley_values() const override { return shapley_values_(); }

  std::optional<std::vector<double>> aumann_shapley_values() const override {
    if (!f_.absolutely_continuous) return std::nullopt;
    std::vector<double> shares = measure_.cells();
    const double mean_slope = total_ != 0 ? chord() : f_.slope(0);
    for (double& share : shares) share *= mean_slope;
    return shares;
  }

  std::optional<std::vector<double>> discretisation_error() const override {
    if (!f_.absolutely_continuous || !f_.smooth_at_ends || total_ == 0) return std::nullopt;
    const double constant = (f_.slope(0) + f_.slope(total_)) / 2 - chord(), squares = measure_.squares();
    std::vector<double> errors = measure_.cells();
    for (double& cell : errors) cell *= (squares / total_ - cell) * constant / total_;
    return errors;
  }

 private:
  double chord() const { return (f_.value(total_) - f_.value(0)) / total_; }

  Measure measure_;
  double total_;
  ScalarFunction f_;
  std::function<std::vector<double>()> shapley_values_;
  SmoothExtension extension_;
};

}  // namespace

std::unique_ptr<SolvedGame> function_of_measure(Measure measure, ScalarFunction f,
                                                std::function<std::vector<double>()> shapley_values) {
  return std::make_unique<FunctionOfMeasure>(std::move(measure), std::move(f), std::move(shapley_values));
}

}  // namespace opshap::games
