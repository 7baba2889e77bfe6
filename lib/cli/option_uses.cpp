#include "cli/option_uses.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

#include "core/error.hpp"

namespace opshap::cli {

namespace {

constexpr std::string_view checked[] = {"--config", "--seed", "--device",  "--no-engine",
                                        "--out",    "--json", "--sandbox", "--trust"};

bool uses(const OptionUse& row, std::string_view option) {
  const std::string padded = message(' ', row.options, ' ');
  return padded.find(message(' ', option, ' ')) != std::string::npos;
}

/// "attribute --operator" as the command and the option.
std::pair<std::string_view, std::string_view> parts(std::string_view command) {
  const std::size_t dashes = command.find(" --");
  return dashes == std::string_view::npos ? std::pair(command, std::string_view())
                                          : std::pair(command.substr(0, dashes), command.substr(dashes + 1));
}

/// The subcommand that was called, and its name as the table has it.
std::pair<const CLI::App*, std::string> called(const CLI::App& app) {
  const CLI::App* command = &app;
  std::string name;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += (name.empty() ? "" : " ") + command->get_name();
  }
  return {command, name};
}

bool given(const CLI::App& command, std::string_view option) {
  const CLI::Option* known = command.get_option_no_throw(std::string(option));
  return known != nullptr && known->count() > 0;
}

}  // namespace

const std::vector<OptionUse>& option_uses() {
  static const std::vector<OptionUse> all = {
      {"doctor", "--out --device --json"},
      {"list", "--json"},
      {"data generate", "--out --seed --json"},
      {"data generate --profile", "--out --seed --config --json"},
      {"data import pdebench", "--out --json"},
      {"data import npy", "--out --json"},
      {"data info", "--json"},
      {"data verify", "--json"},
      {"data merge", "--out --json"},
      {"data preview", "--out --json"},
      {"pde solve", "--out --json"},
      {"train backbone", "--out --seed --config --device --json"},
      {"train explainer", "--out --seed --config --device --no-engine --json --trust"},
      {"attribute", "--out --seed --json --sandbox"},
      {"attribute --operator", "--out --seed --device --no-engine --json --sandbox --trust"},
      {"reference", "--out --seed --json --sandbox"},
      {"reference --operator", "--out --seed --device --no-engine --json --sandbox --trust"},
      {"compare", "--out --seed --json --sandbox"},
      {"compare --operator", "--out --seed --device --no-engine --json --sandbox --trust"},
      {"compare --suite", "--out --seed --device --no-engine --json --sandbox --trust"},
      {"evaluate", "--out --seed --config --device --no-engine --json --sandbox --trust"},
      {"operator golden", "--device --json"},
      {"operator run", "--out --device --json --sandbox --trust"},
      {"operator inspect", "--device --json --trust"},
      {"operator serve", "--trust"},
      {"operator import", "--out --device --json"},
      {"study amortisation", "--out --seed --config --device --no-engine --json"},
      {"study queries", "--out --seed --config --device --no-engine --json"},
      {"study references", "--out --device --no-engine --json"},
      {"reproduce", "--out --seed --config --device --no-engine --json --sandbox --trust"},
      {"merge", "--json"},
      {"report", "--out --json"},
      {"serve", ""},
      {"peer new", "--json"},
      {"peer check", "--seed --json --sandbox"},
      {"completion", ""},
      {"man", "--out"}};
  return all;
}

void require_used_options(const CLI::App& app) {
  const auto [command, name] = called(app);
  const OptionUse* best = nullptr;
  std::string_view with;  // the option that makes another one useful, of any row of this command
  for (const OptionUse& row : option_uses()) {
    const auto [plain, option] = parts(row.command);
    if (plain != name) continue;
    if (option.empty() ? best == nullptr : given(*command, option)) best = &row;
  }
  if (best == nullptr) return;  // a command of the other program, which checks its own arguments
  for (const std::string_view option : checked) {
    if (!given(app, option) || uses(*best, option)) continue;
    for (const OptionUse& row : option_uses()) {
      if (parts(row.command).first == name && uses(row, option)) with = parts(row.command).second;
    }
    throw InvalidArgument(message(name, ": ", option, " (", with.empty() ? "the command does not use it" : "only with ",
                                  with, "). Leave it out."));
  }
}

}  // namespace opshap::cli
