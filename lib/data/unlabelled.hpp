#pragma once

#include <cstdint>
#include <vector>

#include "core/scenario.hpp"
#include "data/dataset.hpp"

namespace opshap::data {

/// Inputs that nobody solves.
struct Unlabelled {
  std::int64_t count = 0;
  Resolution grid = {};             ///< that all inputs are then on
  std::vector<double> shares = {};  ///< of each resolution, in proportion; empty: all get as many
};

/// The data set with further inputs for training, drawn from its problem and not solved: they have no targets.
///
/// They are the samples that a larger data set of this problem and seed would have next, spread over the resolutions of
/// the set. The problem's native grid is strided to theirs. An explainer needs no targets, and a training of operators
/// cannot use what this returns. Throws InvalidArgument when the data set is not one of the problem's, and for shares
/// of another number of resolutions.
Dataset with_unlabelled(Dataset data, const pde::Problem& problem, std::uint64_t seed, const Unlabelled& wanted);

}  // namespace opshap::data
