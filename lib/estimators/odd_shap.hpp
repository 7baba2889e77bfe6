#pragma once

#include <map>
#include <span>

#include "estimators/boosted_trees.hpp"
#include "estimators/poly_shap.hpp"

namespace opshap::estimators {

/// The Walsh coefficients f̂(T) = 2^-n Σ_S f(S) (−1)^|S∩T| of a sum of leaves for the T of an odd number of players,
/// where any leaf has them.
///
/// A leaf is c·Π_{i∈E}(1 − χ_i)/2·Π_{i∈R}(1 + χ_i)/2 with χ_i = 1 − 2·[i∈S], hence c·2^-(e+r) Σ_{T⊆E∪R} (−1)^|T∩E| χ_T.
/// The Shapley values are φ_i = −2 Σ_{T∋i} f̂(T)/|T|; those of even T do not enter. Cost: 2^depth a leaf. Players of a
/// term are in increasing order.
std::map<Term, double> odd_spectrum(std::span<const TreeLeaf> leaves);

}  // namespace opshap::estimators
