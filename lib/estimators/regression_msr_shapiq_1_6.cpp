#include "estimators/registry.hpp"
#include "estimators/regression_msr_tree.hpp"

namespace opshap::estimators {

namespace {

/// What the library shapiq calls RegressionMSR in its versions 1.5.0 to 1.6.0, for comparisons with tables that were
/// made with it.
///
/// Pairs from the Shapley kernel, small sizes taken whole, the rest drawn until the budget of distinct coalitions is
/// used; trees and residuals on the same coalitions. Such trees come within a few percent of the values they were
/// fitted to, so little is left to correct. Its sampler and the reuse of the coalitions both bias it. XGBoost's later
/// default, hist, is used, as in those versions with XGBoost 2 or later. Source: shapiq 1.6.0,
/// src/shapiq/approximator/proxy/regressionmsr.py and proxyshap.py. Cost: one fit of XGBoost.
class RegressionMsrShapiq final : public Estimator {
 public:
  std::string_view name() const override { return "regression_msr_shapiq_1_6"; }
  std::string_view summary() const override {
    return "RegressionMSR as in shapiq 1.5.0 to 1.6.0: Shapley-kernel sizes, residuals in-sample, biased";
  }
  Guarantees guarantees() const override {
    return {.bias = Bias::vanishing, .learns = true, .exact_at_full_budget = true};
  }
  Budget minimum(int) const override { return smallest_budget(folds); }

  Attribution estimate(CountedGame& game, Rng& rng) const override {
    return regression_msr(game, Sampler::shapiq_compatible, SizeMass::shapley_kernel, folds, tree_proxy(), name(), rng);
  }

 private:
  static constexpr Folds folds{1};
};

}  // namespace

std::unique_ptr<Estimator> regression_msr_shapiq_1_6() { return std::make_unique<RegressionMsrShapiq>(); }

}  // namespace opshap::estimators
