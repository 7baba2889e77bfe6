// `opshap merge`: what processes did with --shard becomes one run.

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "cli/commands.hpp"
#include "core/file.hpp"
#include "runs/merge_parts.hpp"

namespace opshap::cli {

namespace {

struct MergeOptions {
  std::filesystem::path run;
  std::vector<std::filesystem::path> from;
};

/// The run itself, or the runs in it: of several problems, or of a suite's games.
std::vector<std::filesystem::path> runs_in(const MergeOptions& options) {
  std::vector<std::filesystem::path> places = options.from;
  places.push_back(options.run);
  std::set<std::filesystem::path> names;
  for (const std::filesystem::path& place : places) {
    if (!is_folder(place) || is_there(place / "parts")) return {""};
    for (const auto& entry : std::filesystem::directory_iterator(place)) {
      if (is_there(entry.path() / "parts")) names.insert(entry.path().filename());
    }
  }
  if (names.empty()) return {""};
  return {names.begin(), names.end()};
}

void run_merge(const MergeOptions& options, const Globals& globals) {
  nlohmann::ordered_json merged = nlohmann::ordered_json::array();
  for (const std::filesystem::path& name : runs_in(options)) {
    const auto in = [&](const std::filesystem::path& place) { return name.empty() ? place : place / name; };
    std::vector<std::filesystem::path> from;
    for (const std::filesystem::path& place : options.from) from.push_back(in(place));
    const std::int64_t parts = runs::merge_parts(in(options.run), from);
    merged.push_back({{"run", in(options.run).string()}, {"parts", parts}});
    if (!globals.json) std::cout << in(options.run).string() << ": " << parts << " parts\n";
  }
  if (globals.json) print_json({{"merged", merged}});
}

}  // namespace

void add_merge(CLI::App& app, const Globals& globals) {
  const auto [command, options] = add_command<MergeOptions>(
      app, "merge",
      "Put the parts of a run together, which were done with --shard; the run's command without --shard then ends it",
      run_merge, globals);
  command->add_option("RUN", options.run, "Folder of the run, or of several")->required();
  command->add_option("--from", options.from, "Copies of the run from other machines, with more of its parts");
}

}  // namespace opshap::cli
