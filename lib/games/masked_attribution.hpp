#pragma once

#include <span>
#include <vector>

#include "core/field.hpp"
#include "core/operator.hpp"

namespace opshap::games {

/// Attr^η = Σ_k weights(k) DG(u_b + nodes(k) h)[η h] with h = u − u_b, for each of the masks [m, points]: ∫₀¹ DG(u_b +
/// t h)[η h] dt by a quadrature on [0, 1] (OperatorSHAP, Definition "Masked pointwise attribution").
///
/// Masks may have any finite values. Those that add up to 1 have attributions that add up to the same number, Σ_k
/// weights(k) DG(u_b + nodes(k) h)[h], whatever they are. Cost: one reverse pass a node, for all masks together. Throws
/// as MaskedOperator, and InvalidArgument for masks, nodes or weights that do not fit.
std::vector<double> masked_attributions(const Operator& op, const FieldBatch& input, const FieldBatch& baseline,
                                        const Readout& readout, std::span<const double> masks,
                                        std::span<const double> nodes, std::span<const double> weights);

}  // namespace opshap::games
