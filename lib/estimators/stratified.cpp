#include "estimators/stratified.hpp"

#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>

#include "core/coalitions.hpp"
#include "core/estimator.hpp"
#include "estimators/coalition_sampler.hpp"
#include "estimators/exact.hpp"
#include "estimators/spread.hpp"

namespace opshap::estimators {

UniformChoices random_choices(Rng& rng, int players) {
  return {.below = [&rng](std::uint64_t bound) { return rng.below(bound); },
          .ordering =
              [&rng](std::span<int> ordering) {
                std::iota(ordering.begin(), ordering.end(), 0);
                rng.shuffle(ordering);
              },
          .members = [&rng, subsets = KernelLaw(players)](
                         int size, std::span<std::uint64_t> row) { subsets.draw_subset(rng, size, row); }};
}

namespace {

/// Appends a uniform coalition S of `size` without the player, and S ∪ player.
void append_marginal(Coalitions& coalitions, const UniformChoices& others, int size, int player) {
  const std::size_t row = coalitions.size();
  coalitions.append_empty();
  // Drawn from the first n−1 players, the last one standing in for the player.
  others.members(size, coalitions.row(row));
  if (coalitions.contains(row, player)) {
    coalitions.remove(row, player);
    coalitions.insert(row, coalitions.players() - 1);
  }
  coalitions.append(coalitions.row(row));
  coalitions.insert(row + 1, player);
}

}  // namespace

Attribution stratified_means(CountedGame& game, std::int64_t draws, const UniformChoices& others) {
  const int players = game.players();
  const auto n = static_cast<std::size_t>(players);
  Attribution attribution{.empty = game.empty(), .grand = game.grand()};
  std::vector<double> sums(n), variances(n, 0.0);
  const std::vector<double> ends = game.values(border_coalitions(players));
  for (std::size_t i = 0; i < n; ++i) sums[i] = ends[i] - attribution.empty + attribution.grand - ends[n + i];

  const std::int64_t strata = std::int64_t{players} * (players - 2);
  std::int64_t stratum = 0;
  for (int size = 1; size < players - 1; ++size) {
    Coalitions coalitions(players);
    std::vector<std::int64_t> counts;
    for (int player = 0; player < players; ++player, ++stratum) {
      // What does not divide evenly is spread over the strata.
      counts.push_back(draws * (stratum + 1) / strata - draws * stratum / strata);
      for (std::int64_t draw = 0; draw < counts.back(); ++draw) append_marginal(coalitions, others, size, player);
    }
    const std::vector<double> values = game.values(coalitions);
    std::size_t row = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t end = row + 2 * static_cast<std::size_t>(counts[i]);
      Spread gains;
      for (; row < end; row += 2) gains.add(values[row + 1] - values[row]);
      sums[i] += gains.mean;
      variances[i] += gains.variance_of_mean();
    }
  }
  for (double& sum : sums) sum /= players;
  attribution.values = std::move(sums);
  if (draws >= 2 * strata) {
    for (double& variance : variances) variance = std::sqrt(variance) / players;
    attribution.standard_errors = std::move(variances);
  }
  return attribution;
}

namespace {

/// stratified_means() with as many draws as fit when no two coalitions are equal; a coalition that two strata share is
/// evaluated once.
///
/// Source: Maleki, Tran-Thanh, Hines, Rahwan, Rogers (2013), with equal numbers of draws. Cost: 2 evaluations a draw.
class Stratified final : public Estimator {
 public:
  std::string_view name() const override { return "stratified"; }
  std::string_view summary() const override {
    return "mean marginal contributions of every player at every size (Maleki et al. 2013)";
  }
  Guarantees guarantees() const override {
    return {.bias = Bias::none,
            .efficiency = Efficiency::none,
            .exact_on_additive = true,
            .zero_for_null_player = true,
            .linear = true,
            .exact_at_full_budget = true};
  }
  /// One draw a stratum.
  Budget minimum(int players) const override { return {2 + 2 * std::int64_t{players} * (players - 1)}; }

  Attribution estimate(CountedGame& game, Rng& rng) const override {
    if (can_enumerate(game)) return enumerate_all(game);
    const std::int64_t draws = (game.budget().coalitions - 2 - 2 * std::int64_t{game.players()}) / 2;
    return stratified_means(game, draws, random_choices(rng, game.players() - 1));
  }
};

}  // namespace

std::unique_ptr<Estimator> stratified() { return std::make_unique<Stratified>(); }

}  // namespace opshap::estimators
