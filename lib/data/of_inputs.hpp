#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.hpp"

namespace opshap::data {

/// Grids of a domain for an explainer: its own and those of every second point of the finer one, down to 16 points on
/// one axis or 4 on each of two; seven at the most. Ascending points per axis. Throws InvalidArgument for axes of
/// unequal size.
std::vector<int> usual_resolutions(const Domain& domain);

/// A data set of inputs alone, for the training of an explainer: it has no targets.
///
/// Of the inputs, in their order, the last tenth is for testing (30 at the most) and the tenth before it for validation
/// (100 at the most). The others are served again and again, each time at another resolution, until there are `samples`
/// for training. Throws InvalidArgument for fewer than 10 inputs.
Dataset of_inputs(const FieldBatch& inputs, const std::vector<int>& resolutions, std::int64_t samples);

}  // namespace opshap::data
