#include "runs/run.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "core/file.hpp"

namespace opshap::runs {

namespace {

using Json = nlohmann::ordered_json;

std::string in_words(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string words;
  for (const Json& element : value) words += message(words.empty() ? "" : ", ", in_words(element));
  return words;
}

std::vector<std::pair<std::string, std::string>> pairs_in_words(const Json& manifest, const char* key) {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (manifest.contains(key)) {
    for (const auto& [name, value] : manifest[key].items()) pairs.emplace_back(name, in_words(value));
  }
  return pairs;
}

std::string joined_command(const Json& manifest) {
  std::string line;
  if (manifest.contains("command")) {
    for (const Json& argument : manifest["command"]) line += message(line.empty() ? "" : " ", in_words(argument));
  }
  return line;
}

/// The manifest itself is the first sitting.
Sitting sitting_of(const Json& json, const char* time) {
  return {.time = json.value(time, ""),
          .commit = json.value("commit", ""),
          .dirty = json.value("dirty", false),
          .environment = pairs_in_words(json, "environment")};
}

void read_manifest(Run& run, const std::filesystem::path& path) {
  run.manifest = read_file(path);
  const Json manifest = Json::parse(run.manifest, nullptr, false);
  require<DataError>(manifest.is_object() && manifest.value("schema", "") == manifest_schema,
                     "manifest: path=", path.string(), " (is not an ", manifest_schema,
                     "). Name the folder of a run of this version.");
  try {
    run.profile = manifest.at("profile").get<std::string>();
    run.pde = manifest.at("pde").get<std::string>();
    run.seed = manifest.value("seed", std::uint64_t{0});
    run.command = joined_command(manifest);
    run.commit = manifest.value("commit", "");
    run.sittings = {sitting_of(manifest, "started")};
    if (manifest.contains("seconds")) {
      for (const auto& [stage, seconds] : manifest["seconds"].items())
        run.seconds.emplace_back(stage, seconds.get<double>());
    }
    run.settings = pairs_in_words(manifest, "settings");
    if (manifest.contains("settings")) {
      run.resolutions = manifest["settings"].value("resolutions", std::vector<int>{});
      run.unseen = manifest["settings"].value("unseen_resolutions", std::vector<int>{});
    }
    if (manifest.contains("resumed")) {
      for (const Json& sitting : manifest["resumed"]) run.sittings.push_back(sitting_of(sitting, "time"));
    }
    run.departures = manifest.value("departures", std::vector<std::string>{});
    if (manifest.contains("data")) run.imported_from = manifest["data"].value("imported_from", "");
    run.comparable_with_paper = manifest.value("comparable_with_paper", false);
  } catch (const Json::exception& error) {
    throw DataError(message("manifest: path=", path.string(), " (", error.what(),
                            "). Run `opshap reproduce` again into another folder."));
  }
}

}  // namespace

std::string Sitting::value(std::string_view key) const {
  const auto found =
      std::find_if(environment.begin(), environment.end(), [key](const auto& entry) { return entry.first == key; });
  return found == environment.end() ? "" : found->second;
}

double Run::total_seconds() const {
  double total = 0;
  for (const auto& [stage, stage_seconds] : seconds) total += stage_seconds;
  return total;
}

std::vector<int> Run::missing_resolutions() const {
  std::set<int> missing(resolutions.begin(), resolutions.end());
  missing.insert(unseen.begin(), unseen.end());
  for (const AttributionRow& row : results.attributions) {
    for (const int points : row.shape) missing.erase(points);
  }
  return {missing.begin(), missing.end()};
}

Run read_run(const std::filesystem::path& folder) {
  require<DataError>(std::filesystem::is_directory(folder), "run: folder=", folder.string(),
                     " (is not a folder). Name the folder that `opshap reproduce` wrote.");
  require<DataError>(std::filesystem::exists(folder / "manifest.json"), "run: folder=", folder.string(),
                     " (has no manifest.json). Name the folder that `opshap reproduce` wrote.");
  Run run;
  run.folder = folder;
  read_manifest(run, folder / "manifest.json");
  run.results = read_results(folder);
  require<DataError>(!run.results.attributions.empty(), "run: folder=", folder.string(),
                     " (has no attributions yet). Let `opshap reproduce` finish; the same command resumes it.");
  return run;
}

}  // namespace opshap::runs
