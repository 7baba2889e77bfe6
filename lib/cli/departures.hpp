#pragma once

#include <string>
#include <vector>

#include "cli/profile.hpp"

namespace opshap::cli {

/// In what a profile's recipe and sizes differ from the paper's, one sentence each. Profile `paper` has only further
/// explainers, beside the paper's one.
std::vector<std::string> departures(const Profile& profile);

/// Whether the paper's cells can judge this profile's: a further explainer has rows of its own and changes no other.
bool comparable_with_paper(Profile profile);

}  // namespace opshap::cli
