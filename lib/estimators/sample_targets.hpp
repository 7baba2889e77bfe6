#pragma once

#include <vector>

#include "core/estimator.hpp"
#include "core/game.hpp"
#include "estimators/coalition_sampler.hpp"

namespace opshap::estimators {

/// What a sample says about a game, [m]: v(S) − v(∅), or of a pair (v(S) − v(N∖S))/2, since of a pair only the odd half
/// enters any Shapley value.
///
/// One call to the game.
std::vector<double> sample_targets(CountedGame& game, const CoalitionSample& sample, double empty);

/// Takes out of the targets what a game of equal players would have, s·share of S, of a pair (s − n/2)·share, share =
/// Δ/n. What is left sums to 0 over the players.
void subtract_equal_shares(std::vector<double>& targets, const CoalitionSample& sample, double share);

}  // namespace opshap::estimators
