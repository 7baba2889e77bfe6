#pragma once

#include "cli/globals.hpp"

namespace opshap::cli {

#define COMMAND(name) void add_##name(CLI::App& app, const Globals& globals);
#define NETWORK_COMMAND(name, summary) void add_network_##name(CLI::App& app, const Globals& globals);
#include "cli/commands.def"
#undef COMMAND
#undef NETWORK_COMMAND

}  // namespace opshap::cli
