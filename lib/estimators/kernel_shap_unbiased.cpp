#include "estimators/registry.hpp"
#include "estimators/sample_reuse.hpp"

namespace opshap::estimators {

namespace {

/// Kernel regression with the normal matrix replaced by its mean, a multiple of the identity: φ_i = Δ/n + 2H_{n−1}·mean
/// u(S)(1[i∈S] − s/n) over draws of the Shapley kernel.
///
/// Source: Covert & Lee (2021), "Improving KernelSHAP", section 3; it is SHAP-IQ (Fumagalli et al. 2023) for Shapley
/// values. The mean squared error is (4H²_{n−1}/m)·E[u(S)²·s(n−s)/n] less |φ − Δ/n|²/m with m draws, so it grows with
/// the size of the values and not only with the interactions. Cost: budget − 2 draws, O(m·n). Standard errors from the
/// draws.
class KernelShapUnbiased final : public Estimator {
 public:
  KernelShapUnbiased(Pairing pairing, Centring centring) : pairing_(pairing), centring_(centring) {}

  std::string_view name() const override {
    return paired()    ? "kernel_shap_unbiased_paired"
           : centred() ? "kernel_shap_unbiased_centred"
                       : "kernel_shap_unbiased";
  }
  std::string_view summary() const override {
    return paired()    ? "kernel_shap_unbiased on coalitions drawn together with their complements (Covert, Lee 2021)"
           : centred() ? "kernel_shap_unbiased of what the values are above sΔ/n, the equal shares of s players"
                       : "mean over draws of the Shapley kernel instead of a regression (Covert, Lee 2021)";
  }
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
    return mean_over_draws(game, SizeMass::shapley_kernel, pairing_, centring_, rng);
  }

 private:
  bool paired() const { return pairing_ == Pairing::complements; }
  bool centred() const { return centring_ == Centring::equal_shares; }

  Pairing pairing_;
  Centring centring_;
};

}  // namespace

std::unique_ptr<Estimator> kernel_shap_unbiased() {
  return std::make_unique<KernelShapUnbiased>(Pairing::none, Centring::empty_value);
}

std::unique_ptr<Estimator> kernel_shap_unbiased_centred() {
  return std::make_unique<KernelShapUnbiased>(Pairing::none, Centring::equal_shares);
}

std::unique_ptr<Estimator> kernel_shap_unbiased_paired() {
  return std::make_unique<KernelShapUnbiased>(Pairing::complements, Centring::empty_value);
}

}  // namespace opshap::estimators
