#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/profile.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"

namespace opshap::cli {

/// A profile for each of several problems, in their order; {"all"} names those of the paper. All are read before one is
/// returned, so that a wrong name is told before the work on the first begins. Throws as load_profile().
std::vector<Profile> load_profiles(const std::string& name_or_file, const std::filesystem::path& overrides,
                                   const std::vector<std::string>& pdes);

/// The data set that a run of this profile needs.
data::DatasetRequest data_request(const Profile& profile, std::uint64_t seed);

/// A data set at the scattered points that a profile asks for, else as it is. Throws as data::scattered().
data::Dataset at_points_of(const Profile& profile, data::Dataset data);

}  // namespace opshap::cli
