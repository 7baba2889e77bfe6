#pragma once

#include <string>
#include <vector>

#include "cli/globals.hpp"

namespace opshap::cli {

/// `opshap data generate --all|--pde NAMES --profile NAME --out FOLDER`: the data sets that the runs of a profile need,
/// `FOLDER/<pde>.h5` each. What they will cost is measured and said on standard error before the first one begins. A
/// set that is there already costs nothing; a stopped one goes on.
void generate_for_profile(const Globals& globals, const std::string& profile, const std::vector<std::string>& pdes);

}  // namespace opshap::cli
