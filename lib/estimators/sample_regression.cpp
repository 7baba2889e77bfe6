#include "estimators/sample_regression.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "estimators/spread.hpp"

namespace opshap::estimators {

namespace {

/// The factors 1/√(1 − h_S) that make residuals as large as the errors they stand for in the mean (HC2, MacKinnon &
/// White 1985), h the leverages.
///
/// Exact leverages would take an n x n solve for each row. With G nearly a multiple of the identity but for the row
/// itself, h_S = q_S/(1 + q_S) with q_S = c·w_S|r_S|², and c follows from Σ h_S = n − 1.
std::vector<double> residual_factors(const CoalitionSample& sample) {
  const int players = sample.coalitions.players();
  std::vector<double> lengths(sample.weights);  // w_S |r_S|²
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const double size = sample.coalitions.cardinality(row);
    lengths[row] *= size * (players - size) / players;
  }
  const auto trace = [&](double c) {
    double sum = 0;
    for (const double length : lengths) sum += c * length / (1 + c * length);
    return sum;
  };
  double low = 0, high = 1;
  while (trace(high) < players - 1)
    high *= 2;  // ends, as the trace tends to the number of rows, of which there are more
  while (high - low > 1e-3 * high) {
    const double middle = (low + high) / 2;
    (trace(middle) < players - 1 ? low : high) = middle;
  }
  for (double& length : lengths) length = std::sqrt(1 + high * length);
  return lengths;
}

/// Rows that came by drawing. The others were enumerated and lie before them.
std::size_t drawn_rows(const CoalitionSample& sample) {
  if (sample.draws.empty()) return 0;
  return sample.coalitions.size() - std::ranges::min(sample.draws, {}, &CoalitionSample::Draw::row).row;
}

/// Standard errors by random groups: the draws are dealt to groups, and what each group's draws alone move the solution
/// by is compared.
///
/// To first order the error of the solution is G⁻¹ Σ_draws ω e_S r_S with the residuals e, a sum of independent terms
/// (the delta method for M-estimators); the spread of its parts between groups gives its variance without an n x n
/// covariance. None with fewer than three rows per unknown: the first order is not enough then. Nor with few rows that
/// were drawn. Rows are counted and not draws, since how often a row comes again depends on the seed.
std::optional<std::vector<double>> random_group_errors(const CoalitionSample& sample,
                                                       const KernelRegression& regression,
                                                       std::span<const double> residuals) {
  constexpr std::size_t groups = 32;
  const auto n = static_cast<std::size_t>(sample.coalitions.players());
  if (drawn_rows(sample) < 4 * groups || residuals.size() < 3 * (n - 1)) return std::nullopt;
  const std::vector<double> factors = residual_factors(sample);
  std::vector<Spread> spreads(n);
  for (std::size_t group = 0; group < groups; ++group) {
    std::vector<std::size_t> rows;
    std::vector<double> pulls;
    for (std::size_t draw = group; draw < sample.draws.size(); draw += groups) {
      const auto [row, weight] = sample.draws[draw];
      rows.push_back(row);
      pulls.push_back(weight * factors[row] * residuals[row]);
    }
    const std::vector<double> moved = regression.response(rows, pulls);
    for (std::size_t player = 0; player < n; ++player) spreads[player].add(moved[player]);
  }
  std::vector<double> errors;
  for (const Spread& spread : spreads)
    errors.push_back(std::sqrt(spread.squares * static_cast<double>(groups) / static_cast<double>(groups - 1)));
  return errors;
}

}  // namespace

Attribution fit_sample(CountedGame& game, const CoalitionSample& sample, std::string_view who, Deficiency deficiency) {
  Attribution attribution{.empty = game.empty(), .grand = game.grand()};
  const KernelRegression regression(sample.coalitions, sample.weights, who, deficiency);
  std::vector<double> targets = sample_targets(game, sample, attribution.empty);
  const double share = (attribution.grand - attribution.empty) / game.players();
  subtract_equal_shares(targets, sample, share);
  attribution.values = regression.fit(targets);
  attribution.minimum_norm = regression.deficient_rank();
  if (!attribution.minimum_norm) {
    attribution.standard_errors =
        random_group_errors(sample, regression, regression.residuals(targets, attribution.values));
  }
  for (double& value : attribution.values) value += share;
  return attribution;
}

}  // namespace opshap::estimators
