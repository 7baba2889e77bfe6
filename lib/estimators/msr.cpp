#include "estimators/msr.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string_view>

#include "core/estimator.hpp"
#include "estimators/exact.hpp"
#include "estimators/members.hpp"

namespace opshap::estimators {

std::vector<double> reuse_sample(const CoalitionSample& sample, std::span<const double> targets) {
  const int players = sample.coalitions.players();
  std::vector<double> values(static_cast<std::size_t>(players), 0.0);
  double shares = 0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const double pull = players * sample.weights[row] * targets[row];
    for_each_member(sample.coalitions.row(row), [&](std::size_t player) { values[player] += pull; });
    shares += pull * sample.coalitions.cardinality(row) / players;
  }
  for (double& value : values) value -= shares;
  return values;
}

std::optional<std::vector<double>> reuse_errors(const CoalitionSample& sample, std::span<const double> targets) {
  const auto draws = static_cast<double>(sample.draws.size());
  if (draws < 2) return std::nullopt;
  const int players = sample.coalitions.players();
  // Draw j alone gives x_i = c_j (1[i∈S_j] − s_j/n), of which the estimate is the mean: Var = (Σ_j x_i² − (Σ_j
  // x_i)²/m)/(m(m − 1)).
  std::vector<double> squares(static_cast<std::size_t>(players), 0.0);
  double shares = 0;
  for (const CoalitionSample::Draw& draw : sample.draws) {
    const double share = static_cast<double>(sample.coalitions.cardinality(draw.row)) / players;
    const double square = std::pow(players * draw.weight * targets[draw.row], 2);
    for_each_member(sample.coalitions.row(draw.row),
                    [&](std::size_t player) { squares[player] += square * (1 - 2 * share); });
    shares += square * share * share;
  }
  const std::vector<double> means = reuse_sample(sample, targets);
  for (std::size_t player = 0; player < squares.size(); ++player) {
    const double spread = squares[player] + shares - means[player] * means[player] / draws;
    squares[player] = std::sqrt(std::max(0.0, spread) * draws / (draws - 1));
  }
  return squares;
}

namespace {

/// What is subtracted from the values before they are averaged.
enum class Centring {
  empty_value,   ///< v(∅)
  equal_shares,  ///< v(∅) + sΔ/n, which every player has an equal part in: the mean stays, the variance falls
};

/// The attribution from budget − 2 independent draws of a size law (pairs count twice) and v(∅) and v(N). Exact where
/// all coalitions may be evaluated. Standard errors from the draws.
class MeanOverDraws final : public Estimator {
 public:
  MeanOverDraws(std::string_view name, std::string_view summary, SizeMass mass, Pairing pairing = Pairing::none,
                Centring centring = Centring::empty_value)
      : name_(name), summary_(summary), mass_(mass), pairing_(pairing), centring_(centring) {}

  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return summary_; }
  Guarantees guarantees() const override {
    return {.bias = Bias::none,
            .zero_on_even = paired(),
            .same_on_dual = paired(),
            .linear = true,
            .exact_at_full_budget = true};
  }
  /// One draw.
  Budget minimum(int) const override { return {paired() ? 4 : 3}; }

  Attribution estimate(CountedGame& game, Rng& rng) const override {
    if (can_enumerate(game)) return enumerate_all(game);
    Attribution attribution{.empty = game.empty(), .grand = game.grand()};
    const CoalitionSample sample =
        sample_coalitions(Sampler::iid, SizeLaw(mass_, game.players()), game.budget().coalitions - 2, pairing_, rng);
    std::vector<double> targets = sample_targets(game, sample, attribution.empty);
    const double share = (attribution.grand - attribution.empty) / game.players();
    if (centring_ == Centring::equal_shares) subtract_equal_shares(targets, sample, share);
    attribution.values = reuse_sample(sample, targets);
    attribution.standard_errors = reuse_errors(sample, targets);
    for (double& value : attribution.values) value += share;
    return attribution;
  }

 private:
  bool paired() const { return pairing_ == Pairing::complements; }

  std::string_view name_, summary_;
  SizeMass mass_;
  Pairing pairing_;
  Centring centring_;
};

}  // namespace

/// Kernel regression with the normal matrix replaced by its mean, a multiple of the identity: φ_i = Δ/n + 2H_{n−1}·mean
/// u(S)(1[i∈S] − s/n) over draws of the Shapley kernel.
///
/// Source: Covert & Lee (2021), "Improving KernelSHAP", section 3; it is SHAP-IQ (Fumagalli et al. 2023) for Shapley
/// values. The mean squared error is (4H²_{n−1}/m)·E[u(S)²·s(n−s)/n] less |φ − Δ/n|²/m with m draws, so it grows with
/// the size of the values and not only with the interactions. Cost: budget − 2 draws, O(m·n). Standard errors from the
/// draws.
std::unique_ptr<Estimator> kernel_shap_unbiased() {
  return std::make_unique<MeanOverDraws>(
      "kernel_shap_unbiased", "mean over draws of the Shapley kernel instead of a regression (Covert, Lee 2021)",
      SizeMass::shapley_kernel);
}

std::unique_ptr<Estimator> kernel_shap_unbiased_centred() {
  return std::make_unique<MeanOverDraws>(
      "kernel_shap_unbiased_centred",
      "kernel_shap_unbiased of what the values are above sΔ/n, the equal shares of s players", SizeMass::shapley_kernel,
      Pairing::none, Centring::equal_shares);
}

std::unique_ptr<Estimator> kernel_shap_unbiased_paired() {
  return std::make_unique<MeanOverDraws>(
      "kernel_shap_unbiased_paired",
      "kernel_shap_unbiased on coalitions drawn together with their complements (Covert, Lee 2021)",
      SizeMass::shapley_kernel, Pairing::complements);
}

/// Maximum sample reuse without a proxy: every value enters every player's estimate, φ_i = Σ_S ω_S u(S)(p_{s−1}1[i∈S] −
/// p_s 1[i∉S]), with sizes drawn ∝ 1/√(s(n−s)).
///
/// That law has the least total variance when values vary alike at all sizes: n(Σ_s 1/√(s(n−s)))² σ²/m, about π²nσ²/m,
/// against 2H_{n−1}(n−1)σ²/m for the Shapley kernel. Source: Witter, Liu, Musco (2025), "Regression-adjusted Monte
/// Carlo estimators", with f = 0; the name is from Wang & Jia (2023). Cost: budget − 2 draws, O(m·n). Standard errors
/// from the draws.
std::unique_ptr<Estimator> msr() {
  return std::make_unique<MeanOverDraws>(
      "msr", "maximum sample reuse, sizes drawn as 1/sqrt(s(n-s)) for least variance (Witter, Liu, Musco 2025)",
      SizeMass::square_root);
}

}  // namespace opshap::estimators
