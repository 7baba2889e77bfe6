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
std::vector<std::pair<std::string, const CommandTable*>> all_commands(const CommandTable& table,
                                                                      const std::string& path = "");

/// A script that teaches a shell to complete commands, options and the values that are known; everything else is a
/// file. `source <(opshap completion bash)` in ~/.bashrc, the same for zsh in ~/.zshrc after compinit, and `opshap
/// completion fish | source` in ~/.config/fish/config.fish.
std::string bash_completion(const CommandTable& table);
/// The same function, by zsh's own door to those of bash.
std::string zsh_completion(const CommandTable& table);
std::string fish_completion(const CommandTable& table);

/// "opshap-data-import-npy" of the path "data import npy": the name of a page without its section, 1.
std::string page_name(const std::string& path);

/// The man page of one command, in roff with the macros of man(7): name, synopsis, description, commands, options,
/// examples and exit status. Throws InvalidArgument for a path that is no command of the table.
std::string man_page(const CommandTable& table, const std::string& path);

}  // namespace opshap::cli
