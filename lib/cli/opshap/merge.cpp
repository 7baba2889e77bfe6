// `opshap merge`: what processes did with --shard becomes one run.

#include <iostream>
#include <memory>

#include "cli/commands.hpp"
#include "runs/merge_parts.hpp"

namespace opshap::cli {

namespace {

struct Options {
  std::filesystem::path run;
  std::vector<std::filesystem::path> from;
};

}  // namespace

void add_merge(CLI::App& app, const Globals& globals) {
  auto* command = app.add_subcommand(
      "merge",
      "Put the parts of a run together, which were done with --shard; the run's command without --shard then ends it");
  const auto options = std::make_shared<Options>();
  command->add_option("RUN", options->run, "Folder of the run")->required();
  command->add_option("--from", options->from, "Copies of the run from other machines, with more of its parts");
  command->callback([options, &globals] {
    const std::int64_t parts = runs::merge_parts(options->run, options->from);
    if (globals.json) return print_json({{"run", options->run.string()}, {"parts", parts}});
    std::cout << options->run.string() << ": " << parts << " parts\n";
  });
}

}  // namespace opshap::cli
