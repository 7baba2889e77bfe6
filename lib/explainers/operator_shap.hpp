#pragma once

#include <filesystem>
#include <memory>

#include "core/explainer.hpp"

namespace opshap {

/// OperatorSHAP: a trained neural operator that maps an input field to its attribution density, at any resolution, in one forward pass.
/// Throws DataError for a file that is missing, corrupt, or of a network with more than one output channel.
std::unique_ptr<Explainer> load_explainer(const std::filesystem::path& weights);

}  // namespace opshap
