#include "estimators/exact.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "core/estimator.hpp"

namespace opshap::estimators {

std::vector<double> shapley_values_of_table(std::vector<double> table) {
  const auto n = static_cast<std::size_t>(std::countr_zero(table.size()));
  const double empty = table.front(), gain = table.back() - empty;
  std::vector<double> weight(n + 1, 0.0), expected(n + 1, 0.0);
  double subsets = 1;  // C(n, s)
  for (std::size_t s = 1; s < n; ++s) {
    subsets *= static_cast<double>(n - s + 1) / static_cast<double>(s);
    weight[s] = static_cast<double>(n) / (subsets * static_cast<double>(s * (n - s)));
    expected[s] = gain * static_cast<double>(s) / static_cast<double>(n);
  }
  // Without the mean Δs/n of an additive game the sums below have little to cancel.
  for (std::size_t mask = 0; mask < table.size(); ++mask) {
    const auto s = static_cast<std::size_t>(std::popcount(mask));
    table[mask] = weight[s] * (table[mask] - empty - expected[s]);
  }
  std::vector<double> values(n);
  double all_sums = 0;
  for (std::size_t player = n; player-- > 0;) {
    const std::size_t half = std::size_t{1} << player;
    // Pairwise: halves are added onto each other until one number is left.
    std::vector<double> upper(table.begin() + static_cast<std::ptrdiff_t>(half),
                              table.begin() + static_cast<std::ptrdiff_t>(2 * half));
    for (std::size_t i = 0; i < half; ++i) table[i] += upper[i];
    for (std::size_t width = half / 2; width > 0; width /= 2) {
      for (std::size_t i = 0; i < width; ++i) upper[i] += upper[i + width];
    }
    values[player] = upper[0];
    all_sums += upper[0];
  }
  // Σ_S g(S)s = Σ_i Σ_{S∋i} g(S), so the term −s/n is the mean of the sums.
  const double mean = all_sums / static_cast<double>(n);
  for (double& value : values) value += gain / static_cast<double>(n) - mean;
  return values;
}

bool can_enumerate(const CountedGame& game) {
  return game.players() <= 24 && game.budget().coalitions >= game.all_coalitions();
}

Attribution enumerate_all(CountedGame& game) {
  std::vector<double> table = game.table();
  Attribution attribution{.empty = table.front(), .grand = table.back(), .exact = true};
  attribution.values = shapley_values_of_table(std::move(table));
  return attribution;
}

namespace {

class Exact final : public Estimator {
 public:
  std::string_view name() const override { return "exact"; }
  std::string_view summary() const override { return "all 2^n coalitions, n <= 24 (Shapley 1953)"; }
  Guarantees guarantees() const override {
    return {.mse_rate = exact_rate,
            .exact_on_additive = true,
            .exact_on_two_additive = true,
            .zero_for_null_player = true,
            .zero_on_even = true,
            .same_on_dual = true,
            .linear = true,
            .exact_at_full_budget = true};
  }
  Budget minimum(int players) const override {
    return {players < 63 ? std::int64_t{1} << players : std::numeric_limits<std::int64_t>::max()};
  }
  Attribution estimate(CountedGame& game, Rng&) const override { return enumerate_all(game); }
};

}  // namespace

std::unique_ptr<Estimator> exact() { return std::make_unique<Exact>(); }

}  // namespace opshap::estimators
