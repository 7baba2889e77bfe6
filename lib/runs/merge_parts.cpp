#include "runs/merge_parts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "core/strict_json.hpp"
#include "runs/manifest.hpp"
#include "runs/row_files.hpp"

namespace opshap::runs {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// What a part has done, and where.
struct Found {
  fs::path folder;
  Json manifest;
  Part part;

  std::string name() const { return message(part.index, "/", part.of); }
};

/// What decides the last bits of a number, of a manifest's environment.
constexpr std::array<const char*, 4> numeric_keys = {"compiler", "blas", "libtorch", "engine"};

/// The manifest of a run or of a part, with the types that this file relies on.
Json read_manifest(const fs::path& path) {
  const std::string who = message("merge: path=", path.string());
  Json json = strict_json<Json>(read_file(path), who);
  require<DataError>(json.is_object() && json.contains("schema") && json.contains("settings") && json.contains("seed"),
                     who, " (is not the manifest of a run). Name the folder of a run.");
  try {
    const json_row::Reader reader(json);
    std::string commit;
    bool finished = false;
    Json environment = Json::object();
    std::vector<Json> resumed;
    reader.optional("commit", commit);
    reader.optional("finished", finished);
    reader.optional("resumed", resumed);
    reader.optional("environment", environment);
    for (const Json& sitting : resumed) {
      require<DataError>(sitting.is_object(), "resumed (is not a list of objects)");
      json_row::Reader(sitting).optional("commit", commit);
    }
    require<DataError>(environment.is_object(), "environment (is not an object)");
    for (const char* key : numeric_keys) json_row::Reader(environment).optional(key, commit);
    stages_of(json);
  } catch (const DataError& error) {
    throw DataError(message(who, ", ", error.what(), ". Name the folder of a run."));
  }
  return json;
}

Found read_part(const fs::path& folder) {
  require_unpacked_rows(folder, "merge");
  Found found{.folder = folder, .manifest = read_manifest(folder / "manifest.json"), .part = {}};
  try {
    json_row::Reader(found.manifest).nested("part", [&found](const json_row::Reader& part) {
      part("index", found.part.index);
      part("of", found.part.of);
    });
    require<DataError>(found.part.of >= 1 && found.part.index >= 0 && found.part.index < found.part.of,
                       "part=", found.name(), " (is none)");
  } catch (const DataError& error) {
    throw DataError(message("merge: path=", (folder / "manifest.json").string(), ", ", error.what(),
                            ". Name the folder of a run that was done with --shard."));
  }
  require_rows(folder, found.manifest, message("merge: part=", found.name()));
  return found;
}

/// All parts, by index.
std::vector<Found> find_parts(const fs::path& run, const std::vector<fs::path>& others) {
  std::vector<fs::path> runs = {run};
  runs.insert(runs.end(), others.begin(), others.end());
  std::vector<Found> parts;
  const auto require_parts = [](bool there, const fs::path& place) {
    require<DataError>(there, "merge: folder=", place.string(),
                       " (has no parts). Name the folder of a run that was done with --shard.");
  };
  for (const fs::path& place : runs) {
    const fs::path folder = place / "parts";
    if (place == run && !others.empty() && !is_folder(folder)) continue;
    require_parts(is_folder(folder), place);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) parts.push_back(read_part(entry.path()));
  }
  require_parts(!parts.empty(), run);
  std::ranges::stable_sort(parts, {}, [](const Found& found) { return found.part.index; });
  return parts;
}

/// Every commit that worked on a part.
std::set<std::string> commits_of(const Json& manifest) {
  std::set<std::string> commits = {manifest.value("commit", "")};
  for (const Json& sitting : manifest.value("resumed", std::vector<Json>()))
    commits.insert(sitting.value("commit", ""));
  return commits;
}

/// What decides the last bits. The measured rate that stands behind the name of a BLAS does not.
std::map<std::string, std::string> numerics_of(const Json& manifest) {
  std::map<std::string, std::string> numerics;
  const Json environment = manifest.value("environment", Json::object());
  for (const char* key : numeric_keys) numerics[key] = environment.value(key, "");
  std::string& blas = numerics["blas"];
  blas.resize(std::min(blas.size(), blas.find(',')));
  return numerics;
}

void require_one_run(const std::vector<Found>& parts) {
  const Found& first = parts.front();
  const std::string commit = first.manifest.value("commit", "");
  const std::map<std::string, std::string> numerics = numerics_of(first.manifest);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Found& found = parts[i];
    const std::string who = message("merge: part=", found.name(), " in ", found.folder.string());
    require(found.part.of == first.part.of, who, " (the part in ", first.folder.string(), " is one of ", first.part.of,
            "). Remove the parts of one of the two.");
    require(i == 0 || parts[i - 1].part.index != found.part.index, who, " (is in ",
            parts[std::max<std::size_t>(i, 1) - 1].folder.string(), " as well). Leave one of them out.");
    for (const char* key : {"schema", "settings", "seed"})
      require(found.manifest[key] == first.manifest[key], who, " (has another ", key, " than part ", first.name(),
              "). Do it again with the settings of the others.");
    for (const std::string& worked : commits_of(found.manifest))
      require(worked == commit, who, " (was done by commit ", worked, ", part ", first.name(), " by ", commit,
              "). Do all parts with the same program.");
    for (const auto& [key, value] : numerics_of(found.manifest)) {
      const std::string& wanted = numerics.at(key);
      require(value == wanted, who, " (", key, "=", value, ", but part ", first.name(), " had ", wanted,
              ", so their last digits are not comparable). Do all parts with the same libraries.");
    }
    require(found.manifest.value("finished", false), who,
            " (is not finished). Run its command again, it goes on where it was.");
  }
  for (std::int64_t index = 0; index < first.part.of; ++index) {
    const bool there = std::ranges::any_of(parts, [&](const Found& found) { return found.part.index == index; });
    require(there, "merge: part=", index, "/", first.part.of, " (is missing). Run the command with --shard ", index,
            "/", first.part.of, ".");
  }
}

/// Name and checksum of a line of the list. The name is that of a file in the folder of units, and of no other one.
std::pair<std::string, std::string> unit_of(const std::string& line, const std::string& who) {
  std::pair<std::string, std::string> unit;
  try {
    const Json json = json_row::row_of_line(line);
    const json_row::Reader reader(json);
    reader("unit", unit.first);
    reader("xxh64", unit.second);
  } catch (const DataError& error) {
    throw DataError(message(who, " (has a broken line: ", error.what(), "). Do the part again."));
  }
  require<DataError>(is_plain_name(unit.first), who, ", unit=", unit.first,
                     " (is no name of a file in this folder). Do the part again.");
  return unit;
}

/// Checks the units of a part against its list, and puts them and their lines together with those of the others.
void join_units(const Found& found, const fs::path& staged) {
  const fs::path units = found.folder / "units";
  std::istringstream lines(read_file(units / "manifest.jsonl"));
  std::string joined = is_there(staged / "manifest.jsonl") ? read_file(staged / "manifest.jsonl") : std::string();
  for (std::string line; std::getline(lines, line);) {
    const auto [name, checksum] =
        unit_of(line, message("merge: part=", found.name(), ", path=", (units / "manifest.jsonl").string()));
    const std::string bytes = read_file(units / name);
    require<DataError>(xxh64(bytes) == checksum, "merge: part=", found.name(), ", unit=", name,
                       " (changed on disk since it was done). Do the part again.");
    require(!is_there(staged / name) || read_file(staged / name) == bytes, "merge: part=", found.name(),
            ", unit=", name, " (another part has done it too, with another result). Do all parts again.");
    write_file(staged / name, bytes);
    joined += line + '\n';
  }
  write_file(staged / "manifest.jsonl", joined);
}

/// Puts the files of all parts into the folder `staged`.
void join_files(const std::vector<Found>& parts, const fs::path& staged) {
  static const std::set<std::string> own = {"manifest.json", "log.jsonl"};
  for (const Found& found : parts) {
    for (const fs::directory_entry& entry : fs::directory_iterator(found.folder)) {
      const std::string name = entry.path().filename();
      if (own.contains(name)) continue;
      if (name == "units") {
        join_units(found, staged / name);
        continue;
      }
      require<DataError>(entry.is_regular_file(), "merge: part=", found.name(), ", folder=", name,
                         " (is none that a finished part has). Do the part again.");
      std::string bytes = read_file(entry.path());
      if (name == "results.jsonl") {
        if (is_there(staged / name)) bytes.insert(0, read_file(staged / name));
      } else {
        require(!is_there(staged / name) || read_file(staged / name) == bytes, "merge: part=", found.name(),
                ", file=", name, " (is another one than that of the parts before it). Do all parts again.");
      }
      write_file(staged / name, bytes);
    }
  }
}

/// What the run's manifest says of its parts.
Json booked(const std::vector<Found>& parts) {
  Json all = Json::array();
  for (const Found& found : parts) {
    Json part = to_json(found.part);
    for (const char* key : {"started", "commit", "dirty", "seconds", "stages", "environment", "load", "resumed"}) {
      if (found.manifest.contains(key)) part[key] = found.manifest[key];
    }
    all.push_back(std::move(part));
  }
  return all;
}

/// The run's manifest with the parts in it.
Json merged_manifest(const fs::path& run, const std::vector<Found>& parts) {
  const Json& first = parts.front().manifest;
  Json merged = first;
  if (is_there(run / "manifest.json")) {
    merged = read_manifest(run / "manifest.json");
    for (const char* key : {"schema", "settings", "seed"})
      require(merged[key] == first[key], "merge: folder=", run.string(), " (holds a run with another ", key,
              " than its parts). Remove what does not belong there.");
  } else {
    for (const char* key : {"part", "finished", "load", "resumed", "rows"}) merged.erase(key);
    merged["stages"] = Json::array();
  }
  if (merged.contains("parts")) {  // by a call that was killed
    require(merged["parts"] == booked(parts), "merge: folder=", run.string(),
            " (was put together from other parts before). Remove parts/, or do the run in another folder.");
    return merged;
  }
  merged["parts"] = booked(parts);
  std::vector<Stage> stages = stages_of(merged);
  for (const Found& found : parts) {
    for (const Stage& stage : stages_of(found.manifest)) {
      const auto known = std::ranges::find(stages, stage.name, &Stage::name);
      if (known == stages.end()) {
        stages.push_back(stage);
        continue;
      }
      known->device = stage.device;
      known->seconds += stage.seconds;
      known->pieces += stage.pieces;
      known->ended = stage.ended;
    }
  }
  merged.erase("seconds");
  merged["stages"] = written_stages(stages);
  return merged;
}

/// How many parts a call put together that was killed while it removed them, as `leaving`; else 0.
std::int64_t merged_before(const fs::path& run, const fs::path& leaving) {
  if (is_there(run / "parts") || !is_there(leaving) || !is_there(run / "manifest.json")) return 0;
  const Json parts = read_manifest(run / "manifest.json").value("parts", Json());
  return parts.is_array() ? static_cast<std::int64_t>(parts.size()) : 0;
}

}  // namespace

std::int64_t merge_parts(const fs::path& run, const std::vector<fs::path>& others) {
  require<DataError>(is_folder(run) || !others.empty(), "merge: folder=", run.string(),
                     " (has no parts: it is no folder). Name the folder of a run that was done with --shard.");
  require_unpacked_rows(run, "merge");
  std::optional<FolderLock> lock;
  if (is_folder(run)) lock.emplace(run, "merge");
  const fs::path leaving = temporary_name(run / "parts.merged"), staged = run / "parts.tmp";
  if (const std::int64_t merged = others.empty() ? merged_before(run, leaving) : 0; merged > 0) {
    fs::remove_all(leaving);
    fs::remove_all(staged);
    return merged;
  }
  const std::vector<Found> parts = find_parts(run, others);
  require_one_run(parts);
  if (!lock) lock.emplace((make_folder(run), run), "merge");  // a run that is put together from copies alone
  fs::remove_all(staged);
  join_files(parts, staged);
  const std::string manifest = merged_manifest(run, parts).dump(2) + '\n';
  const bool goes_on = is_there(run / "manifest.json") && read_file(run / "manifest.json") == manifest;
  for (const fs::directory_entry& entry : fs::directory_iterator(staged)) {
    const fs::path place = run / entry.path().filename();
    require(goes_on || !is_there(place), "merge: path=", place.string(),
            " (the run was also done without --shard). Finish it so, or remove this.");
  }
  write_file(run / "manifest.json", manifest);
  for (const fs::directory_entry& entry : fs::directory_iterator(staged)) {
    const fs::path place = run / entry.path().filename();
    fs::remove_all(place);
    fs::rename(entry.path(), place);
  }
  fs::remove_all(staged);
  // In one step: a call that is killed while it removes them leaves no half of them to be found.
  fs::remove_all(leaving);
  if (is_there(run / "parts")) fs::rename(run / "parts", leaving);
  fs::remove_all(leaving);
  return static_cast<std::int64_t>(parts.size());
}

}  // namespace opshap::runs
