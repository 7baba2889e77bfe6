// `opshap peer`: methods that are programs of your own, in any language.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "evaluation/peer_conformance.hpp"
#include "peers/plugin.hpp"

namespace opshap::cli {

using Json = nlohmann::ordered_json;

namespace {

using evaluation::ConformanceCheck;

std::string comma_separated(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

struct NewOptions {
  std::string language = "python";
  std::filesystem::path folder;
};

void run_new(const NewOptions& options, const Globals& globals) {
  const auto& [language, folder] = options;
  peers::write_template(language, folder.has_filename() ? folder : folder.parent_path());
  if (globals.json) return print_json({{"folder", folder.string()}, {"language", language}});
  std::cout << folder.string() << '\n';
}

/// "pass", "fail: …", "not claimed: linear = true".
std::string remark_on(const ConformanceCheck& check) {
  const std::string& more = check.outcome == ConformanceCheck::Outcome::not_claimed ? check.claim : check.detail;
  return fmt::format("{}{}{}", to_string(check.outcome), more.empty() ? "" : ": ", more);
}

void print_table(const std::vector<ConformanceCheck>& checks) {
  std::size_t width = 0;
  for (const ConformanceCheck& check : checks) width = std::max(width, check.law.size());
  for (const ConformanceCheck& check : checks)
    std::cout << fmt::format("{:<{}}  {}\n", check.law, width, remark_on(check));
}

Json json_of(const peers::Plugin& plugin, const std::vector<ConformanceCheck>& checks) {
  Json object = {{"name", plugin.name}, {"version", plugin.version}, {"checksum", plugin.checksum}};
  object["checks"] = Json::array();
  for (const ConformanceCheck& check : checks)
    object["checks"].push_back(
        {{"law", check.law}, {"outcome", to_string(check.outcome)}, {"detail", check.detail}, {"claim", check.claim}});
  return object;
}

void run_check(const std::filesystem::path& folder, const Globals& globals) {
  const peers::Plugin plugin = peers::read_plugin(folder);
  const std::vector<ConformanceCheck> checks = evaluation::peer_conformance(plugin, globals.seed);
  globals.json ? print_json(json_of(plugin, checks)) : print_table(checks);
  const auto failed = std::ranges::count(checks, ConformanceCheck::Outcome::fail, &ConformanceCheck::outcome);
  if (failed == 0) return;
  std::cerr << "peer: " << plugin.name << "=" << failed << " checks failed (of " << checks.size()
            << "). Correct the peer, or claim less in plugin.toml.\n";
  throw CheckFailed{};
}

}  // namespace

void add_peer(CLI::App& app, const Globals& globals) {
  CLI::App* command = app.add_subcommand("peer", "Methods that are programs of your own, in any language: new, check");
  command->require_subcommand(1);
  command->fallthrough();
  const auto [made, options] =
      add_command<NewOptions>(*command, "new", "Write a method that works, to start from", run_new, globals);
  made->fallthrough();
  made->add_option("--lang", options.language, "One of: " + comma_separated(peers::template_languages()))
      ->capture_default_str();
  made->add_option("name", options.folder, "The folder to make; its name becomes the method's in plugin.toml")
      ->required();
  const auto [checked, folder] = add_command<std::filesystem::path>(
      *command, "check", "Hold a method to the protocol and to each promise of its plugin.toml", run_check, globals);
  checked->fallthrough();
  checked->add_option("folder", folder, "The folder with plugin.toml")->required();
}

}  // namespace opshap::cli
