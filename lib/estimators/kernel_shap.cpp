#include "core/estimator.hpp"
#include "estimators/coalition_sampler.hpp"
#include "estimators/exact.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/msr.hpp"
#include "estimators/sample_regression.hpp"

namespace opshap::estimators {

namespace {

class KernelShap final : public LeastSquares {
 public:
  explicit KernelShap(Pairing pairing, Deficiency deficiency = Deficiency::refuse)
      : LeastSquares(deficiency), pairing_(pairing) {}

  std::string_view name() const override { return paired() ? "kernel_shap_paired" : "kernel_shap"; }
  std::string_view summary() const override {
    return paired() ? "kernel_shap on coalitions drawn together with their complements (Covert, Lee 2021)"
                    : "constrained least squares on coalitions drawn from the Shapley kernel (Lundberg, Lee 2017)";
  }
  Guarantees guarantees() const override {
    return {.bias = Bias::vanishing,
            .exact_on_additive = determined(),
            .exact_on_two_additive = determined() && paired(),
            .zero_on_even = paired(),
            .same_on_dual = paired(),
            .linear = true,
            .exact_at_full_budget = true,
            .refusal = refusal()};
  }
  /// One row for each of the n−1 differences between players, whether the rows are independent shows only when they are
  /// drawn; or a row of any rank.
  Budget minimum(int players) const override {
    const std::int64_t rows = determined() ? players - 1 : 1;
    return {2 + (paired() ? 2 : 1) * rows};
  }
  std::unique_ptr<Estimator> with_minimum_norm() const override {
    return std::make_unique<KernelShap>(pairing_, Deficiency::minimum_norm);
  }

  Attribution estimate(CountedGame& game, Rng& rng) const override {
    if (can_enumerate(game)) return enumerate_all(game);
    const SizeLaw law(SizeMass::shapley_kernel, game.players());
    const std::int64_t interior = game.budget().coalitions - 2;
    return fit_sample(game, sample_coalitions(Sampler::shapiq_compatible, law, interior, pairing_, rng), name(),
                      deficiency());
  }

 private:
  bool paired() const { return pairing_ == Pairing::complements; }

  Pairing pairing_;
};

}  // namespace

std::unique_ptr<Estimator> kernel_shap() { return std::make_unique<KernelShap>(Pairing::none); }

std::unique_ptr<Estimator> kernel_shap_paired() { return std::make_unique<KernelShap>(Pairing::complements); }

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

namespace {

/// The regression of kernel_shap on pairs drawn without replacement, equally many of each size: the leverage of a
/// coalition is 1/C(n, s).
///
/// Source: Musco & Witter (2025), "Provably accurate Shapley value estimation via leverage score sampling", with the
/// numbers of each size fixed rather than binomial. There: O(n log(n/δ) + n/(εδ)) coalitions bring the loss within 1 +
/// ε of the least one with probability 1 − δ. Cost: that of KernelRegression. No standard errors: sizes of which one
/// pair is taken say nothing of their spread.
class LeverageShap final : public LeastSquares {
 public:
  explicit LeverageShap(Deficiency deficiency = Deficiency::refuse) : LeastSquares(deficiency) {}

  std::string_view name() const override { return "leverage_shap"; }
  std::string_view summary() const override {
    return "regression on pairs without replacement, equally many of each size (Musco, Witter 2025)";
  }
  Guarantees guarantees() const override {
    return {.bias = Bias::vanishing,
            .exact_on_additive = determined(),
            .exact_on_two_additive = determined(),
            .zero_on_even = true,
            .same_on_dual = true,
            .linear = true,
            .exact_at_full_budget = true,
            .refusal = refusal()};
  }
  /// One pair for each of the n−1 differences between players, whether the rows are independent shows only when they
  /// are drawn; or one for each two sizes.
  Budget minimum(int players) const override {
    return {2 + 2 * std::int64_t{determined() ? players - 1 : players / 2}};
  }
  std::unique_ptr<Estimator> with_minimum_norm() const override {
    return std::make_unique<LeverageShap>(Deficiency::minimum_norm);
  }

  Attribution estimate(CountedGame& game, Rng& rng) const override {
    if (can_enumerate(game)) return enumerate_all(game);
    const SizeLaw law(SizeMass::uniform, game.players());
    const std::int64_t interior = game.budget().coalitions - 2;
    return fit_sample(game, sample_coalitions(Sampler::without_replacement, law, interior, Pairing::complements, rng),
                      name(), deficiency());
  }
};

}  // namespace

std::unique_ptr<Estimator> leverage_shap() { return std::make_unique<LeverageShap>(); }

}  // namespace opshap::estimators
