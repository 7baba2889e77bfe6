#pragma once

#include "cli/globals.hpp"

namespace opshap::cli {

#define COMMAND(name) void add_##name(CLI::App& app, const Globals& globals);
#include "cli/commands.def"
#undef COMMAND

}  // namespace opshap::cli
