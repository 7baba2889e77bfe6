#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/scenario.hpp"

namespace opshap::evaluation {

/// How many players change anything: those with a point where the input differs from the baseline, in any channel, by
/// more than 10⁻⁹ of the larger one of the two. The others have the value 0 in every game of this input.
int active_players(const Scenario& scenario);

/// How far a baseline is from the data, channel by channel: the largest |baseline − mean|/standard deviation over the
/// points, with mean and deviation of all values of the inputs in this channel. A channel that does not vary has 0.
///
/// A hidden cell of a channel that is far from the data is a field that the operator has never seen; then a game is
/// more about this than about the input. One scenario at the least, all of them with the same number of channels.
std::vector<double> baseline_distances(std::span<const Scenario> scenarios);

}  // namespace opshap::evaluation
