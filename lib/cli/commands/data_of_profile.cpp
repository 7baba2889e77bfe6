#include "cli/commands/data_of_profile.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/profile.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/threads.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "reporting/table.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;

namespace {

struct Wanted {
  data::DatasetRequest request;
  fs::path file;
  bool there = false;
  data::Cost cost;
};

std::string megabytes(double bytes) { return fmt::format("{:.3g} MB", bytes / 1e6); }

/// Measures and prints what each set costs that is not there yet.
void estimate(std::vector<Wanted>& sets) {
  double seconds = 0, bytes = 0;
  for (Wanted& set : sets) {
    if (set.there) {
      if (verbosity() != Verbosity::quiet) std::cerr << fmt::format("estimate  {:<22} is there\n", set.request.pde);
      continue;
    }
    set.cost = data::measured_cost(set.request);
    seconds += set.cost.seconds;
    bytes += set.cost.bytes;
    if (verbosity() == Verbosity::quiet) continue;
    std::cerr << fmt::format("estimate  {:<22} {} samples, {} each: {} on {} threads, {}\n", set.request.pde,
                             set.request.layout.samples, reporting::show_seconds(set.cost.seconds_per_sample),
                             reporting::show_seconds(set.cost.seconds), threads(), megabytes(set.cost.bytes));
  }
  if (verbosity() != Verbosity::quiet && sets.size() > 1)
    std::cerr << fmt::format("estimate  all together: {}, {}\n", reporting::show_seconds(seconds), megabytes(bytes));
}

}  // namespace

void generate_for_profile(const Globals& globals, const std::string& profile, const std::vector<std::string>& pdes) {
  require(!globals.out.empty() && globals.out != "-",
          "data generate: --out (the data sets of a profile need a folder). Give --out FOLDER.");
  require(!is_there(globals.out) || is_folder(globals.out), "data generate: --out=", globals.out.string(),
          " (is a file, and the data sets of a profile need a folder). Choose another path.");
  std::vector<Wanted> sets;
  for (const Profile& each : load_profiles(profile, globals.config, pdes)) {
    const fs::path file = globals.out / (each.data.pde + ".h5");
    sets.push_back({.request = data_request(each, globals.seed), .file = file, .there = is_there(file), .cost = {}});
  }
  estimate(sets);
  fs::create_directories(globals.out);
  nlohmann::ordered_json made = nlohmann::ordered_json::array();
  for (const Wanted& set : sets) {
    data::generate(set.request, set.file);
    const auto metadata = nlohmann::ordered_json::parse(data::read_dataset_metadata(set.file));
    nlohmann::ordered_json entry = {{"pde", set.request.pde},
                                    {"file", set.file.string()},
                                    {"samples", set.request.layout.samples},
                                    {"content_xxh64", metadata.at("content_xxh64")}};
    if (!set.there) entry["estimated_seconds"] = set.cost.seconds;
    if (!globals.json) {
      std::cout << fmt::format("{}: {} samples of {}, xxh64 {}\n", set.file.string(), set.request.layout.samples,
                               set.request.pde, metadata.at("content_xxh64").get<std::string>());
    }
    made.push_back(std::move(entry));
  }
  if (globals.json) print_json({{"profile", profile}, {"data_sets", made}});
}

}  // namespace opshap::cli
