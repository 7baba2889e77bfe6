#include "cli/command_table.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/profile.hpp"
#include "cli/program_folder.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "estimators/registry.hpp"
#include "pde/registry.hpp"

namespace opshap::cli {

using Json = nlohmann::ordered_json;

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

CommandTable from_json(const Json& json) {
  CommandTable table{.name = json.at("name"), .summary = json.at("summary"), .options = {}, .commands = {}};
  for (const Json& option : json.at("options"))
    table.options.push_back({.names = option.at("names").get<std::vector<std::string>>(),
                             .positional = option.at("positional"),
                             .takes_value = option.at("takes_value"),
                             .choices = option.at("choices").get<std::vector<std::string>>(),
                             .meaning = option.at("meaning")});
  for (const Json& command : json.at("commands")) table.commands.push_back(from_json(command));
  return table;
}

/// What a program prints. Throws EnvironmentError unless it ends well.
std::string output_of(const std::filesystem::path& program, const char* argument) {
  const std::string path = program.string();
  std::array<int, 2> ends{};
  require<EnvironmentError>(::pipe(ends.data()) == 0, "opshap: pipe (the system has no more). Close other programs.");
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execl(path.c_str(), path.c_str(), argument, nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  require<EnvironmentError>(child > 0 && ::waitpid(child, &status, 0) == child && status == 0, "opshap: program=", path,
                            " (does not tell its commands). Install both programs again.");
  return text;
}

/// Adds what `more` has and `table` lacks: commands and options by their first name.
void add_missing(CommandTable& table, const CommandTable& more) {
  for (const OptionRow& option : more.options) {
    const auto same = [&](const OptionRow& known) { return known.names == option.names; };
    if (std::ranges::none_of(table.options, same)) table.options.push_back(option);
  }
  for (const CommandTable& command : more.commands) {
    const auto known = std::ranges::find(table.commands, command.name, &CommandTable::name);
    known == table.commands.end() ? table.commands.push_back(command) : add_missing(*known, command);
  }
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

CommandTable whole_table(const CLI::App& app) {
  CommandTable table = table_of(app);
  const std::filesystem::path networks = program_folder() / "opshap-networks";
  if (is_file(networks)) add_missing(table, from_json(Json::parse(output_of(networks, "tables"))));
  return table;
}

Json to_json(const CommandTable& table) {
  Json options = Json::array(), commands = Json::array();
  for (const OptionRow& option : table.options)
    options.push_back({{"names", option.names},
                       {"positional", option.positional},
                       {"takes_value", option.takes_value},
                       {"choices", option.choices},
                       {"meaning", option.meaning}});
  for (const CommandTable& command : table.commands) commands.push_back(to_json(command));
  return {{"name", table.name}, {"summary", table.summary}, {"options", options}, {"commands", commands}};
}

std::vector<std::pair<std::string, const CommandTable*>> all_commands(const CommandTable& table) {
  std::vector<std::pair<std::string, const CommandTable*>> all;
  collect(table, "", all);
  return all;
}

}  // namespace opshap::cli
