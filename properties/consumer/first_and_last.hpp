#pragma once

#include <memory>

#include "core/estimator.hpp"

/// The mean of what a player adds to nobody and to all others. It is the Shapley value where no interaction involves
/// more than two players. Cost: 2n coalitions and the two ends.
std::unique_ptr<opshap::Estimator> first_and_last();
