#include "estimators/coalition_sampler.hpp"
#include "estimators/enumeration.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "estimators/sample_regression.hpp"

namespace opshap::estimators {

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
