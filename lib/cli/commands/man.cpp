// `opshap man`: manual pages, from the tables of the commands.

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <vector>

#include "cli/command_table.hpp"
#include "cli/commands.hpp"
#include "core/file.hpp"

namespace opshap::cli {

void add_man(CLI::App& app, const Globals& globals) {
  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "man", "The manual page of a command in roff, for `man -l -`; with --out FOLDER the pages of all commands");
  command->add_option("command", *words, "The command, such as: data import npy (default: opshap itself)");
  command->callback([&app, &globals, words] {
    const CommandTable table = table_of(app);
    if (!globals.out.empty()) {
      for (const auto& [path, known] : all_commands(table))
        write_file(globals.out / (page_name(path) + ".1"), man_page(table, path));
      print_path(globals, "pages", globals.out);
      return;
    }
    std::string path;
    for (const std::string& word : *words) path += (path.empty() ? "" : " ") + word;
    std::cout << man_page(table, path);
  });
}

}  // namespace opshap::cli
