#pragma once

#include <vector>

#include "core/field.hpp"
#include "engines/fno_weights.hpp"

namespace opshap::engines {

/// The output of an FNO for one field, [out_channels, points], in double and word for word as the layers are defined:
/// the oracle of the engine.
///
/// No folding, no tables, sums over all points for each kept frequency. Cost: seconds for a field of a thousand points.
std::vector<double> fno_reference(const FnoWeights& weights, const FieldBatch& field);

}  // namespace opshap::engines
