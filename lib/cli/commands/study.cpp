// `opshap study`: studies of a finished run.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands.hpp"
#include "cli/doctor.hpp"
#include "cli/profile.hpp"
#include "cli/studied_run.hpp"
#include "cli/trained_explainer.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/dataset.hpp"
#include "evaluation/certified_reference.hpp"
#include "networks/networks.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;

evaluation::HeldOutPlan StudiedRun::plan(const StudiedGames& games, std::uint64_t seed) const {
  const std::size_t tests = data.explained(data::Split::test, profile.explainer.scenario).size();
  require(static_cast<std::size_t>(games.inputs) <= tests, "study: --inputs=", games.inputs, " (the data set has ",
          tests,
          data.node_types.empty() ? " test samples). Lower it." : " test flows that can be explained). Lower it.");
  return {.op = *op,
          .inputs = test_inputs(data, profile.explainer.scenario, games.inputs),
          .rule = data::rule_for(profile.explainer.scenario, data),
          .resolutions = profile.resolutions,
          .any_query = games.any_query,
          .reference = {.relative_error = games.reference_error,
                        .max_evaluations = profile.evaluation.reference_budget,
                        .exact_players = profile.evaluation.exact_players},
          .seed = seed};
}

std::string StudiedRun::identity(const StudiedGames& games, std::uint64_t seed) const {
  return nlohmann::ordered_json{{"data", data.content_hash},
                                {"operator", op_checksum},
                                {"scenario", profile.explainer.scenario.describe()},
                                {"resolutions", profile.resolutions},
                                {"inputs", games.inputs},
                                {"any_query", games.any_query},
                                {"reference_error", games.reference_error},
                                {"references", evaluation::reference_recipe},
                                {"seed", seed}}
      .dump();
}

std::string StudiedRun::subject() const { return message(profile.data.pde, ", ", op->describe()); }

fs::path data_file_of(const fs::path& run, const Profile& profile) {
  return profile.data.file ? fs::path(profile.data.file->path) : run / "data" / (profile.data.pde + ".h5");
}

data::Dataset read_data_for(const Profile& profile, const fs::path& file) {
  data::Dataset data = data::read_dataset(file);
  require(!profile.data.file || data.content_hash == profile.data.file->content_hash, "study: --data=", file.string(),
          ", content_xxh64=", data.content_hash, " (that of the run has another one). Give the file of the run.");
  data = at_points_of(profile, std::move(data));
  // A study may have fewer resolutions than the run, or others.
  return data.resolutions == profile.resolutions || profile.data.scattered > 0
             ? std::move(data)
             : data::served_at(std::move(data), profile.resolutions);
}

Profile profile_of_run(const fs::path& run, const fs::path& overrides) {
  const fs::path settings = run / "config.resolved.toml";
  if (!is_there(settings)) {
    std::vector<std::string> inside;
    std::error_code unreadable;
    for (const fs::directory_entry& entry : fs::directory_iterator(run, unreadable))
      if (is_there(entry.path() / settings.filename())) inside.push_back(entry.path().string());
    std::sort(inside.begin(), inside.end());
    require<DataError>(inside.empty(), "study: run=", run.string(), " (holds runs and is none). Give one of ",
                       joined(inside), ".");
    throw DataError(
        message("study: run=", run.string(), " (has no config.resolved.toml). Give a run of opshap reproduce."));
  }
  return load_profile(settings.string(), overrides);
}

StudiedRun read_studied_run(const fs::path& run, const fs::path& overrides, const Globals& globals) {
  StudiedRun studied{.profile = profile_of_run(run, overrides)};
  const fs::path weights = run / "backbone" / "model.safetensors";
  studied.data = read_data_for(studied.profile, data_file_of(run, studied.profile));
  studied.op = networks::library().load_operator(weights, "cpu", networks::Precision::float32, globals.engine);
  studied.op_checksum = xxh64(read_file(weights));
  return studied;
}

void add_studied_games(CLI::App& command, StudiedGames& games) {
  above_zero(command.add_option("--inputs", games.inputs, "Test inputs"))->capture_default_str();
  above_zero(command.add_option("--reference-error", games.reference_error, "Relative error of the references"))
      ->capture_default_str();
}

void add_any_query(CLI::App& command, StudiedGames& games) {
  command.add_flag("--any-query", games.any_query, "Each input at a random point, instead of the run's query");
}

void require_study(const Globals& globals) {
  require(!globals.out.empty(), "study: --out (is missing: the study needs a folder). Give --out FOLDER.");
  require(globals.device == "cpu", "study: --device=", globals.device, " (studies run on the CPU). Leave it out.");
  networks::library().require_fast_blas();
}

runs::Beginning study_beginning(const Globals& globals, const std::string& pde,
                                const nlohmann::ordered_json& settings) {
  return beginning("study", "opshap.study_manifest/1", globals, network_environment(globals),
                   {{"pde", pde}, {"settings", settings}});
}

void add_study(CLI::App& app, const Globals& globals) {
  auto* study = app.add_subcommand("study", "A study of a finished run; --out FOLDER gets rows and reports");
  study->require_subcommand(1);
  add_amortisation_study(*study, globals);
  add_methods_study(*study, globals);
  add_query_study(*study, globals);
  add_readings_study(*study, globals);
  add_reference_study(*study, globals);
}

}  // namespace opshap::cli
