#include "core/estimator.hpp"
#include "estimators/coalition_sampler.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/sample_regression.hpp"

namespace opshap::estimators {

namespace {

std::unique_ptr<Estimator> regression_on(Sampler sampler, SizeMass mass, Pairing pairing, std::string_view name,
                                         std::string_view summary) {
  const bool paired = pairing == Pairing::complements;
  return std::make_unique<LeastSquares>(LeastSquares::Method{
      .name = name,
      .summary = summary,
      .promises = {.bias = Bias::vanishing, .linear = true},
      .of_odd_half = paired,
      // One row for each of the n−1 differences between players, whether the rows are independent shows only when they
      // are drawn; or a row of any rank, without replacement one for each two sizes.
      .minimum =
          [sampler, paired](int players, Deficiency deficiency) {
            const int of_any_rank = sampler == Sampler::without_replacement ? players / 2 : 1;
            const std::int64_t rows = deficiency == Deficiency::refuse ? players - 1 : of_any_rank;
            return 2 + (paired ? 2 : 1) * rows;
          },
      .estimate =
          [=](CountedGame& game, Deficiency deficiency, Rng& rng) {
            const SizeLaw law(mass, game.players());
            const std::int64_t interior = game.budget().coalitions - 2;
            return fit_sample(game, sample_coalitions(sampler, law, interior, pairing, rng), name, deficiency);
          }});
}

}  // namespace

std::unique_ptr<Estimator> kernel_shap() {
  return regression_on(Sampler::shapiq_compatible, SizeMass::shapley_kernel, Pairing::none, "kernel_shap",
                       "constrained least squares on coalitions drawn from the Shapley kernel (Lundberg, Lee 2017)");
}

std::unique_ptr<Estimator> kernel_shap_paired() {
  return regression_on(Sampler::shapiq_compatible, SizeMass::shapley_kernel, Pairing::complements, "kernel_shap_paired",
                       "kernel_shap on coalitions drawn together with their complements (Covert, Lee 2021)");
}

/// The regression of kernel_shap on pairs drawn without replacement, equally many of each size: the leverage of a
/// coalition is 1/C(n, s).
///
/// Source: Musco & Witter (2025), "Provably accurate Shapley value estimation via leverage score sampling", with the
/// numbers of each size fixed rather than binomial. There: O(n log(n/δ) + n/(εδ)) coalitions bring the loss within 1 +
/// ε of the least one with probability 1 − δ. Cost: that of KernelRegression. No standard errors: sizes of which one
/// pair is taken say nothing of their spread.
std::unique_ptr<Estimator> leverage_shap() {
  return regression_on(Sampler::without_replacement, SizeMass::uniform, Pairing::complements, "leverage_shap",
                       "regression on pairs without replacement, equally many of each size (Musco, Witter 2025)");
}

}  // namespace opshap::estimators
