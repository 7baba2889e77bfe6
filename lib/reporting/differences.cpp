#include "reporting/differences.hpp"

#include "reporting/paper.hpp"

namespace opshap::reporting {

namespace {

const std::vector<Difference>& of_all_problems() {
  static const std::vector<Difference> differences = {
      {"Padding",
       "The paper says \"domain padding 0.5\". Older versions of the library it uses pad at one end and newer ones at "
       "both ends. Here the padding is symmetric."},
      {"The reference",
       "The paper compares with RegressionMSR at 300 000 evaluations, whose own error is not stated. Here the "
       "reference is exact at few players. Above, it is the weighted mean of two independent estimates with standard "
       "errors, called certified where they agree within these: antithetic pairs of orderings, and the two-level "
       "estimator where the operator has slopes, else paired KernelSHAP. The two-level estimator takes the mean field "
       "as a control variate. It is unbiased whatever the mean field is. Its weight is nearly all at many players, so "
       "there the check sees only what is larger than the error of a few orderings. The error of the reference stands "
       "beside every comparison. Differences in NRMSE below it mean nothing."},
      {"The paper's reference is rough",
       "The curves of RegressionMSR here fall with its budget. Continued to the paper's 300 000 evaluations on Burgers "
       "1D they end near an NRMSE of 0.10 at n = 512 and 0.23 at n = 1024. Against such a reference even exact values "
       "have that error, so part of what the paper prints at large n may be its reference's. This is an extrapolation "
       "from three budgets. It was not run."},
      {"R² is nearly blind at large n",
       "For an additive game 1 - R² = a·NRMSE²·|φ|² / (a·|φ|² + (1/4 - a)·Δ²) with a = 1/(2·H(n-1)) and Δ = v(N) - "
       "v(∅); where Δ² grows like n·|φ|² this is of the order "
       "NRMSE²/(n·log n). The paper's own table has R² = 0.717 beside a Pearson correlation of 0.212 (Burgers 1D, n = "
       "1024, RegressionMSR). Read NRMSE first."},
      {"What is weighted in the weighted R²",
       "The printed formula has no weights: they enter through the law the coalitions are drawn from. Here 10 000 "
       "coalitions are drawn with replacement from the Shapley kernel law, "
       "once per input, and shared by all methods; no method sees them."},
      {"NMSE and NRMSE",
       "The paper's figures show NMSE, its tables NRMSE; NMSE is NRMSE squared. Everything here is NRMSE, divided by "
       "the 2-norm of the reference."},
      {"Hard masks are not the game of the theorem",
       "The theorem speaks of masks that stay fixed while the partition is refined; every experiment, the paper's and "
       "ours, sets whole grid cells to the baseline. Such a masked field is not "
       "smooth, and the game changes with n. The theorem says nothing about it."},
      {"Integrated gradients have another limit",
       "They evaluate the operator at t·u, the weak limit of randomly masked inputs, which the game never does. On an "
       "operator with a pointwise nonlinearity before a nonlocal layer their distance "
       "to the Shapley values therefore levels off instead of vanishing. It is not a quadrature error."},
      {"The mean field and the floor of the reference",
       "The mean field is not in the paper. It follows the fluctuations of those inputs as well, so in theory its "
       "error falls like 1/n. A measured NRMSE contains the reference's own error too and cannot fall below it. Where "
       "the table stops falling or rises, it shows the reference's error and not the method's."},
      {"The query's own cell",
       "A neural operator has a pointwise path from the input at the query to the output there. That one cell keeps a "
       "share of the gain at every n while all others shrink like 1/n, so a density has to reach a height "
       "of order n at one point. Part of the error at large n is this."},
      {"Normalisation",
       "The gap to v(N) - v(∅) is shared out in proportion to cell volume, as in Algorithm 1 of the paper; FastSHAP "
       "shares it out equally. The two agree on grids with equal cells, so on every grid here."},
      {"Scale of the loss",
       "The excess of the training loss over its minimum is |estimate - φ|²/(2·H(n-1)); for the same error of the "
       "density it is 144.8 times larger at n = 16 than at n = 1024 (ratio of n·H(n-1)). As in the paper "
       "nothing corrects for it, so coarse grids dominate the training."},
      {"KernelSHAP with and without pairs",
       "The paper does not say which one it ran. Both are here, under their own names."},
      {"Which RegressionMSR",
       "The paper names shapiq and no version. Here it is that of shapiq 1.5 and 1.6: pairs with sizes ∝ 1/(s(n-s)), "
       "XGBoost, and residuals on the coalitions that the trees were fitted to. Its budget in the tables is max(2n, "
       "1024), as there. Later versions draw sizes ∝ 1/√(s(n-s))."},
      {"Cached ends of the game",
       "The paper caches v(N) and v(∅) \"once per resolution\". v(N) depends on the input: here it is kept per input "
       "and resolution."},
      {"The query on even grids",
       "\"The centre\" is the point with index n/2, which keeps its position when every second point is dropped."},
      {"Quartiles",
       "Medians and quartiles are linear interpolations between order statistics (type 7); the paper does not state "
       "its rule."},
  };
  return differences;
}

}  // namespace

std::vector<Difference> standing_differences(std::string_view pde) {
  std::vector<Difference> differences;
  for (const DataRemark& remark : data_remarks()) {
    if (remark.pde == pde) differences.push_back({remark.subject, remark.text});
  }
  const std::vector<Difference>& others = of_all_problems();
  differences.insert(differences.end(), others.begin(), others.end());
  return differences;
}

}  // namespace opshap::reporting
