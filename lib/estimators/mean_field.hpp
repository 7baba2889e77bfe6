#pragma once

#include <memory>

#include "core/estimator.hpp"

namespace opshap::estimators {

inline constexpr int default_mean_field_nodes = 16;

/// ∫₀¹ ∂F/∂a_i(t, …, t) dt of a game's mean-field closure F by Gauss–Legendre: the Shapley value with Owen's
/// multilinear extension (1972) replaced by F.
///
/// Deterministic. For a neural operator whose nonlocal layers are integrals over the whole field (FNO) the error is
/// O(1/n) relative to the values, since those integrals fluctuate by O(n^-1/2) and enter at second order; it is 0 where
/// no interaction involves more than two players. Where the nonlocal layers are stencils of a few cells, the error does
/// not vanish. The query's own cell keeps a share that does not shrink with its volume. Cost: one reverse pass of two
/// branches a node, about six forward passes; plus v(∅) and v(N), which the values meet up to the quadrature error.
/// Throws InvalidArgument for a game without closure, and unless 1 <= nodes <= 1000.
std::unique_ptr<Estimator> mean_field(int nodes);

}  // namespace opshap::estimators
