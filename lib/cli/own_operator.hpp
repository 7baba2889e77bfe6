#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/globals.hpp"
#include "core/scenario.hpp"

namespace opshap::cli {

/// What `opshap train explainer --inputs` is told.
struct OwnOperator {
  std::filesystem::path op, inputs;
  std::string domain;                   ///< "periodic", "bounded", or empty: as the weights say
  std::vector<Resolution> resolutions;  ///< empty: data::usual_resolutions()
  int samples = 8000;                   ///< inputs, each at a resolution and a query of its own, that are labelled
};

/// Trains an explainer of somebody's operator from inputs alone, for any query, and scores it on held-out inputs at
/// random queries against certified references. Target, coordinates and padding are chosen by what the operator and its
/// domain allow; --config replaces all other settings.
///
/// Writes the weights to --out, a .safetensors file, beside a folder of the training which may be resumed. Prints the
/// errors by resolution, with intervals.
void train_own_operator(const OwnOperator& asked, const Globals& globals);

}  // namespace opshap::cli
