#pragma once

#include <toml++/toml.h>

#include "cli/profile.hpp"
#include "cli/profile_section.hpp"

namespace opshap::cli {

/// The table [data] of a profile, with the file that stands in a problem's place where there is one. Throws
/// InvalidArgument naming key and line, and for a problem or a parameter that is not known.
DataSettings read_data(Section section);

/// The table that read_data() reads. What is as it is by default is left out.
toml::table data_table(const DataSettings& data);

}  // namespace opshap::cli
