// `opshap evaluate`: score explainers and estimators on the test inputs of a data set.

#include "evaluation/evaluate.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/doctor.hpp"
#include "cli/game_options.hpp"
#include "cli/globals.hpp"
#include "cli/operator_game.hpp"
#include "cli/profile.hpp"
#include "cli/trained_explainer.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "networks/networks.hpp"
#include "reporting/report_tables.hpp"
#include "reporting/scoreboard.hpp"
#include "runs/manifest.hpp"
#include "runs/run.hpp"

namespace opshap::cli {

namespace {

struct EvaluateOptions {
  std::filesystem::path data, operator_file;
  std::vector<std::filesystem::path> explainers;
  std::string profile = "smoke";
  std::string shard = "0/1";
  bool force = false;
};

/// By its own name where there is one alone, else by those of the files, which then must differ.
evaluation::Contestants trained_explainers(const EvaluateOptions& options, const Operator& backbone,
                                           const Globals& globals) {
  evaluation::Contestants explainers;
  for (const std::filesystem::path& file : options.explainers) {
    std::optional<std::string> name;
    if (options.explainers.size() > 1) name = file.stem();
    evaluation::add_contestant("evaluate: --explainer", explainers,
                               trained_explainer(file, backbone, globals.device, name), file.string());
  }
  return explainers;
}

/// What decides the rows: settings, and files by their contents.
nlohmann::ordered_json settings_of(const EvaluateOptions& options, const Profile& profile, const data::Dataset& data,
                                   const evaluation::Contestants& explainers) {
  nlohmann::ordered_json settings = {{"toml", identity(profile)},
                                     {"data", data.content_hash},
                                     {"operator", xxh64(read_file(options.operator_file))},
                                     {"explainers", nlohmann::ordered_json::object()}};
  for (std::size_t i = 0; i < explainers.size(); ++i)
    settings["explainers"][options.explainers[i].stem().string()] = explainers[i]->checksum();
  const auto programs = evaluation::programs(profile.evaluation);
  if (!programs.empty()) settings["peers"] = programs;
  return settings;
}

/// The table of a report's page, from the rows alone.
std::string scores_of(const std::filesystem::path& folder, const std::string& profile, const std::string& pde) {
  runs::Run run;
  run.folder = folder;
  run.profile = profile;
  run.pde = pde;
  run.results = runs::read_results(folder);
  return reporting::tables::methods(reporting::Scoreboard(run)).markdown();
}

void run(const EvaluateOptions& options, const Globals& globals) {
  require(!globals.out.empty(), "evaluate: --out (is missing: the rows need a folder). Give --out FOLDER.");
  const runs::Part part = runs::Part::parse("evaluate", options.shard);
  data::Dataset stored = data::read_dataset(options.data);
  const Profile profile = load_profile_for(options.profile, globals.config, options.data, stored);
  const data::Dataset data = at_points_of(profile, std::move(stored));
  const auto backbone = asked_operator(options.operator_file, globals);
  note_other_problem("evaluate", *backbone, data);
  const auto explainers = trained_explainers(options, *backbone, globals);
  const ScenarioRule rule = data::rule_for(profile.evaluation.scenario, data);
  for (std::size_t i = 0; i < explainers.size(); ++i)
    require_trained_for("evaluate", *explainers[i], options.explainers[i], *backbone, rule, options.force);
  const nlohmann::ordered_json settings = settings_of(options, profile, data, explainers);
  runs::Manifest manifest(globals.out, part,
                          beginning("evaluate", "opshap.evaluation/1", globals, network_environment(globals),
                                    {{"pde", data.pde}, {"settings", settings}}));
  const evaluation::Evaluation evaluation{.backbone = *backbone,
                                          .explainers = explainers,
                                          .data = data,
                                          .settings = profile.evaluation,
                                          .seed = globals.seed,
                                          .identity = message(settings.dump(), "seed=", globals.seed)};
  const std::filesystem::path folder = part.folder(globals.out);
  manifest.stage("evaluation", [&] { evaluation::evaluate(evaluation, folder, part); });
  manifest.finish();
  if (part.whole() && !globals.json) std::cout << scores_of(folder, options.profile, data.pde) << '\n';
  print_path(globals, "rows", part.whole() ? folder / "results.jsonl" : folder);
}

}  // namespace

void add_evaluate(CLI::App& app, const Globals& globals) {
  const auto [command, options] = add_command<EvaluateOptions>(
      app, "evaluate",
      "Score explainers and estimators on the test inputs against a reference; --out gets results.jsonl", run, globals);
  command->add_option("--data", options.data, "Data set (.h5)")->required();
  command->add_option("--operator", options.operator_file, "Backbone (.safetensors)")->required();
  command->add_option("--explainer", options.explainers, "Explainers (.safetensors); several are told apart by name")
      ->required();
  command->add_option("--profile", options.profile, "Profile whose [evaluation] is used")->capture_default_str();
  add_force(*command, options.force);
  add_shard(*command, options.shard);
}

}  // namespace opshap::cli
