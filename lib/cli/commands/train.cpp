// `opshap train backbone|explainer`.

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/globals.hpp"
#include "cli/profile.hpp"
#include "cli/trained_explainer.hpp"
#include "core/error.hpp"
#include "data/dataset.hpp"
#include "networks/networks.hpp"

namespace opshap::cli {

namespace {

struct TrainOptions {
  std::filesystem::path data;
  std::string profile = "smoke";
  OwnOperator own;
};

/// Prints what a training made. `scores`, if any, is asked for by the first of the ranks, when all have left.
void report(const networks::TrainingSummary& summary, const Globals& globals,
            const std::function<std::vector<HeldOutScore>()>& scores = nullptr) {
  networks::library().leave_ranks();
  if (!networks::library().rank().first()) return;
  const std::vector<HeldOutScore> found = scores ? scores() : std::vector<HeldOutScore>{};
  const std::filesystem::path weights = globals.out / "model.safetensors";
  if (globals.json) {
    nlohmann::ordered_json answer = {{"model", weights.string()},
                                     {"epochs", summary.epochs},
                                     {"best_epoch", summary.best_epoch},
                                     {"best_validation", summary.best_validation},
                                     {"operator_evaluations", summary.operator_evaluations},
                                     {"seconds", summary.seconds}};
    if (scores) answer["held_out"] = json_of(found);
    print_json(answer);
  } else {
    std::cout << weights.string() << '\n';
    if (!found.empty()) std::cout << '\n' << in_words(found, "at the query of the profile");
  }
}

/// A few test inputs at the coarsest resolution: what a look at an explainer needs, in seconds.
std::vector<HeldOutScore> a_few_scores(const Profile& profile, const data::Dataset& data, const Operator& backbone,
                                       const Globals& globals) {
  constexpr int inputs = 8;
  const networks::ExplainerRecipe& recipe = profile.explainer;
  if (data.explained(data::Split::test, recipe.scenario).empty()) return {};
  const auto explainer = trained_explainer(globals.out / "model.safetensors", backbone, globals.device);
  return held_out_scores({.op = backbone,
                          .inputs = test_inputs(data, recipe.scenario, inputs),
                          .rule = data::rule_for(recipe.scenario, data),
                          .resolutions = {recipe.resolutions.front()},
                          .any_query = recipe.any_query,
                          .reference = {.relative_error = profile.evaluation.reference_error,
                                        .max_evaluations = profile.evaluation.reference_budget,
                                        .exact_players = profile.evaluation.exact_players},
                          .seed = globals.seed},
                         *explainer);
}

CLI::App* add_training(CLI::App& train, const char* name, const char* summary, TrainOptions& options) {
  auto* command = train.add_subcommand(name, summary);
  command->add_option("--data", options.data, "Data set (.h5)");
  command->add_option("--profile", options.profile, "Profile whose recipe is used; --config FILE.toml overrides it")
      ->capture_default_str();
  return command;
}

}  // namespace

void add_train(CLI::App& app, const Globals& globals) {
  auto* train = app.add_subcommand(
      "train", "Train a backbone operator or an explainer; --out FOLDER gets model.safetensors and metrics.jsonl");
  train->require_subcommand(1);
  const auto options = std::make_shared<TrainOptions>();
  const auto check = [options, &globals] {
    require(!options->data.empty(), "train: --data (is missing: there is nothing to learn from). Give --data FILE.h5.");
    require(!globals.out.empty(), "train: --out (is missing: the weights need a folder). Give --out FOLDER.");
    networks::library().require_device(globals.device);
  };

  add_training(*train, "backbone", "The operator itself, on the data set's targets", *options)->callback([=, &globals] {
    check();
    data::Dataset stored = data::read_dataset(options->data);
    const Profile profile = load_profile_for(options->profile, globals.config, options->data, stored);
    const data::Dataset data = at_points_of(profile, std::move(stored));
    report(networks::library().train_backbone(profile.backbone, data, globals.seed, globals.out, globals.device),
           globals);
  });

  auto* explainer = add_training(*train, "explainer", "An explainer of a trained operator", *options);
  explainer->add_option("--operator", options->own.op, "Operator (.safetensors)")->required();
  CLI::Option* inputs = explainer->add_option(
      "--inputs", options->own.inputs,
      "Instead of --data: input fields, .npy of shape [B,n], [B,C,n], [B,nx,ny] or [B,C,nx,ny]. Trains for any query, "
      "writes --out E.safetensors and ends with the error on held-out inputs");
  inputs->excludes("--data")->excludes("--profile");
  explainer
      ->add_option("--domain", options->own.domain,
                   "With --inputs: the unit interval or square, periodic or bounded, instead of what the weights say")
      ->check(CLI::IsMember({"periodic", "bounded"}))
      ->needs(inputs);
  add_resolutions(*explainer, options->own.resolutions,
                  "With --inputs: points per axis, ascending, such as 16,32 or 12x20")
      ->needs(inputs);
  above_zero(explainer->add_option("--samples", options->own.samples, "With --inputs: how many games are labelled"))
      ->capture_default_str()
      ->needs(inputs);
  explainer->callback([=, &globals] {
    if (!options->own.inputs.empty()) {
      require(networks::library().rank().alone(), "train: --inputs, ranks=", networks::library().rank().size,
              " (what follows the training is one process's). Start one.");
      train_own_operator(options->own, globals);
      return;
    }
    check();
    data::Dataset stored = data::read_dataset(options->data);
    const Profile profile = load_profile_for(options->profile, globals.config, options->data, stored);
    const auto backbone = networks::library().load_operator(options->own.op, globals.device,
                                                            networks::Precision::float32, globals.engine);
    const data::Dataset data = at_points_of(profile, std::move(stored));
    if (networks::library().rank().first()) note_other_problem("train", *backbone, data);
    report(networks::library().train_explainer(profile.explainer, *backbone,
                                               explainer_data(data, profile, profile.explainer, globals.seed),
                                               globals.seed, globals.out, {}, globals.device),
           globals, [&] { return a_few_scores(profile, data, *backbone, globals); });
  });
}

}  // namespace opshap::cli
