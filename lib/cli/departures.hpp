#pragma once

#include <string>
#include <vector>

#include "cli/profile.hpp"

namespace opshap::cli {

/// In what a profile's recipe and sizes differ from the paper's, one sentence each; empty for `paper`.
std::vector<std::string> departures(const Profile& profile);

}  // namespace opshap::cli
