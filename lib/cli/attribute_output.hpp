#pragma once

#include <string>

#include "cli/globals.hpp"
#include "core/attribution.hpp"

namespace opshap {

/// Prints an attribution on standard output: one JSON object with --json, else the largest values as a table and what they cost.
///
/// JSON keys: method, players, values, standard_errors (null when the method has none), empty, grand, efficiency_gap, distinct, evaluations, gradients,
/// seed, seconds {game, estimator}, exact.
void print_attribution(const Globals& globals, const std::string& method, const Attribution& attribution);

}  // namespace opshap
