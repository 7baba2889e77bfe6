#pragma once

#include <toml++/toml.h>

#include "cli/profile_section.hpp"
#include "operators/network_config.hpp"

namespace opshap::cli {

/// The table [operator] of a profile. The settings are not looked at: what they mean is the architecture's business.
/// Throws InvalidArgument where there is no model, and for a value that is neither a number, a word nor a list of them.
operators::NetworkSettings read_operator(Section section);

/// The table that read_operator() reads.
toml::table operator_table(const operators::NetworkSettings& settings);

}  // namespace opshap::cli
