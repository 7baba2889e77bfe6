#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "cli/globals.hpp"

namespace opshap::cli {

#define COMMAND(name) void add_##name(CLI::App& app, const Globals& globals);
#include "cli/commands.def"
#undef COMMAND

/// A command of `parent` with options that live as long as it does. Calling it is calling `run` with them.
template <typename Options>
std::pair<CLI::App*, Options&> add_command(CLI::App& parent, const std::string& name, const std::string& summary,
                                           void (*run)(const Options&, const Globals&), const Globals& globals) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = parent.add_subcommand(name, summary);
  command->callback([=, &globals] { run(*options, globals); });
  return {command, *options};
}

}  // namespace opshap::cli
