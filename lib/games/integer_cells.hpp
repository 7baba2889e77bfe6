#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "games/measure.hpp"

namespace opshap::games {

/// The Shapley values of v(S) = f(Σ_{k∈S} w_k) for integer w_k and any f: exact sums over the law of Σ_{j≠k} w_j
/// Bernoulli(t), integrated over t by the Gauss–Legendre rule that is exact for their degree n − 1 (the multilinear
/// extension, Owen 1972).
///
/// Cost: O(n² W) time and O(nW) memory with W = Σ|w_k|: n = 512, W = 2048 takes a second.
std::vector<double> shapley_values_on_integers(std::span<const int> cells, const std::function<double(double)>& f);

/// The same cells as a measure. Throws InvalidArgument for no cells, |w_k| > 10⁶, or Σ|w_k| · n beyond 2^28, the memory
/// of shapley_values_on_integers.
Measure measure_of_integers(std::span<const int> cells, std::string_view who);

}  // namespace opshap::games
