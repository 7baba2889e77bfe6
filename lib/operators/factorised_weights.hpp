#pragma once

#include "data/safetensors.hpp"

namespace opshap::operators {

/// Replaces each spectral weight that is stored as factors by the tensor that they make up.
///
/// The factors have the names of tensorly-torch, as in the state_dict of neuraloperator's TFNO: NAME.core and
/// NAME.factors.factor_0.. for Tucker, NAME.weights and the factors for CP, the factors alone for a tensor train. The
/// tensor gets the name NAME.tensor, as that of a network with dense weights. Complex numbers are pairs. `who` starts
/// messages. Throws DataError for factors that do not fit each other.
void expand_factors(data::Safetensors& content, const std::string& who);

}  // namespace opshap::operators
