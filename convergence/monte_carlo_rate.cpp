// The rate at which sampling estimators' errors fall: every registered one against what its guarantees say.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "estimators/registry.hpp"
#include "games/unanimity_sum.hpp"

namespace opshap {
namespace {

constexpr int players = 40;
constexpr int replicates = 48;

/// Interactions of three to five players: no method is exact, and no size but the smallest two is ever enumerated.
std::unique_ptr<SolvedGame> interacting_game(std::uint64_t item) {
  Rng rng(12, "interacting", 0, item);
  std::vector<UnanimityTerm> terms(200);
  for (UnanimityTerm& term : terms) {
    std::vector<int> all(players);
    for (int player = 0; player < players; ++player) all[static_cast<std::size_t>(player)] = player;
    rng.shuffle(all);
    term.coalition.assign(all.begin(), all.begin() + 3 + static_cast<std::ptrdiff_t>(rng.below(3)));
    term.coefficient = rng.normal();
  }
  return unanimity_sum(players, std::move(terms));
}

double mean_squared_error(const Estimator& estimator, Budget budget) {
  double sum = 0;
  for (std::uint64_t replicate = 0; replicate < replicates; ++replicate) {
    const auto game = interacting_game(replicate % 4);
    const std::vector<double> exact = game->shapley_values();
    const Attribution found = attribute(estimator, *game, budget, replicate);
    for (std::size_t player = 0; player < exact.size(); ++player)
      sum += std::pow(found.values[player] - exact[player], 2);
  }
  return sum / replicates;
}

struct Line {
  double slope = 0, slope_error = 0;
};

/// Least squares on logarithms over all points.
Line fit(const std::vector<double>& efforts, const std::vector<double>& errors) {
  const auto count = static_cast<double>(efforts.size());
  double x_mean = 0, y_mean = 0;
  for (std::size_t k = 0; k < efforts.size(); ++k) {
    x_mean += std::log(efforts[k]) / count;
    y_mean += std::log(errors[k]) / count;
  }
  double xx = 0, xy = 0, left = 0;
  for (std::size_t k = 0; k < efforts.size(); ++k) {
    xx += std::pow(std::log(efforts[k]) - x_mean, 2);
    xy += (std::log(efforts[k]) - x_mean) * (std::log(errors[k]) - y_mean);
  }
  const double slope = xy / xx;
  for (std::size_t k = 0; k < efforts.size(); ++k)
    left += std::pow(std::log(errors[k]) - y_mean - slope * (std::log(efforts[k]) - x_mean), 2);
  return {slope, std::sqrt(left / (count - 2) / xx)};
}

TEST(MonteCarloRate, MeanSquaredErrorFallsAtThePromisedRate) {
  for (const auto& estimator : estimators::all()) {
    const double rate = estimator->guarantees().mse_rate;
    if (rate == exact_rate || rate == 0) continue;
    std::vector<double> budgets, errors;
    std::string table = std::string(estimator->name()) + "\n budget  mean squared error\n";
    // Regression's law holds to first order: below forty coalitions per player its second order still adds to the slope.
    for (std::int64_t budget = 40 * players; budget <= 640 * players; budget *= 2) {
      budgets.push_back(static_cast<double>(budget));
      errors.push_back(mean_squared_error(*estimator, {budget}));
      table += message(" ", budget, "  ", errors.back(), "\n");
    }
    const Line line = fit(budgets, errors);
    table += message(" slope ", line.slope, " +- ", line.slope_error, "\n");
    std::printf("%s", table.c_str());
    EXPECT_LT(line.slope_error, 0.05) << "not a straight line\n" << table;
    EXPECT_NEAR(-rate, line.slope, 0.1) << table;
  }
}

}  // namespace
}  // namespace opshap
