#include "cli/environment.hpp"
#include "cli/manifest.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/file.hpp"

namespace opshap::cli {

namespace {

/// Whether a run that stored these settings is one of this profile. Settings that cannot be read are another version's.
bool is_run_of(const std::string& settings, const std::string& source, const Profile& profile) {
  try {
    return identity(parse_profile(settings, source)) == identity(profile);
  } catch (const InvalidArgument&) {
    return false;
  }
}

}  // namespace

Manifest::Manifest(const std::filesystem::path& run, const Profile& profile, const Globals& globals)
    : path_(run / "manifest.json"), log_(run / "log.jsonl") {
  const std::string settings = to_toml(profile);
  if (std::filesystem::exists(path_)) {
    json_ = nlohmann::ordered_json::parse(read_file(path_), nullptr, false);
    require<DataError>(json_.is_object() && json_.contains("settings") && json_.contains("seconds"),
                       "manifest: path=", path_.string(),
                       " (is not a run's manifest). Remove the folder or choose another --out.");
    require(is_run_of(json_["settings"].value("toml", ""), path_.string(), profile) &&
                json_.value("seed", std::uint64_t{0}) == globals.seed,
            "reproduce: --out=", run.string(),
            " (holds a run of other settings or another seed). Choose another folder, or remove this one.");
    nlohmann::ordered_json sitting = {{"time", now_utc()}, {"commit", version::commit}, {"dirty", version::dirty}};
    if (const auto environment = network_environment(globals); environment != json_["environment"])
      sitting["environment"] = environment;
    json_["resumed"].push_back(sitting);
    write();
    return;
  }
  const std::vector<std::string> sentences = departures(profile);
  json_ = {{"schema", "opshap.manifest/1"},
           {"profile", profile.name},
           {"pde", profile.data.pde},
           {"seed", globals.seed},
           {"command", globals.arguments},
           {"commit", version::commit},
           {"dirty", version::dirty},
           {"started", now_utc()},
           {"seconds", {{"data", 0.0}, {"backbone", 0.0}, {"explainer", 0.0}, {"evaluation", 0.0}}},
           {"environment", network_environment(globals)},
           {"settings",
            {{"summary", profile.summary},
             {"train_samples", profile.data.train},
             {"validation_samples", profile.data.validation},
             {"test_inputs", profile.evaluation.inputs},
             {"resolutions", profile.resolutions},
             {"toml", settings}}},
           {"departures", sentences},
           {"comparable_with_paper", sentences.empty()}};
  // The program's own path would name a folder of this machine.
  if (!globals.arguments.empty()) json_["command"][0] = "opshap";
  write();
}

void Manifest::begin(const std::string& stage) {
  log_.append(nlohmann::ordered_json{{"time", now_utc()}, {"stage", stage}, {"event", "begins"}}.dump());
}

void Manifest::end(const std::string& stage, double seconds, bool finished) {
  log_.append(nlohmann::ordered_json{
      {"time", now_utc()}, {"stage", stage}, {"event", finished ? "finished" : "stopped"}, {"seconds", seconds}}
                  .dump());
  json_["seconds"][stage] = json_["seconds"].value(stage, 0.0) + seconds;
  write();
}

void Manifest::write() const { write_file(path_, json_.dump(2) + '\n'); }

}  // namespace opshap::cli
