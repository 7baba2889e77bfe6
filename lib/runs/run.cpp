#include "runs/run.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/strict_json.hpp"
#include "runs/json_row.hpp"
#include "runs/row_files.hpp"

namespace opshap::runs {

using Json = nlohmann::ordered_json;

namespace {

std::string in_words(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string words;
  for (const Json& element : value) words += message(words.empty() ? "" : ", ", in_words(element));
  return words;
}

std::vector<std::pair<std::string, std::string>> pairs_in_words(const json_row::Reader& reader, const char* key) {
  Json object = Json::object();
  reader.optional(key, object);
  require<DataError>(object.is_object(), key, " (is not an object)");
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [name, value] : object.items()) pairs.emplace_back(name, in_words(value));
  return pairs;
}

std::string joined_command(const json_row::Reader& reader) {
  std::vector<std::string> command;
  reader.optional("command", command);
  std::string line;
  for (const std::string& argument : command) line += (line.empty() ? "" : " ") + argument;
  return line;
}

/// A list of n or [nx, ny]; none where the settings do not have it.
std::vector<Resolution> resolutions_of(const Json& settings, const char* key) {
  std::vector<Json> entries;
  json_row::Reader(settings).optional(key, entries);
  std::vector<Resolution> found;
  for (const Json& entry : entries) {
    std::vector<int> shape;
    Json row = Json::object();
    row[key] = entry.is_array() ? entry : Json::array({entry});
    const json_row::Reader reader(row);
    reader(key, shape);
    require<DataError>(!shape.empty() && shape.size() <= 2, key, " (has an entry of ", shape.size(), " numbers)");
    found.emplace_back(std::move(shape));
  }
  return found;
}

/// The manifest itself is the first sitting.
Sitting sitting_of(const Json& json, const char* time) {
  require<DataError>(json.is_object(), "resumed (is not a list of objects)");
  const json_row::Reader reader(json);
  Sitting sitting;
  reader.optional(time, sitting.time);
  reader.optional("commit", sitting.commit);
  reader.optional("dirty", sitting.dirty);
  sitting.environment = pairs_in_words(reader, "environment");
  if (json.contains("load")) {
    Load& load = sitting.load.emplace();
    reader.nested("load", [&load](const json_row::Reader& of) {
      of("wall_seconds", load.wall);
      of("cpu_seconds", load.own);
      of("other_cpu_seconds", load.others);
      of("processors", load.processors);
    });
  }
  return sitting;
}

/// Those of a manifest, or of an entry of `parts`. One without an environment of its own has that of the first.
std::vector<Sitting> sittings_of(const Json& json) {
  std::vector<Sitting> sittings = {sitting_of(json, "started")};
  std::vector<Json> resumed;
  json_row::Reader(json).optional("resumed", resumed);
  for (const Json& entry : resumed) {
    sittings.push_back(sitting_of(entry, "time"));
    if (!entry.contains("environment")) sittings.back().environment = sittings.front().environment;
  }
  return sittings;
}

void take_manifest(Run& run, const Json& manifest) {
  const json_row::Reader reader(manifest);
  reader("profile", run.profile);
  reader("pde", run.pde);
  reader.optional("seed", run.seed);
  run.command = joined_command(reader);
  reader.optional("commit", run.commit);
  run.sittings = sittings_of(manifest);
  std::vector<Json> parts;
  reader.optional("parts", parts);
  for (const Json& part : parts) {
    for (Sitting& sitting : sittings_of(part)) run.sittings.push_back(std::move(sitting));
  }
  std::ranges::stable_sort(run.sittings, {}, &Sitting::time);
  Json seconds = Json::object(), settings = Json::object(), data = Json::object();
  reader.optional("seconds", seconds);
  reader.optional("settings", settings);
  reader.optional("data", data);
  require<DataError>(seconds.is_object() && settings.is_object() && data.is_object(),
                     "seconds, settings or data (is not an object)");
  const json_row::Reader of_stages(seconds);
  for (const auto& [stage, value] : seconds.items()) {
    double stage_seconds = 0;
    of_stages(stage.c_str(), stage_seconds);
    run.seconds.emplace_back(stage, stage_seconds);
  }
  run.settings = pairs_in_words(reader, "settings");
  run.resolutions = resolutions_of(settings, "resolutions");
  run.unseen = resolutions_of(settings, "unseen_resolutions");
  reader.optional("departures", run.departures);
  reader.optional("left_out", run.left_out);
  json_row::Reader(data).optional("imported_from", run.imported_from);
  reader.optional("comparable_with_paper", run.comparable_with_paper);
}

/// Of the file, which is kept as it is.
Json parsed_manifest(Run& run, const std::filesystem::path& path) {
  const std::string who = message("manifest: path=", path.string());
  run.manifest = read_file(path);
  Json manifest = strict_json<Json>(run.manifest, who);
  require<DataError>(manifest.is_object() && manifest.value("schema", Json()) == manifest_schema, who, " (is not an ",
                     manifest_schema, "). Name the folder of a run of this version.");
  try {
    take_manifest(run, manifest);
  } catch (const DataError& error) {
    throw DataError(message(who, ", ", error.what(), ". Run `opshap reproduce` again into another folder."));
  }
  return manifest;
}

/// Rows of another problem are of another run.
template <typename Row>
void require_problem(const Run& run, const std::vector<Row>& rows) {
  for (const Row& row : rows)
    require<DataError>(row.pde == run.pde, "run: folder=", run.folder.string(), ", pde=", run.pde,
                       " (of manifest.json, but the rows of type ", Row::schema, " are of ", row.pde,
                       "). Put the manifest and the rows of one run together.");
}

void require_one_problem(const Run& run) {
  require_problem(run, run.results.attributions);
  require_problem(run, run.results.values);
  require_problem(run, run.results.operators);
  require_problem(run, run.results.training);
  require_problem(run, run.results.fields);
  require_problem(run, run.results.drifts);
  require_problem(run, run.results.games);
}

}  // namespace

std::string Sitting::value(std::string_view key) const {
  const auto found =
      std::find_if(environment.begin(), environment.end(), [key](const auto& entry) { return entry.first == key; });
  return found == environment.end() ? "" : found->second;
}

std::optional<double> Sitting::others_share() const {
  if (!load || load->wall <= 0 || load->processors < 1) return std::nullopt;
  return load->others / (load->wall * load->processors);
}

double Run::total_seconds() const {
  double total = 0;
  for (const auto& [stage, stage_seconds] : seconds) total += stage_seconds;
  return total;
}

std::vector<Resolution> Run::missing_resolutions() const {
  std::set<Resolution> missing(resolutions.begin(), resolutions.end());
  missing.insert(unseen.begin(), unseen.end());
  for (const AttributionRow& row : results.attributions) missing.erase(Resolution(row.shape));
  return {missing.begin(), missing.end()};
}

Run read_run(const std::filesystem::path& folder) {
  require<DataError>(is_folder(folder), "run: folder=", folder.string(),
                     " (is not a folder). Name the folder that `opshap reproduce` wrote.");
  require<DataError>(is_there(folder / "manifest.json"), "run: folder=", folder.string(),
                     " (has no manifest.json). Name the folder that `opshap reproduce` wrote.");
  Run run;
  run.folder = folder;
  const Json manifest = parsed_manifest(run, folder / "manifest.json");
  run.results = read_results(folder);
  require<DataError>(!run.results.attributions.empty(), "run: folder=", folder.string(),
                     " (has no attributions yet). Let `opshap reproduce` finish; the same command resumes it.");
  require_one_problem(run);
  require_rows(folder, manifest, "run");
  for (ValuesRow& row : run.results.values) {
    if (row.method == reference_method) row = in_float32(std::move(row));
  }
  return run;
}

}  // namespace opshap::runs
