// `opshap train backbone|explainer`.

#include <iostream>
#include <memory>

#include "cli/commands.hpp"
#include "cli/profile.hpp"
#include "core/error.hpp"
#include "data/dataset.hpp"
#include "operators/weights.hpp"
#include "training/training.hpp"

namespace opshap::cli {

namespace {

struct Options {
  std::filesystem::path data, operator_file;
  std::string profile = "smoke";
};

void report(const training::TrainingSummary& summary, const Globals& globals) {
  const std::filesystem::path weights = globals.out / "model.safetensors";
  if (globals.json) {
    print_json({{"model", weights.string()},
                {"epochs", summary.epochs},
                {"best_epoch", summary.best_epoch},
                {"best_validation", summary.best_validation},
                {"operator_evaluations", summary.operator_evaluations},
                {"seconds", summary.seconds}});
  } else {
    std::cout << weights.string() << '\n';
  }
}

CLI::App* add_training(CLI::App& train, const char* name, const char* summary, Options& options) {
  auto* command = train.add_subcommand(name, summary);
  command->add_option("--data", options.data, "Data set (.h5)")->required();
  command->add_option("--profile", options.profile, "Profile whose recipe is used; --config FILE.toml overrides it")
      ->capture_default_str();
  return command;
}

}  // namespace

void add_network_train(CLI::App& app, const Globals& globals) {
  auto* train = app.add_subcommand(
      "train", "Train a backbone operator or an explainer; --out FOLDER gets model.safetensors and metrics.jsonl");
  train->require_subcommand(1);
  const auto options = std::make_shared<Options>();
  const auto check = [&globals] {
    require(!globals.out.empty(), "train: --out (is missing: the weights need a folder). Give --out FOLDER.");
    require(globals.device == "cpu", "train: --device=", globals.device, " (trainings run on the CPU). Leave it out.");
  };

  add_training(*train, "backbone", "The operator itself, on the data set's targets", *options)->callback([=, &globals] {
    check();
    const Profile profile = load_profile(options->profile, globals.config);
    report(training::train_backbone(profile.backbone, data::read_dataset(options->data), globals.seed, globals.out),
           globals);
  });

  auto* explainer =
      add_training(*train, "explainer", "An explainer of a trained operator, by the FastSHAP loss", *options);
  explainer->add_option("--operator", options->operator_file, "Backbone (.safetensors)")->required();
  explainer->callback([=, &globals] {
    check();
    const Profile profile = load_profile(options->profile, globals.config);
    const auto backbone =
        operators::load_operator(options->operator_file, "cpu", operators::Precision::float32, globals.engine);
    report(training::train_explainer(profile.explainer, *backbone, data::read_dataset(options->data), globals.seed,
                                     globals.out),
           globals);
  });
}

}  // namespace opshap::cli
