#pragma once

#include <cstdint>
#include <vector>

#include "core/scenario.hpp"
#include "data/dataset.hpp"

namespace opshap::data {

/// Grids of a domain for an explainer: the seven finest of halved_resolutions() with 16 points or more.
std::vector<Resolution> usual_resolutions(const Domain& domain);

/// A data set of inputs alone, for the training of an explainer: it has no targets.
///
/// Of the inputs, in their order, the last tenth is for testing (30 at the most) and the tenth before it for validation
/// (100 at the most). The others are served again and again, each time at another resolution, until there are `samples`
/// for training. Throws InvalidArgument for fewer than 10 inputs.
Dataset of_inputs(const FieldBatch& inputs, const std::vector<Resolution>& resolutions, std::int64_t samples);

}  // namespace opshap::data
