#include "estimators/registry.hpp"
#include "estimators/sample_reuse.hpp"

namespace opshap::estimators {

namespace {

/// Maximum sample reuse without a proxy: every value enters every player's estimate, φ_i = Σ_S ω_S u(S)(p_{s−1}1[i∈S] −
/// p_s 1[i∉S]), with sizes drawn ∝ 1/√(s(n−s)).
///
/// That law has the least total variance when values vary alike at all sizes: n(Σ_s 1/√(s(n−s)))² σ²/m, about π²nσ²/m,
/// against 2H_{n−1}(n−1)σ²/m for the Shapley kernel. Source: Witter, Liu, Musco (2025), "Regression-adjusted Monte
/// Carlo estimators", with f = 0; the name is from Wang & Jia (2023). Cost: budget − 2 draws, O(m·n). Standard errors
/// from the draws.
class Msr final : public Estimator {
 public:
  std::string_view name() const override { return "msr"; }
  std::string_view summary() const override {
    return "maximum sample reuse, sizes drawn as 1/sqrt(s(n-s)) for least variance (Witter, Liu, Musco 2025)";
  }
  Guarantees guarantees() const override { return {.bias = Bias::none, .linear = true, .exact_at_full_budget = true}; }
  /// One draw.
  Budget minimum(int) const override { return {3}; }

  Attribution estimate(CountedGame& game, Rng& rng) const override {
    return mean_over_draws(game, SizeMass::square_root, Pairing::none, Centring::empty_value, rng);
  }
};

}  // namespace

std::unique_ptr<Estimator> msr() { return std::make_unique<Msr>(); }

}  // namespace opshap::estimators
