// `opshap reproduce`: data, backbone, explainer, evaluation, report — one folder, resumable at every stage.

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stop_token>

#include "cli/commands.hpp"
#include "cli/doctor.hpp"
#include "cli/forecast.hpp"
#include "cli/globals.hpp"
#include "cli/profile.hpp"
#include "cli/trained_explainer.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/threads.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "data/import.hpp"
#include "evaluation/evaluate.hpp"
#include "methods/method.hpp"
#include "networks/networks.hpp"
#include "pde/registry.hpp"
#include "reporting/report.hpp"
#include "runs/manifest.hpp"
#include "runs/results.hpp"
#include "runs/run.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;

namespace {

/// What the manifest of a run of this profile says of it.
nlohmann::ordered_json subject(const Profile& profile) {
  nlohmann::ordered_json subject = {{"profile", profile.name}, {"pde", profile.data.pde}};
  if (const auto& file = profile.data.file) {
    subject["data"] = {
        {"file", file->path},
        {"content_xxh64", file->content_hash},
        {"imported_from", file->imported_from},
        {"import_notes", data::import_notes(nlohmann::ordered_json::parse(data::read_dataset_metadata(file->path)))},
        {"note", "The counts of samples are those of the file, not of the profile."}};
  }
  const auto programs = evaluation::programs(profile.evaluation);
  subject.update({{"settings",
                   {{"summary", profile.summary},
                    {"train_samples", profile.data.train},
                    {"validation_samples", profile.data.validation},
                    {"test_inputs", profile.evaluation.inputs},
                    {"resolutions", profile.resolutions},
                    {"unseen_resolutions", profile.evaluation.unseen},
                    {"game", profile.evaluation.scenario.describe()},
                    {"toml", to_toml(profile)}}},
                  {"departures", departures(profile)},
                  {"comparable_with_paper", comparable_with_paper(profile)}});
  if (!programs.empty()) subject["settings"]["peers"] = programs;
  return subject;
}

/// The first line in which two settled profiles differ, with the table that it stands in; empty where none does.
std::string other_line(const std::string& then, const std::string& now) {
  std::istringstream before(then), after(now);
  std::string table, line;
  for (std::string old; std::getline(after, line);) {
    if (!std::getline(before, old)) old = "nothing";
    if (line.starts_with("[")) table = line + " ";
    if (old != line) return message(table, old, ", and now ", line);
  }
  return before.peek() == std::istringstream::traits_type::eof() ? "" : "it has further settings";
}

/// In what a run that stored these settings is none of this profile with the same programs. Settings that cannot be
/// read are another version's. Runs of before did not store the programs, and are taken as they are.
runs::OtherSettings run_of(const Profile& profile) {
  const nlohmann::ordered_json programs = evaluation::programs(profile.evaluation);
  return [wanted = identity(profile), programs](const nlohmann::ordered_json& settings) -> std::string {
    if (settings.value("peers", programs) != programs) return "a program has changed since then";
    try {
      return other_line(identity(parse_profile(settings.value("toml", ""), "manifest.json")), wanted);
    } catch (const Error& error) {
      return message("this version cannot read them: ", error.what());
    }
  };
}

std::string training_line(const Profile& profile, const std::string& stage, const networks::TrainingSummary& summary,
                          const std::optional<std::string>& explainer = std::nullopt) {
  return runs::to_json_line(runs::TrainingRow{.pde = profile.data.pde,
                                              .stage = stage,
                                              .epochs = summary.epochs,
                                              .best_epoch = summary.best_epoch,
                                              .best_validation = summary.best_validation,
                                              .operator_evaluations = summary.operator_evaluations,
                                              .seconds = summary.seconds,
                                              .explainer = explainer}) +
         '\n';
}

/// The data set of a profile that names its file, at the resolutions of the profile.
std::optional<data::Dataset> given_data(const Profile& profile) {
  if (!profile.data.file) return std::nullopt;
  data::Dataset data = data::read_dataset(profile.data.file->path);
  require(data.pde == profile.data.pde, "reproduce: data=", profile.data.file->path, ", pde=", profile.data.pde,
          " (the data set is of ", data.pde, "). Leave the name of the problem out.");
  require(data.content_hash == profile.data.file->content_hash, "reproduce: data=", profile.data.file->path,
          ", content_xxh64=", data.content_hash, " (the run was begun with ", profile.data.file->content_hash,
          "). Give the file of that time, or choose another --out.");
  if (profile.data.scattered > 0) return at_points_of(profile, std::move(data));
  return data::served_at(std::move(data), profile.resolutions);
}

networks::NetworkSpaces spaces_of(const Profile& profile, const std::optional<data::Dataset>& given) {
  if (given) {
    return {.dimension = given->inputs.dimension(),
            .in_channels = given->inputs.channels(),
            .out_channels = given->targets.channels()};
  }
  if (profile.data.on_meshes()) {
    const auto channels = static_cast<int>(pde::find_trajectories(profile.data.pde).channels().size());
    return {.dimension = 2, .in_channels = channels, .out_channels = channels};
  }
  const std::unique_ptr<pde::Problem> problem = profile.data.problem();
  const pde::Space input = problem->input();
  return {.dimension = input.domain.dimension(),
          .in_channels = input.channel_count(),
          .out_channels = problem->output().channel_count()};
}

const std::vector<std::string> stage_names = {"data", "backbone", "explainer", "evaluation"};

/// What a run of one problem is told beside its profile.
struct Extent {
  runs::Part part;
  std::string last = stage_names.back();  ///< the stage that it ends with
  std::function<void()> when_data_are_there = [] {};
  std::stop_token stop = {};  ///< of the data
};

/// A part evaluates with what the run has trained.
void require_trained(const Profile& profile, const fs::path& run, const runs::Part& part) {
  std::vector<fs::path> trainings = {"backbone", "explainer"};
  for (const auto& [name, recipe] : profile.explainers) trainings.push_back(fs::path("explainers") / name);
  for (const fs::path& training : trainings)
    require(
        is_there(run / training / "summary.json"), "reproduce: --shard=", part.index, "/", part.of, ", ",
        training.string(), " (", run.string(),
        " has no such finished training yet). Run the same command with --stage explainer in place of --shard first.");
}

/// What the run, or its part, is told by: the page, the folder of the part, or that of a run that is only trained.
fs::path reproduce(const Profile& profile, const Globals& globals, const fs::path& run, const Extent& extent) {
  const networks::Networks& library = networks::library();
  library.require_device(globals.device);
  require(library.rank().alone(), "reproduce: ranks=", library.rank().size,
          " (ranks share a training alone). Train with `opshap train`, or share the evaluation out with --shard.");
  library.require_fast_blas();
  std::optional<data::Dataset> given = given_data(profile);
  // Settings of operator and target that cannot work are refused before there is data to train on.
  library.require_recipes(profile.backbone, profile.explainer, spaces_of(profile, given));
  for (const auto& [name, recipe] : profile.explainers)
    library.require_recipes(profile.backbone, recipe, spaces_of(profile, given));
  // So is a game that these data cannot have,
  if (given)
    scenario_at(data::rule_for(profile.evaluation.scenario, *given), given->inputs.one(0), profile.resolutions.front());
  // and so are methods that nobody knows, and programs that are not there.
  for (const std::string& name : profile.evaluation.methods) methods::resolve(name);
  const runs::Part& part = extent.part;
  if (!part.whole()) require_trained(profile, run, part);
  runs::Manifest manifest(
      run, part, beginning("reproduce", runs::manifest_schema, globals, network_environment(globals), subject(profile)),
      run_of(profile));
  if (part.whole()) write_file(run / "config.resolved.toml", to_toml(profile));

  const fs::path data_file = run / "data" / (profile.data.pde + ".h5");
  if (!given)
    manifest.stage("data", [&] { data::generate(data_request(profile, globals.seed), data_file, {}, extent.stop); });
  if (extent.last == "data") return run;
  const data::Dataset data = given ? std::move(*given) : at_points_of(profile, data::read_dataset(data_file));
  extent.when_data_are_there();

  // A finished training may have been brought into the folder. A part has none of its own.
  const auto training_stage = [&](const std::string& stage, const auto& train) {
    const networks::TrainingSummary summary = manifest.stage(stage, train, globals.device);
    if (part.whole()) manifest.took_at_least(stage, summary.seconds);
    return summary;
  };
  const networks::TrainingSummary backbone_summary = training_stage("backbone", [&] {
    return library.train_backbone(profile.backbone, data, globals.seed, run / "backbone", globals.device);
  });
  if (extent.last == "backbone") return run;
  const std::unique_ptr<Operator> backbone = library.load_operator(
      run / "backbone" / "model.safetensors", globals.device, networks::Precision::float32, globals.engine);

  std::string training_lines = training_line(profile, "backbone", backbone_summary);
  const auto train = [&](const networks::ExplainerRecipe& recipe, const fs::path& folder,
                         const std::optional<std::string>& name) {
    const networks::TrainingSummary summary = training_stage(name ? "explainer " + *name : "explainer", [&] {
      return library.train_explainer(recipe, *backbone, explainer_data(data, profile, recipe, globals.seed),
                                     globals.seed, run / folder, {}, globals.device);
    });
    training_lines += training_line(profile, "explainer", summary, name);
  };
  train(profile.explainer, "explainer", std::nullopt);
  for (const auto& [name, recipe] : profile.explainers) train(recipe, fs::path("explainers") / name, name);
  if (part.whole()) write_file(run / "training.jsonl", training_lines);
  if (extent.last == "explainer") return run;

  evaluation::Contestants explainers;
  const auto judge = [&](const fs::path& folder, const std::optional<std::string>& name) {
    explainers.push_back(trained_explainer(run / folder / "model.safetensors", *backbone, globals.device, name));
  };
  judge("explainer", std::nullopt);
  for (const auto& [name, recipe] : profile.explainers) judge(fs::path("explainers") / name, name);

  const auto evaluate = [&] {
    evaluation::evaluate({.backbone = *backbone,
                          .explainers = explainers,
                          .data = data,
                          .settings = profile.evaluation,
                          .seed = globals.seed,
                          .identity = message(identity(profile), "seed=", globals.seed)},
                         part.folder(run), part);
  };
  manifest.stage("evaluation", evaluate, globals.device);
  manifest.finish();
  return part.whole() ? reporting::write_report(run).page : part.folder(run);
}

struct ReproduceOptions {
  std::string profile = "smoke";
  std::vector<std::string> pdes;
  fs::path data;
  std::string shard = "0/1";
  std::string stage = stage_names.back();
  std::optional<double> minutes;
  bool dry_run = false;
  int ranks = 1;
};

void run_reproduce(const ReproduceOptions& options, const Globals& globals) {
  Extent extent{.part = {}, .last = options.stage};
  const bool whole = options.stage == stage_names.back();
  if (options.minutes) stop_after(60 * *options.minutes);
  if (!options.dry_run) extent.part = runs::Part::parse("reproduce", options.shard);
  const std::vector<Profile> profiles =
      !options.data.empty() ? std::vector{load_profile(options.profile, globals.config, settings_of_file(options.data))}
      : options.pdes.empty() ? std::vector{load_profile(options.profile, globals.config)}
                             : load_profiles(options.profile, globals.config, options.pdes);
  if (options.dry_run) return print_forecasts(profiles, options.ranks, globals);
  const fs::path runs = globals.out.empty() ? fs::path("runs") / profiles.front().name : globals.out;
  const bool alone = options.data.empty() && options.pdes.empty();
  std::unique_ptr<Ahead> ahead;
  for (auto profile = profiles.begin(); profile != profiles.end(); ++profile) {
    if (const auto made = std::exchange(ahead, nullptr)) made->wait();
    // A device leaves the processor to the data of the next problem.
    if (const auto next = profile + 1; globals.device != "cpu" && extent.part.whole() && next != profiles.end())
      extent.when_data_are_there = [&, next] {
        ahead = std::make_unique<Ahead>([&, next](const std::stop_token& stop) {
          reproduce(*next, globals, runs / next->data.pde, {.part = {}, .last = stage_names.front(), .stop = stop});
        });
      };
    else
      extent.when_data_are_there = [] {};
    const fs::path run = alone ? runs : runs / profile->data.pde;
    print_ending(globals, reproduce(*profile, globals, run, extent), run);
  }
  if (profiles.size() > 1 && extent.part.whole() && whole)
    print_path(globals, "report", reporting::write_report(runs).page);
}

}  // namespace

void add_reproduce(CLI::App& app, const Globals& globals) {
  const auto [command, options] = add_command<ReproduceOptions>(
      app, "reproduce",
      "The whole chain from data to report, by profile; --out (default runs/<profile>) gets report.html", run_reproduce,
      globals);
  command->add_option("--profile", options.profile, "smoke, desk, paper, or a .toml file")->capture_default_str();
  CLI::Option* data = command->add_option(
      "--data", options.data, "A data set file instead of a problem; it gets a folder of its name in --out");
  command
      ->add_option("--pde", options.pdes,
                   "One or several problems, or all of the paper; each gets a folder of its name in --out")
      ->delimiter(',')
      ->excludes(data);
  CLI::Option* shard = add_shard(*command, options.shard);
  command->add_option("--stage", options.stage, "The last one to be done; those before it are done where they are not")
      ->check(CLI::IsMember(stage_names))
      ->capture_default_str()
      ->excludes(shard);
  above_zero(command->add_option(
      "--minutes", options.minutes,
      "End with exit code 6 where a further piece (an epoch, an input) would take longer; the same command goes on"));
  CLI::Option* dry_run = command->add_flag(
      "--dry-run", options.dry_run,
      "Only say what each stage will cost: evaluations, time by rates that are measured now, disk. Nothing is written");
  command->add_option("--ranks", options.ranks, "With --dry-run: also the time on so many machines like this one")
      ->check(CLI::Range(1, 1 << 20))
      ->needs(dry_run);
}

}  // namespace opshap::cli
