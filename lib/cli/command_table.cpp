#include "cli/command_table.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "cli/profile.hpp"
#include "estimators/registry.hpp"
#include "pde/registry.hpp"

namespace opshap::cli {

namespace {

/// Names that a registry has for the values of an option.
std::vector<std::string> registered(const std::string& option) {
  std::vector<std::string> names;
  if (option == "--method" || option == "--methods") {
    for (const auto& estimator : estimators::all()) names.emplace_back(estimator->name());
  } else if (option == "--pde") {
    for (const auto& problem : pde::all()) names.emplace_back(problem->name());
  } else if (option == "--profile") {
    for (const EmbeddedSettings& profile : embedded_profiles()) names.push_back(profile.name);
  }
  return names;
}

/// "TEXT:{node,cell}" of CLI11.
std::vector<std::string> choices_in(const std::string& type) {
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

OptionRow row_of(const CLI::Option& option) {
  OptionRow row{.takes_value = option.get_items_expected_max() > 0};
  for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
  row.positional = row.names.empty();
  if (row.positional) row.names = {option.get_name(true)};
  row.choices = choices_in(option.get_type_name());
  if (row.choices.empty()) row.choices = registered(row.names.front());
  row.meaning = option.get_description();
  return row;
}

void collect(const CommandTable& table, const std::string& path,
             std::vector<std::pair<std::string, const CommandTable*>>& all) {
  all.emplace_back(path, &table);
  for (const CommandTable& command : table.commands)
    collect(command, path + (path.empty() ? "" : " ") + command.name, all);
}

}  // namespace

CommandTable table_of(const CLI::App& app) {
  CommandTable table{.name = app.get_name(), .summary = app.get_description(), .options = {}, .commands = {}};
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) table.options.push_back(row_of(*option));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); }))
    table.commands.push_back(table_of(*command));
  return table;
}

std::vector<std::pair<std::string, const CommandTable*>> all_commands(const CommandTable& table) {
  std::vector<std::pair<std::string, const CommandTable*>> all;
  collect(table, "", all);
  return all;
}

}  // namespace opshap::cli
