#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/cli11_fwd.hpp"

namespace opshap::cli {

/// An option or a positional argument of a command.
struct OptionRow {
  std::vector<std::string> names;  ///< "--out", "-q"; a positional has its one name without dashes
  bool positional = false;
  bool takes_value = false;          ///< false for flags
  std::vector<std::string> choices;  ///< the values that it can have, where these are few and known
  std::string meaning;
};

/// A command with everything that its --help is made from.
struct CommandTable {
  std::string name, summary;
  std::vector<OptionRow> options;
  std::vector<CommandTable> commands;
};

/// The table of an application and all its subcommands, but for hidden ones.
CommandTable table_of(const CLI::App& app);

/// All commands of a table with their paths ("data import npy"; empty for the application), each before its
/// subcommands.
std::vector<std::pair<std::string, const CommandTable*>> all_commands(const CommandTable& table);

}  // namespace opshap::cli
