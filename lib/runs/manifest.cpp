#include "runs/manifest.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "core/error.hpp"
#include "core/strict_json.hpp"
#include "runs/row_files.hpp"

namespace opshap::runs {

using Json = nlohmann::ordered_json;

namespace {

/// "2026-01-31T12:00:00Z".
std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// The part of a text from there on that fits into a message.
std::string excerpt(const std::string& text, std::size_t from = 0) {
  const std::string part = text.substr(std::min(from, text.size()), 120);
  return message(from > 0 ? "..." : "", part, from + part.size() < text.size() ? "..." : "");
}

/// The first place where two texts of JSON differ, in words that fit into a message.
std::string first_difference(const Json& then, const Json& now, const std::string& path) {
  const auto name_of = [&path](const std::string& key) { return path.empty() ? key : path + "." + key; };
  if (then == now) return "";
  if (then.is_object() && now.is_object()) {
    for (const auto& [key, value] : now.items()) {
      if (!then.contains(key)) return message(name_of(key), ": not there, and now ", excerpt(value.dump()));
      if (std::string found = first_difference(then[key], value, name_of(key)); !found.empty()) return found;
    }
    for (const auto& [key, value] : then.items())
      if (!now.contains(key)) return message(name_of(key), ": ", excerpt(value.dump()), ", and now none");
  }
  // Of long texts that begin alike a reader wants to see where they differ.
  const std::string was = then.dump(), is = now.dump();
  const auto alike = static_cast<std::size_t>(std::ranges::mismatch(was, is).in1 - was.begin());
  const std::size_t from = alike < 80 ? 0 : alike - 30;
  return message(path.empty() ? "settings" : path, ": ", excerpt(was, from), ", and now ", excerpt(is, from));
}

/// Whether a run ended no stage and made no file but these two: it was stopped by its own mistake, and binds nobody.
bool left_nothing(const std::filesystem::path& folder, const Json& manifest) {
  const Json stages = manifest.value("stages", Json());
  if (!stages.is_array()) return false;
  for (const Json& stage : stages)
    if (!stage.is_object() || stage.value("ended", Json()) != false) return false;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename() != "manifest.json" && entry.path().filename() != "log.jsonl") return false;
  return true;
}

Json new_manifest(const Beginning& beginning) {
  Json json = {{"schema", beginning.schema}};
  json.update(beginning.subject);
  json.update({{"seed", beginning.seed},
               {"command", beginning.command},
               {"commit", beginning.commit},
               {"dirty", beginning.dirty},
               {"started", now_utc()},
               {"stages", Json::array()},
               {"environment", beginning.environment}});
  // The program's own path would name a folder of this machine.
  if (!beginning.command.empty()) json["command"][0] = "opshap";
  return json;
}

Json found_manifest(const std::filesystem::path& path, const Beginning& beginning, const OtherSettings& other) {
  const std::string who = message(beginning.who, ": path=", path.string());
  Json json = strict_json<Json>(read_file(path), who);
  require<DataError>(json.is_object() && json.value("schema", Json()) == beginning.schema &&
                         json.contains("settings") && json.value("resumed", Json::array()).is_array(),
                     who, " (is not a manifest of schema ", beginning.schema,
                     "). Choose another --out, or remove the folder.");
  std::string differs =
      other ? other(json["settings"]) : first_difference(json["settings"], beginning.subject.at("settings"), "");
  if (json.value("seed", Json()) != beginning.seed)
    differs += message(differs.empty() ? "" : "; ", "seed: ", json.value("seed", Json()), ", and now ", beginning.seed);
  if (!differs.empty() && left_nothing(path.parent_path(), json)) return new_manifest(beginning);
  require(differs.empty(), beginning.who, ": --out=", path.parent_path().string(),
          " (holds a run of other settings: ", differs, "). Choose another folder, or remove this one.");
  if (!beginning.makes_lost_rows) require_rows_to_go_on(path.parent_path(), json, beginning.who);
  // What a run says of itself is said by the program that ends it.
  json.update(beginning.subject);
  Json sitting = {{"time", now_utc()}, {"commit", beginning.commit}, {"dirty", beginning.dirty}};
  if (beginning.environment != json.value("environment", Json())) sitting["environment"] = beginning.environment;
  json["resumed"].push_back(std::move(sitting));
  return json;
}

/// The beginning of a part. A run that is put together, or done without parts, has nothing left for one.
Beginning of_part(Beginning beginning, const std::filesystem::path& run, const Part& part) {
  for (const char* name : {"units", "results.jsonl"})
    require(!is_there(file_of_rows(run, name)), beginning.who, ": --shard=", part.index, "/", part.of, ", ", name, " (",
            run.string(), " has this already: its parts are merged, or it is done without any). Leave --shard ",
            "out to end it.");
  beginning.subject["part"] = to_json(part);
  return beginning;
}

}  // namespace

std::vector<Stage> stages_of(const Json& manifest) try {
  std::vector<Stage> stages;
  const Json before = manifest.value("seconds", Json::object());
  require<DataError>(before.is_object(), "seconds (is not an object)");
  for (const auto& [name, seconds] : before.items()) {
    require<DataError>(seconds.is_number(), "seconds of ", name, " (is not a number)");
    stages.push_back({.name = name, .device = "cpu", .seconds = seconds.get<double>(), .pieces = 1});
  }
  const Json listed = manifest.value("stages", Json::array());
  require<DataError>(listed.is_array(), "stages (is not a list)");
  for (const Json& stage : listed)
    stages.push_back({.name = stage.at("name").get<std::string>(),
                      .device = stage.at("device").get<std::string>(),
                      .seconds = stage.at("seconds").get<double>(),
                      .pieces = stage.at("pieces").get<int>(),
                      .ended = stage.at("ended").get<bool>()});
  return stages;
} catch (const nlohmann::json::exception& error) {
  throw DataError(message("stages (", error.what(), ")"));
}

Json written_stages(const std::vector<Stage>& stages) {
  Json list = Json::array();
  for (const Stage& stage : stages)
    list.push_back({{"name", stage.name},
                    {"device", stage.device},
                    {"seconds", stage.seconds},
                    {"pieces", stage.pieces},
                    {"ended", stage.ended}});
  return list;
}

Manifest::Manifest(const std::filesystem::path& folder, const Beginning& beginning, const OtherSettings& other)
    : path_((require_unpacked_rows(folder, beginning.who), make_folder(folder), folder / "manifest.json")),
      lock_(folder, beginning.who),
      log_(folder / "log.jsonl"),
      json_(is_there(path_) ? found_manifest(path_, beginning, other) : new_manifest(beginning)) {
  try {
    stages_ = stages_of(json_);
  } catch (const DataError& error) {
    throw DataError(message(beginning.who, ": path=", path_.string(), ", ", error.what(),
                            ". Choose another --out, or remove the folder."));
  }
  json_.erase("seconds");
  write();
}

Manifest::Manifest(const std::filesystem::path& run, const Part& part, const Beginning& beginning,
                   const OtherSettings& other)
    : Manifest(part.folder(run), part.whole() ? beginning : of_part(beginning, run, part), other) {}

void Manifest::took_at_least(const std::string& stage, double seconds) {
  double& of_all_sittings = booked(stage).seconds;
  of_all_sittings = std::max(of_all_sittings, seconds);
  write();
}

Stage& Manifest::booked(const std::string& stage) {
  const auto found = std::ranges::find(stages_, stage, &Stage::name);
  return found != stages_.end() ? *found : stages_.emplace_back(Stage{.name = stage, .device = "cpu"});
}

void Manifest::finish() {
  if (!json_.contains("part")) return;
  json_["finished"] = true;
  write();
}

void Manifest::book_load() {
  const ProcessorTime used = processor_time().since(begun_);
  Json& sitting = json_.contains("resumed") ? json_["resumed"].back() : json_;
  sitting["load"] = {{"wall_seconds", used.wall},
                     {"cpu_seconds", used.own},
                     {"other_cpu_seconds", used.of_others()},
                     {"processors", used.processors}};
}

void Manifest::write() const {
  lock_.require_there();
  Json json = json_;
  json["stages"] = written_stages(stages_);
  write_file(path_, json.dump(2) + '\n');
}

void Manifest::do_stage(const std::string& name, const std::string& device, const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  log_.append(Json{{"time", now_utc()}, {"stage", name}, {"event", "begins"}}.dump());
  // From now on the rows change, and a kill may stop that anywhere.
  if (json_.erase("rows") > 0) write();
  const auto stop = [&](const char* event) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    log_.append(Json{{"time", now_utc()}, {"stage", name}, {"event", event}, {"seconds", seconds}}.dump());
    Stage& stage = booked(name);
    stage.device = device;
    stage.seconds += seconds;
    if (!stage.ended) ++stage.pieces;
    stage.ended = stage.ended || event == std::string_view("finished");
    book_load();
  };
  try {
    work();
    stop("finished");
    Json sums = sums_of_rows(path_.parent_path());
    if (!sums.empty()) json_["rows"] = std::move(sums);
    write();
  } catch (const Error&) {
    stop("stopped");
    write();
    throw;
  }
}

}  // namespace opshap::runs
