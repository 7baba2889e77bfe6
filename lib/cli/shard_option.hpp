#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace opshap::cli {

/// Adds --shard i/N to a command whose work can be done in parts (runs::Part::parse() reads it).
CLI::Option* add_shard(CLI::App& command, std::string& shard);

}  // namespace opshap::cli
