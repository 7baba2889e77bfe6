// The rate at which sampling estimators' errors fall, every registered one against what its guarantees say; and the
// constant of draws of the Shapley kernel.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "estimators/registry.hpp"
#include "estimators/sample_regression.hpp"
#include "estimators/spread.hpp"
#include "games/unanimity.hpp"
#include "reporting/evidence.hpp"
#include "statistics/study.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

constexpr int players = 40;
constexpr int replicates = 48;
/// Of methods that learn the slope is only bounded, which fewer replicates show; a fit takes them a hundred times as
/// long.
constexpr int replicates_of_learners = 2;

/// Interactions of three to five players: no method is exact, and with forty players no size but the smallest two is
/// ever enumerated.
std::vector<games::UnanimityTerm> interactions(int players, std::uint64_t item) {
  Rng rng(12, "interacting", 0, item);
  std::vector<games::UnanimityTerm> terms(200);
  for (games::UnanimityTerm& term : terms) {
    std::vector<int> all(static_cast<std::size_t>(players));
    for (int player = 0; player < players; ++player) all[static_cast<std::size_t>(player)] = player;
    rng.shuffle(all);
    term.coalition.assign(all.begin(), all.begin() + 3 + static_cast<std::ptrdiff_t>(rng.below(3)));
    term.coefficient = rng.normal();
  }
  return terms;
}

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

struct MeanSquaredError {
  double mean = 0;
  double relative_error = 0;  ///< of the mean, by the spread of the replicates of each game
};

MeanSquaredError mean_squared_error(const Estimator& estimator, Budget budget, int replicates) {
  const auto different = std::min<std::uint64_t>(4, static_cast<std::uint64_t>(replicates));
  std::vector<estimators::Spread> of_game(different);
  for (std::uint64_t replicate = 0; replicate < static_cast<std::uint64_t>(replicates); ++replicate) {
    const auto game = games::unanimity_sum(players, interactions(players, replicate % different));
    const std::vector<double> exact = game->shapley_values();
    const Attribution found = attribute(estimator, *game, budget, replicate);
    of_game[replicate % different].add(squared_distance(found.values, exact));
  }
  double sum = 0, variance = 0;
  for (const estimators::Spread& spread : of_game) {
    sum += spread.mean;
    variance += spread.variance_of_mean();
  }
  return {.mean = sum / static_cast<double>(different), .relative_error = std::sqrt(variance) / sum};
}

TEST(MonteCarloRate, MeanSquaredErrorFallsAtThePromisedRate) {
  reporting::Evidence evidence{
      .name = "monte_carlo_rate",
      .title = "Mean squared errors of sampling estimators against their budgets",
      .finding =
          "Forty players, interactions of three to five of them. Every slope is the promised one within 0.1, or "
          "steeper for methods that learn a proxy from the sample.",
      .studies = {}};
  for (const auto& estimator : estimators::all()) {
    const double rate = estimator->guarantees().mse_rate;
    const bool learns = estimator->guarantees().learns;
    if (rate == exact_rate || rate == 0) continue;
    statistics::Study study(std::string(estimator->name()), "budget", "mean squared error");
    // Below eighty coalitions per player the slope still shows the second order of regression's law, and the warm-up of
    // strata.
    const std::int64_t first =
        std::max<std::int64_t>((learns ? 40 : 80) * players, estimator->minimum(players).coalitions);
    double noise = 0;
    for (std::int64_t budget = first; budget <= (learns ? 4 : 8) * first; budget *= 2) {
      const auto [error, relative_error] =
          mean_squared_error(*estimator, {budget}, learns ? replicates_of_learners : replicates);
      study.add(static_cast<double>(budget), error);
      noise = std::max(noise, relative_error);
    }
    const statistics::Fit fit = study.fit();
    evidence.studies.push_back(study);
    EXPECT_LT(fit.slope, -rate + 0.1) << study.markdown();
    if (learns) continue;  // a proxy that gets better with the budget makes the error fall faster
    // Of four points, each twice the one before it: the squares of (−1.5, −0.5, 0.5, 1.5)·log 2 add up to 5 log² 2.
    // Noise alone gives residuals with two degrees of freedom, whose root mean square is above three times its own size
    // once in exp(9) = 8000 fits.
    EXPECT_LT(fit.slope_error, 3 * noise / (std::sqrt(5) * std::log(2))) << "not a straight line\n" << study.markdown();
    EXPECT_GT(fit.slope, -rate - 0.1) << study.markdown();
  }
  reporting::publish(evidence);
}

/// m times the mean squared error of m independent draws of the Shapley kernel, where r(S) = v(S) − v(∅) − Σ_{i∈S} a_i
/// is what they average: 4H²_{n−1}·E[r(S)²·s(n−s)/n] − |ψ(r) − r(N)/n|².
double variance_constant(const SolvedGame& game, const std::vector<double>& additive) {
  const int n = game.players();
  const Coalitions all = Coalitions::enumerate(n, 0, std::uint64_t{1} << n);
  const std::vector<double> values = game.values(all);
  std::vector<double> squares(static_cast<std::size_t>(n) + 1, 0.0), count = squares;
  double residual = 0;
  for (std::size_t row = 0; row < all.size(); ++row) {
    residual = values[row] - values[0];
    for (int player = 0; player < n; ++player)
      residual -= all.contains(row, player) ? additive[static_cast<std::size_t>(player)] : 0;
    const auto size = static_cast<std::size_t>(all.cardinality(row));
    squares[size] += residual * residual;
    ++count[size];
  }
  const KernelLaw law(n);
  double harmonic = 0, moment = 0;
  for (int s = 1; s < n; ++s) {
    const auto size = static_cast<std::size_t>(s);
    harmonic += 1.0 / s;
    moment += law.probability(s) * squares[size] / count[size] * s * (n - s) / n;
  }
  std::vector<double> mean = game.shapley_values();
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] -= additive[i] + residual / n;  // r(N): the last row
  return 4 * harmonic * harmonic * moment - squared_distance(mean, std::vector<double>(mean.size(), 0.0));
}

/// A method on independent draws of the Shapley kernel, and the additive game that its errors are free of.
struct KernelMethod {
  std::string name;
  std::vector<double> additive;
  double second_order;  ///< the next term of the error, in n/m
  std::function<Attribution(std::int64_t draws, std::uint64_t replicate)> estimate;
};

// One law for all of them. The plain mean pays for the size of the values, the centred one for all but equal shares,
// regression for interactions only.
TEST(MonteCarloRate, OneLawGivesTheConstantOfEveryMethodOnDrawsOfTheShapleyKernel) {
  constexpr int few = 12, runs = 500;
  std::vector<games::UnanimityTerm> terms = interactions(few, 0);
  for (int player = 0; player < few; ++player)
    terms.push_back({.coalition = {player}, .coefficient = 1.0 + player % 3});
  const auto game = games::unanimity_sum(few, std::move(terms));
  const std::vector<double> exact = game->shapley_values(), nothing(few, 0.0);
  double gain = 0;
  for (const double value : exact) gain += value;
  const auto registered = [&game](const char* name) {
    return [&game, name](std::int64_t draws, std::uint64_t replicate) {
      return attribute(estimators::find(name), *game, {2 + draws}, replicate);
    };
  };
  const auto regression = [&game](std::int64_t draws, std::uint64_t replicate) {
    Rng rng(33, "regression", static_cast<std::uint32_t>(draws), replicate);
    CountedGame counted(*game, {2 + draws});
    return estimators::fit_sample(
        counted,
        estimators::sample_coalitions(estimators::Sampler::iid,
                                      estimators::SizeLaw(estimators::SizeMass::shapley_kernel, few), draws,
                                      estimators::Pairing::none, rng),
        "monte_carlo_rate");
  };
  const KernelMethod methods[] = {
      {"kernel_shap_unbiased", nothing, 0, registered("kernel_shap_unbiased")},
      {"its centred form", std::vector<double>(few, gain / few), 0, registered("kernel_shap_unbiased_centred")},
      {"regression", exact, 4, regression}};
  reporting::Evidence evidence{
      .name = "variance_law",
      .title = "The constant of methods on independent draws of the Shapley kernel",
      .finding =
          "Twelve players who are worth 1 to 3 alone, and interactions of three to five of them. With what a method "
          "leaves of the game, r(S) = v(S) − v(∅) − a(S), m draws have the mean squared error "
          "(4H²_{n−1}·E[r(S)²·s(n−s)/n] − |ψ(r) − r(N)/n|²)/m, here by enumeration: a = 0 for the mean of values, "
          "equal shares for its centred form, the Shapley values for regression (to first order in 1/m).",
      .studies = {},
      .tables = {{.name = "constants",
                  .caption = fmt::format("m times the mean squared error over {} runs, ± its standard error.", runs),
                  .columns = {{"method"}, {"m", true}, {"observed", true}, {"law", true}, {"observed / law", true}},
                  .rows = {}}}};
  for (const KernelMethod& method : methods) {
    const double constant = variance_constant(*game, method.additive);
    statistics::Study study(method.name, "draws", "mean squared error");
    for (std::int64_t draws = 128; draws <= 2048; draws *= 2) {
      double mean = 0, squares = 0;
      for (std::uint64_t replicate = 0; replicate < runs; ++replicate) {
        const double scaled =
            static_cast<double>(draws) * squared_distance(method.estimate(draws, replicate).values, exact);
        mean += scaled / runs;
        squares += scaled * scaled / runs;
      }
      const double error = std::sqrt((squares - mean * mean) / (runs - 1));
      study.add(static_cast<double>(draws), mean / static_cast<double>(draws));
      evidence.tables[0].add({method.name, std::to_string(draws), fmt::format("{:.0f} ± {:.0f}", mean, error),
                              fmt::format("{:.0f}", constant), fmt::format("{:.3f}", mean / constant)});
      const double next_order = method.second_order * few / static_cast<double>(draws) * constant;
      EXPECT_EQ("", mismatch(constant, mean, Tolerance{sampling(error).bound + next_order, "sampling"}))
          << method.name << ", " << draws << " draws";
    }
    evidence.studies.push_back(study);
  }
  reporting::publish(evidence);
}

}  // namespace
}  // namespace opshap
