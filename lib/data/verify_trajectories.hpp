#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "data/hdf5.hpp"
#include "data/verify.hpp"

namespace opshap::data {

/// The checks of verify_dataset() on a file of trajectories whose seal is whole: checksums, content, finite values,
/// windows and split, the mean input, the solver's invariants, and two trajectories that are run anew. One that was
/// imported has no solver.
std::vector<DataCheck> trajectory_checks(const Hdf5Contents& file, const nlohmann::ordered_json& metadata);

}  // namespace opshap::data
