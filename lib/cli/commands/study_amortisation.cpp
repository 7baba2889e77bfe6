// `opshap study amortisation`: what the error of an explainer costs, by training target.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/doctor.hpp"
#include "cli/studied_run.hpp"
#include "cli/trained_explainer.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "estimators/diagonal.hpp"
#include "evaluation/held_out.hpp"
#include "networks/networks.hpp"
#include "reporting/study_evidence.hpp"
#include "runs/manifest.hpp"
#include "runs/results.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;

namespace {

struct AmortisationOptions {
  fs::path run;
  int seeds = 3;
  StudiedGames games;
  std::vector<std::string> recipes;

  bool takes(const std::string& recipe) const { return recipes.empty() || std::ranges::count(recipes, recipe) > 0; }
};

/// A method without training, as it is told to work.
struct Contestant {
  std::unique_ptr<methods::Method> method;
  std::string setting;
  Budget budget = {};
};

std::vector<Contestant> untrained_methods(int players) {
  std::vector<Contestant> all;
  for (const int nodes : {2, 4, 8, 16})
    all.push_back({methods::of_estimator(estimators::mean_field(nodes)), message(nodes, " nodes")});
  for (const int nodes : {4, 16})
    all.push_back({methods::of_estimator(estimators::integrated_gradients(estimators::Rule::gauss_legendre, nodes)),
                   message(nodes, " nodes")});
  const auto add = [&](const char* name, std::int64_t budget) {
    all.push_back({methods::resolve(name), message(budget, " evaluations"), {budget}});
  };
  const std::int64_t least = std::max<std::int64_t>(2 * players, 1024);
  for (const int times : {1, 4}) {
    for (const char* name : {"permutation_antithetic", "kernel_shap_paired", "leverage_shap"}) add(name, times * least);
    add("two_level", times * 2 * least);
  }
  return all;
}

/// A study in its folder: rows in units/ as they are found, so that one that was stopped goes on where it was.
class Study {
 public:
  Study(const AmortisationOptions& options, const StudiedRun& run, const Globals& globals)
      : options_(options),
        run_(run),
        globals_(globals),
        units_(globals.out / "units", "study", run.identity(options.games, globals.seed)),
        held_out_(run.plan(options.games, globals.seed), &units_) {}

  std::vector<runs::HeldOutRow> rows() {
    std::string lines;
    for (int seed = 0; seed < options_.seeds; ++seed) {
      for (const auto& [name, recipe] : run_.profile.explainers) {
        if (options_.takes(name)) lines += trained(name, recipe, globals_.seed + static_cast<std::uint64_t>(seed));
        write_file(globals_.out / "rows.jsonl", lines);
      }
    }
    for (std::size_t place = 0; place < run_.profile.resolutions.size(); ++place)
      lines += units_.once(message("methods-", run_.profile.resolutions[place], ".jsonl"),
                           [&] { return methods_at(place); });
    for (std::size_t place = 0; place < run_.profile.resolutions.size(); ++place) {
      runs::HeldOutRow row = row_of(held_out_.own_player_missed(place), "");
      row.method = runs::own_player_missed;
      lines += runs::to_json_line(row) + '\n';
    }
    write_file(globals_.out / "rows.jsonl", lines);
    return runs::read_held_out_rows(globals_.out / "rows.jsonl");
  }

 private:
  runs::HeldOutRow row_of(const evaluation::HeldOutErrors& errors, const std::string& setting) const {
    return {.pde = run_.profile.data.pde,
            .method = "operator_shap",
            .setting = setting,
            .shape = errors.shape,
            .players = errors.players,
            .nrmse = errors.nrmse,
            .seconds = errors.seconds,
            .reference_errors = errors.reference_errors};
  }

  std::string methods_at(std::size_t place) const {
    std::string lines;
    for (const Contestant& contestant : untrained_methods(held_out_.players(place))) {
      const auto found = held_out_.errors_at(place, *contestant.method, contestant.budget, method_inputs);
      if (!found || found->nrmse.empty()) continue;
      runs::HeldOutRow row = row_of(*found, contestant.setting);
      row.method = contestant.method->name();
      lines += runs::to_json_line(row) + '\n';
    }
    return lines;
  }

  /// Rows of the weights at some epochs and of those that the training kept.
  std::string trained(const std::string& name, const networks::ExplainerRecipe& recipe, std::uint64_t seed) {
    const data::Dataset data = explainer_data(run_.data, run_.profile, recipe, seed);
    const std::string hash = xxh64(networks::library().training_identity(recipe, *run_.op, data, seed));
    return units_.once(message(name, "-", seed, "-", hash, ".jsonl"), [&] {
      std::cerr << "study: " << name << ", seed " << seed << '\n';
      const fs::path folder = globals_.out / "trainings" / message(name, "-", seed);
      const std::vector<int> epochs = shown_epochs(recipe.epochs);
      const networks::TrainingSummary summary =
          networks::library().train_explainer(recipe, *run_.op, data, seed, folder, epochs);
      std::string lines =
          scored(folder / "model.safetensors", name, seed, 0, summary.operator_evaluations, summary.seconds);
      std::istringstream metrics(read_file(folder / "metrics.jsonl"));
      for (std::string line; std::getline(metrics, line);) {
        const auto json = nlohmann::json::parse(line);
        const int epoch = json.at("epoch");
        if (std::ranges::find(epochs, epoch) == epochs.end()) continue;
        lines += scored(folder / networks::epoch_file(epoch), name, seed, epoch, json.at("operator_evaluations"),
                        json.at("elapsed"));
      }
      fs::remove_all(folder);
      return lines;
    });
  }

  std::string scored(const fs::path& weights, const std::string& name, std::uint64_t seed, int epoch,
                     std::int64_t evaluations, double seconds) const {
    const auto explainer = networks::library().load_explainer(weights, *run_.op, "cpu");
    const auto method = trained_explainer(weights, *run_.op, "cpu");
    std::string lines;
    for (std::size_t place = 0; place < run_.profile.resolutions.size(); ++place) {
      runs::HeldOutRow row = row_of(*held_out_.errors_at(place, *method), name);
      row.seed = seed;
      row.epoch = epoch;
      row.training_evaluations = evaluations;
      row.training_seconds = seconds;
      if (place + 1 < run_.profile.resolutions.size())
        row.drift = held_out_.drift(*explainer, run_.profile.resolutions[place], run_.profile.resolutions.back());
      lines += runs::to_json_line(row) + '\n';
    }
    return lines;
  }

  /// A sixteenth, an eighth … of the epochs, and all of them.
  static std::vector<int> shown_epochs(int epochs) {
    std::set<int> shown;
    for (int part = 16; part >= 1; part /= 2) shown.insert(std::max(1, epochs / part));
    return {shown.begin(), shown.end()};
  }

  static constexpr int method_inputs = 10;  ///< of the methods without training, whose times are what counts

  const AmortisationOptions& options_;
  const StudiedRun& run_;
  const Globals& globals_;
  runs::Units units_;
  evaluation::HeldOut held_out_;
};

void run(const AmortisationOptions& options, const Globals& globals) {
  require_study(globals);
  const StudiedRun studied =
      read_studied_run(options.run, globals.config.empty() ? "amortisation" : globals.config, globals);
  const Profile& profile = studied.profile;
  for (const std::string& name : options.recipes) {
    std::vector<std::string> known;
    for (const auto& [recipe, settings] : profile.explainers) known.push_back(recipe);
    if (!profile.explainers.contains(name)) throw_unknown_name("recipe", name, known);
  }
  for (const auto& [name, recipe] : profile.explainers)
    require(!options.games.any_query || !options.takes(name) || recipe.any_query, "study: --any-query, recipe=", name,
            " (is of one query). Give it queries = \"any\", or leave it out by --recipes.");
  const nlohmann::ordered_json settings = {{"toml", to_toml(profile)},
                                           {"seeds", options.seeds},
                                           {"inputs", options.games.inputs},
                                           {"reference_error", options.games.reference_error},
                                           {"any_query", options.games.any_query}};
  runs::Manifest manifest(globals.out, study_beginning(globals, profile.data.pde, settings));
  const std::vector<runs::HeldOutRow> rows =
      manifest.stage("study", [&] { return Study(options, studied, globals).rows(); });
  reporting::RecipeFamilies families;
  for (const auto& [name, recipe] : profile.explainers)
    families[name] = recipe.target + (recipe.mixture.empty() ? "" : "_mixed");
  const std::string subject = studied.subject() + (options.games.any_query ? ", each input at a random point" : "");
  for (const reporting::Evidence& evidence : reporting::amortisation_study(rows, families, subject)) {
    reporting::write(evidence, globals.out);
    print_path(globals, "study", globals.out / (evidence.name + ".md"));
  }
}

}  // namespace

void add_amortisation_study(CLI::App& study, const Globals& globals) {
  const auto [command, options] = add_command<AmortisationOptions>(
      study, "amortisation",
      "Errors of explainers against what their trainings cost, for every recipe of `--config` (default: ours)", run,
      globals);
  command->add_option("--run", options.run, "Folder of a run: config.resolved.toml, data/, backbone/")->required();
  command->add_option("--seeds", options.seeds, "Trainings of each recipe")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  add_studied_games(*command, options.games);
  add_any_query(*command, options.games);
  command->add_option("--recipes", options.recipes, "Only these recipes")->delimiter(',');
}

}  // namespace opshap::cli
