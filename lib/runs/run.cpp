#include "runs/run.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/strict_json.hpp"
#include "runs/manifest.hpp"
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

/// A list of n, [nx, ny] or "own"; none where the settings do not have it.
std::vector<Resolution> resolutions_of(const Json& settings, const char* key) {
  std::vector<Json> entries;
  json_row::Reader(settings).optional(key, entries);
  std::vector<Resolution> found;
  for (const Json& entry : entries) {
    if (entry == "own") {
      found.push_back(Resolution::own());
      continue;
    }
    std::vector<int> shape;
    const Json row = {{key, entry.is_array() ? entry : Json::array({entry})}};
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

/// Its words; "" of a manifest without a command.
std::string command_of(const json_row::Reader& manifest) {
  std::vector<std::string> command;
  manifest.optional("command", command);
  std::string words;
  for (const std::string& argument : command) words += (words.empty() ? "" : " ") + argument;
  return words;
}

void take_manifest(Run& run, const Json& manifest) {
  const json_row::Reader reader(manifest);
  reader("profile", run.profile);
  reader("pde", run.pde);
  reader.optional("seed", run.seed);
  run.command = command_of(reader);
  reader.optional("commit", run.commit);
  run.sittings = sittings_of(manifest);
  std::vector<Json> parts;
  reader.optional("parts", parts);
  for (const Json& part : parts) {
    for (Sitting& sitting : sittings_of(part)) run.sittings.push_back(std::move(sitting));
  }
  std::ranges::stable_sort(run.sittings, {}, &Sitting::time);
  Json settings = Json::object(), data = Json::object();
  reader.optional("settings", settings);
  reader.optional("data", data);
  require<DataError>(settings.is_object() && data.is_object(), "settings or data (is not an object)");
  for (const Stage& stage : stages_of(manifest)) run.seconds.emplace_back(stage.name, stage.seconds);
  run.settings = pairs_in_words(reader, "settings");
  run.resolutions = resolutions_of(settings, "resolutions");
  run.unseen = resolutions_of(settings, "unseen_resolutions");
  reader.optional("departures", run.departures);
  reader.optional("left_out", run.left_out);
  json_row::Reader(data).optional("imported_from", run.imported_from);
  json_row::Reader(data).optional("import_notes", run.import_notes);
  reader.optional("comparable_with_paper", run.comparable_with_paper);
}

/// Of the file, which is kept as it is.
Json parsed_manifest(Run& run, const std::filesystem::path& path) {
  const std::string who = message("manifest: path=", path.string());
  run.manifest = read_file(path);
  Json manifest = strict_json<Json>(run.manifest, who);
  const Json schema = manifest.is_object() ? manifest.value("schema", Json()) : Json();
  require<DataError>(schema == manifest_schema, who, " (",
                     schema.is_string() ? "is of " + schema.get<std::string>() : "has no schema", ", not of ",
                     manifest_schema,
                     "). Name the folder of a run of `opshap reproduce`; what `opshap evaluate` "
                     "leaves are the rows of its results.jsonl.");
  try {
    take_manifest(run, manifest);
  } catch (const DataError& error) {
    throw DataError(message(who, ", ", error.what(), ". Run `opshap reproduce` again into another folder."));
  }
  return manifest;
}

/// Rows of another problem are of another run.
void require_one_problem(const Run& run) {
  const auto require_problem = [&run]<typename Row>(const std::vector<Row>& rows) {
    for (const Row& row : rows)
      require<DataError>(row.pde == run.pde, "run: folder=", run.folder.string(), ", pde=", run.pde,
                         " (of manifest.json, but the rows of type ", Row::schema, " are of ", row.pde,
                         "). Put the manifest and the rows of one run together.");
  };
  const auto require_all = [&](const auto&... rows) { (require_problem(rows), ...); };
  const Results& of = run.results;
  require_all(of.attributions, of.values, of.operators, of.training, of.fields, of.drifts, of.games);
}

}  // namespace

std::string Sitting::value(std::string_view key) const {
  const auto found = std::ranges::find(environment, key, &std::pair<std::string, std::string>::first);
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

std::string origin(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "manifest.json";
  if (!is_there(path)) return {};
  const Json manifest = strict_json<Json>(read_file(path), message("manifest: path=", path.string()));
  std::string commit = "unknown";
  std::uint64_t seed = 0;
  const json_row::Reader reader(manifest);
  reader.optional("commit", commit);
  reader.optional("seed", seed);
  return message(command_of(reader), " (seed ", seed, ", commit ", commit, ')');
}

Run read_run(const std::filesystem::path& folder) {
  require<DataError>(is_there(folder / "manifest.json"), "run: folder=", folder.string(),
                     is_folder(folder) ? " (has no manifest.json)" : " (is not a folder)",
                     ". Name the folder that `opshap reproduce` wrote.");
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

namespace fs = std::filesystem;

namespace {

constexpr std::string_view results_name = "results.jsonl", references_name = "references.jsonl";

/// What tells one run from another.
constexpr std::string_view keys_of_a_run[] = {"schema", "pde", "seed", "settings", "started"};

Json manifest_in(const fs::path& folder) {
  const fs::path path = folder / "manifest.json";
  Json json = strict_json<Json>(read_file(path), message("keep: path=", path.string()));
  require<DataError>(json.is_object(), "keep: path=", path.string(), " (is no manifest). Choose another folder.");
  return json;
}

/// The folder is new, empty, or holds this run already.
void require_place(const Json& manifest, const fs::path& run, const fs::path& folder) {
  std::error_code failure;
  require(!fs::equivalent(run, folder, failure), "keep: folder=", folder.string(),
          " (is that of the run itself). Choose another folder.");
  if (!is_there(folder)) return;
  require(is_folder(folder), "keep: folder=", folder.string(), " (is no folder). Choose another path.");
  if (!is_there(folder / "manifest.json")) {
    require(fs::is_empty(folder), "keep: folder=", folder.string(),
            " (holds files, and no manifest.json that says of which run). Choose another folder.");
    return;
  }
  const Json found = manifest_in(folder);
  for (const std::string_view key : keys_of_a_run)
    require(found.value(key, Json()) == manifest.value(key, Json()), "keep: folder=", folder.string(),
            " (holds another run: its ", key, " is not that of ", run.string(),
            "). Choose another folder, or remove this one.");
  for (const std::string_view name : {results_name, references_name})
    require(!is_there(folder / name), "keep: path=", (folder / name).string(),
            " (would stand beside the same rows packed). Remove it.");
}

void keep_file(const fs::path& from, const fs::path& to) {
  if (is_file(from)) write_file(to, read_file(from));
}

void write_packed(const fs::path& folder, std::string_view name, std::string_view text) {
  write_file(folder / message(name, packed_ending), gzip(text));
}

/// The folders of the trainings, relative to the run's.
std::vector<fs::path> trainings(const fs::path& run) {
  std::vector<fs::path> found = {"backbone", "explainer"};
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(run / "explainers", failure))
    found.push_back(fs::path("explainers") / entry.path().filename());
  return found;
}

/// The files of rows that the run has, or had, and the kept folder has not.
std::vector<std::string> names_left_out(const Run& run, const Json& kept_rows) {
  std::set<std::string> names(run.left_out.begin(), run.left_out.end());
  const Json had = sums_of_rows(run.folder);
  for (const auto& [name, sum] : had.items()) names.insert(name);
  std::erase_if(names, [&](const std::string& name) { return kept_rows.contains(name); });
  return {names.begin(), names.end()};
}

}  // namespace

void keep_run(const Run& run, const fs::path& folder) {
  Json manifest = manifest_in(run.folder);
  require_place(manifest, run.folder, folder);
  make_folder(folder);
  for (const char* name : {"config.resolved.toml", "log.jsonl", "training.jsonl"})
    keep_file(run.folder / name, folder / name);
  for (const fs::path& training : trainings(run.folder)) {
    for (const char* name : {"summary.json", "metrics.jsonl"})
      keep_file(run.folder / training / name, folder / training / name);
  }
  write_packed(folder, results_name, read_rows_file(file_of_rows(run.folder, results_name)));
  keep_references(run.results, folder);
  manifest["rows"] = sums_of_rows(folder);
  manifest["left_out"] = names_left_out(run, manifest["rows"]);
  write_file(folder / "manifest.json", manifest.dump(2) + '\n');
}

void keep_comparison(const fs::path& folder, const fs::path& keep) {
  require_place(manifest_in(folder), folder, keep);
  make_folder(keep);
  keep_file(folder / "truth.json", keep / "truth.json");
  if (has_rows(folder, results_name))
    write_packed(keep, results_name, read_rows_file(file_of_rows(folder, results_name)));
  keep_file(folder / "manifest.json", keep / "manifest.json");
}

void keep_references(const Results& results, const fs::path& folder) {
  std::string lines;
  for (const ValuesRow& row : results.values) {
    if (row.method == reference_method) lines += to_json_line(in_float32(row)) + '\n';
  }
  if (!lines.empty()) write_packed(folder, references_name, lines);
}

}  // namespace opshap::runs
