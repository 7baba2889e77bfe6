#include <cmath>
#include <cstddef>
#include <vector>

#include "core/error.hpp"
#include "estimators/enumeration.hpp"
#include "estimators/kernel_regression.hpp"
#include "estimators/kernel_sample.hpp"
#include "estimators/registry.hpp"

namespace opshap::estimators {

namespace {

/// The factors 1/√(1 − h_S) that make residuals as large as the errors they stand for in the mean (HC2, MacKinnon & White 1985), h the leverages.
///
/// Exact leverages would take an n x n solve for each row. With G nearly a multiple of the identity but for the row itself, h_S = q_S/(1 + q_S) with
/// q_S = c·w_S|r_S|², and c follows from Σ h_S = n − 1.
std::vector<double> residual_factors(const KernelSample& sample) {
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

/// Standard errors by random groups: the draws are dealt to groups, and what each group's draws alone move the solution by is compared.
///
/// To first order the error of the solution is G⁻¹ Σ_draws ω e_S r_S with the residuals e, a sum of independent terms (the delta method for M-estimators);
/// the spread of its parts between groups gives its variance without an n x n covariance. None with fewer than three rows per unknown: the
/// first order is not enough then.
std::optional<std::vector<double>> random_group_errors(const KernelSample& sample, const KernelRegression& regression,
                                                       std::span<const double> residuals) {
  constexpr std::size_t groups = 32;
  const auto n = static_cast<std::size_t>(sample.coalitions.players());
  if (sample.draws.size() < 4 * groups || residuals.size() < 3 * (n - 1)) return std::nullopt;
  const std::vector<double> factors = residual_factors(sample);
  std::vector<double> mean(n, 0.0), squares(n, 0.0);
  for (std::size_t group = 0; group < groups; ++group) {
    std::vector<std::size_t> rows;
    std::vector<double> pulls;
    for (std::size_t draw = group; draw < sample.draws.size(); draw += groups) {
      const std::size_t row = sample.draws[draw];
      rows.push_back(row);
      pulls.push_back(sample.draw_weight * factors[row] * residuals[row]);
    }
    const std::vector<double> moved = regression.response(rows, pulls);
    for (std::size_t player = 0; player < n; ++player) {
      const double before = moved[player] - mean[player];
      mean[player] += before / static_cast<double>(group + 1);
      squares[player] += before * (moved[player] - mean[player]);
    }
  }
  for (double& error : squares)
    error = std::sqrt(error * static_cast<double>(groups) / static_cast<double>(groups - 1));
  return squares;
}

class KernelShap final : public Estimator {
 public:
  explicit KernelShap(Pairing pairing) : pairing_(pairing) {}

  std::string_view name() const override { return paired() ? "kernel_shap_paired" : "kernel_shap"; }
  std::string_view summary() const override {
    return paired() ? "kernel_shap on coalitions drawn together with their complements (Covert, Lee 2021)"
                    : "constrained least squares on coalitions drawn from the Shapley kernel (Lundberg, Lee 2017)";
  }
  Guarantees guarantees() const override {
    return {.bias = Bias::vanishing,
            .exact_on_additive = true,
            .exact_on_two_additive = paired(),
            .zero_on_even = paired(),
            .same_on_dual = paired(),
            .linear = true,
            .exact_at_full_budget = true};
  }
  /// One row for each of the n−1 differences between players; whether the rows are independent shows only when they are drawn.
  Budget minimum(int players) const override { return {2 + (paired() ? 2 : 1) * (std::int64_t{players} - 1)}; }

  Attribution estimate(CountedGame& game, Rng& rng) const override {
    if (can_enumerate(game)) return enumerate_all(game);
    Attribution attribution;
    attribution.empty = game.empty();
    attribution.grand = game.grand();
    const KernelSample sample = sample_kernel(game.players(), game.budget().coalitions - 2, pairing_, rng);
    const KernelRegression regression(sample.coalitions, sample.weights, name());
    const std::vector<double> targets =
        paired() ? odd_parts(game, sample.coalitions) : gains(game, sample.coalitions, attribution.empty);

    // What an additive game of equal players would have is known beforehand; the rest sums to 0 over the players.
    const double share = (attribution.grand - attribution.empty) / game.players();
    std::vector<double> centred = targets;
    for (std::size_t row = 0; row < centred.size(); ++row) {
      const int size = sample.coalitions.cardinality(row);
      centred[row] -= paired() ? share * (size - game.players() / 2.0) : share * size;
    }
    attribution.values = regression.fit(centred);
    attribution.standard_errors =
        random_group_errors(sample, regression, regression.residuals(centred, attribution.values));
    for (double& value : attribution.values) value += share;
    return attribution;
  }

 private:
  bool paired() const { return pairing_ == Pairing::complements; }

  static std::vector<double> gains(CountedGame& game, const Coalitions& coalitions, double empty) {
    std::vector<double> values = game.values(coalitions);
    for (double& value : values) value -= empty;
    return values;
  }

  /// (v(S) − v(N∖S))/2. The rows of S and N∖S differ in sign alone, so their two equations are one for the half difference.
  static std::vector<double> odd_parts(CountedGame& game, const Coalitions& coalitions) {
    Coalitions both(coalitions.players());
    both.reserve(2 * coalitions.size());
    for (std::size_t row = 0; row < coalitions.size(); ++row) {
      both.append(coalitions.row(row));
      both.append_complement(coalitions.row(row));
    }
    const std::vector<double> values = game.values(both);
    std::vector<double> odd(coalitions.size());
    for (std::size_t row = 0; row < odd.size(); ++row) odd[row] = (values[2 * row] - values[2 * row + 1]) / 2;
    return odd;
  }

  Pairing pairing_;
};

}  // namespace

std::unique_ptr<Estimator> kernel_shap() { return std::make_unique<KernelShap>(Pairing::none); }

std::unique_ptr<Estimator> kernel_shap_paired() { return std::make_unique<KernelShap>(Pairing::complements); }

}  // namespace opshap::estimators
