#pragma once

#include <string>

#include "cli/cli11_fwd.hpp"

namespace opshap::cli {

/// Adds --shard i/N to a command whose work can be done in parts (runs::Part::parse() reads it).
CLI::Option* add_shard(CLI::App& command, std::string& shard);

}  // namespace opshap::cli
