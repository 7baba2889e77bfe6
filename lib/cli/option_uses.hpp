#pragma once

#include <string_view>
#include <vector>

#include "cli/cli11_fwd.hpp"

namespace opshap::cli {

/// What a command makes of the options that every command understands.
struct OptionUse {
  std::string_view command;  ///< "data generate"; "attribute --operator": the command with that option
  std::string_view options;  ///< those it uses, separated by blanks. All use --threads, -q and -v.
};

/// All commands of the program, each once without an option, and the options that change what it uses.
const std::vector<OptionUse>& option_uses();

/// Throws InvalidArgument for an option that was given and that the chosen command does not use. To be called when the
/// arguments are parsed, before the command runs.
void require_used_options(const CLI::App& app);

}  // namespace opshap::cli
