#include "estimators/coalition_sampler.hpp"
#include "estimators/enumeration.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
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

}  // namespace opshap::estimators
