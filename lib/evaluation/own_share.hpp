#pragma once

#include <span>

#include "core/measured.hpp"
#include "core/scenario.hpp"

namespace opshap::evaluation {

/// |φ_own|/‖φ‖₂ of Shapley values [n], where "own" is the player that holds the query's point, or those that hold the
/// points of a target: the NRMSE of an answer that is right but for a 0 there. Undefined where all values are 0.
///
/// As cells become finer the values of the other players vanish, and what an operator does point by point stays with
/// this one. A density without an atom cannot say it.
Measured own_share(std::span<const double> values, const Scenario& scenario);

}  // namespace opshap::evaluation
