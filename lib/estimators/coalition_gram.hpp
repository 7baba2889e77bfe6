#pragma once

#include <span>
#include <vector>

#include "core/coalitions.hpp"

namespace opshap::estimators {

/// Σ_S w_S 1_S 1_Sᵀ, [n, n], both triangles.
///
/// Rows of equal weight must be next to each other: within such a run an entry is a number of common members, counted
/// 64 coalitions at a time. Cost: n²/2 · m/64 word operations, with AVX-512 where the processor counts bits in it. The
/// same on any number of threads.
std::vector<double> weighted_gram(const Coalitions& coalitions, std::span<const double> weights);

}  // namespace opshap::estimators
