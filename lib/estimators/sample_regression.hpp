#pragma once

#include <string_view>

#include "core/estimator.hpp"
#include "core/game.hpp"
#include "estimators/coalition_sampler.hpp"
#include "estimators/least_squares.hpp"

namespace opshap::estimators {

/// The additive game with v(N) − v(∅) to share out that fits the sample best, in the weighted least-squares sense.
///
/// A row of a pair stands for both equations, which differ in sign alone. Standard errors are there for samples with
/// random draws and three rows or more per player. Cost: that of KernelRegression. A sample that does not tell the
/// players apart is refused with InvalidArgument, `who` starts the message, or answered with the efficient game of
/// least norm, without standard errors.
Attribution fit_sample(CountedGame& game, const CoalitionSample& sample, std::string_view who,
                       Deficiency deficiency = Deficiency::refuse);

}  // namespace opshap::estimators
