// `opshap completion`: scripts for shells, from the tables of the commands.

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/command_table.hpp"
#include "cli/commands.hpp"

namespace opshap::cli {

void add_completion(CLI::App& app, const Globals&) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "completion", "A script that completes commands, options and values: source <(opshap completion bash)");
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, shell] {
    const CommandTable table = table_of(app);
    std::cout << (*shell == "bash"  ? bash_completion(table)
                  : *shell == "zsh" ? zsh_completion(table)
                                    : fish_completion(table));
  });
}

}  // namespace opshap::cli
