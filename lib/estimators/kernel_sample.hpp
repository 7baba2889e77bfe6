#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/coalitions.hpp"
#include "core/rng.hpp"

namespace opshap {

/// Whether a drawn coalition brings its complement along.
enum class Pairing { none, complements };

/// Distinct coalitions between ∅ and N with the weights of a Shapley-kernel regression, equal weights next to each other.
struct KernelSample {
  Coalitions coalitions;  ///< [m]; with Pairing::complements one coalition of each pair, the other goes without saying
  std::vector<double> weights;  ///< [m], up to a common factor
  std::vector<std::size_t>
      draws;  ///< the row of each random draw, repeats included, in the order drawn; fully enumerated sizes have none
  double draw_weight = 0;  ///< what one draw adds to the weight of its row

  explicit KernelSample(int players) : coalitions(players) {}
};

/// The sizes s of which all C(n, s) coalitions are taken, because that many or more of `interior` kernel draws are expected there; then again for
/// the sizes left and the budget left, until no size qualifies. Increasing.
std::vector<int> enumerated_sizes(int players, std::int64_t interior);

/// At most `interior` distinct coalitions other than ∅ and N; with complements both of a pair count, and an odd one is left over.
///
/// Whole sizes are taken as enumerated_sizes says, with their kernel weight 1/(C(n,s)·s(n−s)). The rest is drawn with replacement from the kernel law of
/// the sizes left, until the budget of distinct coalitions is used or eight times as many draws are made (which happens only when nearly all
/// coalitions are wanted). A row drawn c times in M draws weighs (Σ_left 1/(s(n−s)))·c/M, which has the kernel weight as its mean.
/// Works for every n: no binomial is formed except for sizes within the budget. Source: the border trick is that of Fumagalli et al. (2023, SHAP-IQ).
KernelSample sample_kernel(int players, std::int64_t interior, Pairing pairing, Rng& rng);

}  // namespace opshap
