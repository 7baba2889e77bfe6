#include "runs/kept.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/strict_json.hpp"
#include "runs/gzip.hpp"
#include "runs/row_files.hpp"

namespace opshap::runs {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

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
  std::set<fs::path> named;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(run / "explainers", failure))
    named.insert(fs::path("explainers") / entry.path().filename());
  found.insert(found.end(), named.begin(), named.end());
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
