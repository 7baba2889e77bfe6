// `opshap reproduce`: data, backbone, explainer, evaluation, report — one folder, resumable at every stage.

#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <memory>

#include "cli/commands.hpp"
#include "cli/manifest.hpp"
#include "cli/profile.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "evaluation/evaluate.hpp"
#include "explainers/operator_shap.hpp"
#include "operators/blas.hpp"
#include "operators/weights.hpp"
#include "pde/registry.hpp"
#include "reporting/report.hpp"
#include "reporting/results.hpp"
#include "training/training.hpp"

namespace opshap::cli {

namespace {

namespace fs = std::filesystem;

/// Runs a stage and books its wall time, also when it is stopped or fails.
template <typename Stage>
auto timed(Manifest& manifest, const std::string& name, const Stage& stage) {
  const auto start = std::chrono::steady_clock::now();
  const auto end = [&](bool finished) {
    manifest.end(name, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), finished);
  };
  manifest.begin(name);
  try {
    if constexpr (std::is_void_v<decltype(stage())>) {
      stage();
      end(true);
    } else {
      auto result = stage();
      end(true);
      return result;
    }
  } catch (const Error&) {
    end(false);
    throw;
  }
}

std::string training_line(const Profile& profile, const std::string& stage, const training::TrainingSummary& summary) {
  return reporting::to_json_line(reporting::TrainingRow{.pde = profile.data.pde,
                                                        .stage = stage,
                                                        .epochs = summary.epochs,
                                                        .best_epoch = summary.best_epoch,
                                                        .best_validation = summary.best_validation,
                                                        .operator_evaluations = summary.operator_evaluations,
                                                        .seconds = summary.seconds}) +
         '\n';
}

/// Refuses settings of operator and target that cannot work before there is data to train on.
void require_recipes(const Profile& profile) {
  const pde::Problem& problem = pde::find(profile.data.pde);
  const pde::Space input = problem.input();
  training::require_recipes(profile.backbone, profile.explainer,
                            {.dimension = input.domain.dimension(),
                             .in_channels = input.channel_count(),
                             .out_channels = problem.output().channel_count()});
}

fs::path reproduce(const Profile& profile, const Globals& globals) {
  require(globals.device == "cpu", "reproduce: --device=", globals.device,
          " (its trainings run on the CPU). Leave it out.");
  operators::require_fast_blas();
  require_recipes(profile);
  const fs::path run = globals.out.empty() ? fs::path("runs") / profile.name : globals.out;
  make_folder(run);
  Manifest manifest(run, profile, globals);
  write_file(run / "config.resolved.toml", to_toml(profile));

  const fs::path data_file = run / "data" / (profile.data.pde + ".h5");
  timed(manifest, "data", [&] {
    data::generate({.pde = profile.data.pde,
                    .parameters = {},
                    .samples = profile.data.samples(),
                    .train = profile.data.train,
                    .validation = profile.data.validation,
                    .test = profile.data.test,
                    .resolutions = profile.resolutions,
                    .seed = globals.seed},
                   data_file);
  });
  const data::Dataset data = data::read_dataset(data_file);

  const training::TrainingSummary backbone_summary = timed(manifest, "backbone", [&] {
    return training::train_backbone(profile.backbone, data, globals.seed, run / "backbone");
  });
  const auto backbone = operators::load_operator(run / "backbone" / "model.safetensors", "cpu",
                                                 operators::Precision::float32, globals.engine);

  const training::TrainingSummary explainer_summary = timed(manifest, "explainer", [&] {
    return training::train_explainer(profile.explainer, *backbone, data, globals.seed, run / "explainer");
  });
  const auto explainer = explainers::load_explainer(run / "explainer" / "model.safetensors");
  const auto explained = methods::of_explainer(*explainer);
  write_file(run / "training.jsonl", training_line(profile, "backbone", backbone_summary) +
                                         training_line(profile, "explainer", explainer_summary));

  timed(manifest, "evaluation", [&] {
    evaluation::evaluate({.backbone = *backbone,
                          .explainers = {explained.get()},
                          .data = data,
                          .settings = profile.evaluation,
                          .seed = globals.seed},
                         run);
  });
  return reporting::write_report(run).page;
}

}  // namespace

void add_network_reproduce(CLI::App& app, const Globals& globals) {
  auto* command = app.add_subcommand(
      "reproduce", "The whole chain from data to report, by profile; --out (default runs/<profile>) gets report.html");
  const auto profile = std::make_shared<std::string>("smoke");
  command->add_option("--profile", *profile, "smoke, desk, paper, or a .toml file")->capture_default_str();
  command->callback([profile, &globals] {
    std::cout << reproduce(load_profile(*profile, globals.config), globals).string() << '\n';
  });
}

}  // namespace opshap::cli
