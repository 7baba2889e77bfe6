#include "cli/own_operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <utility>

#include "cli/held_out_scores.hpp"
#include "cli/operator_game.hpp"
#include "cli/trained_explainer.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/generate.hpp"
#include "data/npy.hpp"
#include "networks/networks.hpp"
#include "reporting/table.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;

namespace {

constexpr double reference_error = 0.01;
constexpr std::int64_t reference_budget = 50000;

/// The fields on the operator's domain, or on the one that was asked for.
FieldBatch inputs_of(const OwnOperator& asked, data::NpyArray array, const Operator& op) {
  // One channel needs no axis of its own, and one field alone cannot be meant.
  if (op.input_channels() == 1 && array.shape.size() == static_cast<std::size_t>(op.dimension()) + 1)
    array.shape.insert(array.shape.begin() + 1, 1);
  FieldBatch inputs = fields_of(array, asked.inputs.string(), op, Several::allowed);
  if (asked.domain.empty()) return inputs;
  std::vector<Axis> axes;
  for (const Axis& axis : inputs.domain.axes())
    axes.push_back(asked.domain == "periodic" ? Axis::ring(axis.points) : Axis::nodes(axis.points));
  inputs.domain = Domain::grid(std::move(axes));
  return inputs;
}

/// Values of the mean field where there is a closure, else unbiased ones.
void choose_target(networks::ExplainerRecipe& recipe, const Operator& op) {
  recipe.target = op.has_mean_field() ? "mean_field" : "two_level";
  if (!op.has_mean_field()) recipe.label_evaluations = 0;
}

void print(const Globals& globals, const networks::ExplainerRecipe& recipe, const networks::TrainingSummary& summary,
           double seconds, const std::vector<HeldOutScore>& scores) {
  if (globals.json) {
    print_json({{"model", globals.out.string()},
                {"target", recipe.target},
                {"coordinates", recipe.coordinates},
                {"operator_evaluations", summary.operator_evaluations},
                {"seconds", seconds},
                {"held_out", json_of(scores)}});
    return;
  }
  std::cout << globals.out.string() << '\n'
            << fmt::format("{}: {} evaluations of the operator, {} in all\n\n", recipe.target,
                           summary.operator_evaluations, reporting::show_seconds(seconds))
            << in_words(scores, "at random queries");
}

}  // namespace

void train_own_operator(const OwnOperator& asked, const Globals& globals) {
  const auto start = std::chrono::steady_clock::now();
  require(globals.out.extension() == ".safetensors", "train: --out=", globals.out.string(),
          " (with --inputs the weights are one file). Give --out E.safetensors.");
  networks::library().require_fast_blas();
  const data::NpyArray array = data::read_npy(asked.inputs);
  const auto op =
      networks::library().load_operator(asked.op, "cpu", networks::Precision::float32, globals.engine, array.shape);
  const FieldBatch inputs = inputs_of(asked, array, *op);
  const std::vector<Resolution> resolutions =
      asked.resolutions.empty() ? data::usual_resolutions(inputs.domain) : asked.resolutions;
  const data::Dataset data = data::of_inputs(inputs, resolutions, asked.samples);

  const bool own_settings = !globals.config.empty();
  const Profile profile = load_profile("desk", own_settings ? globals.config : "own_operator",
                                       inputs.domain.dimension() == 2 ? "heat2d" : "");
  networks::ExplainerRecipe recipe = profile.explainer;
  recipe.resolutions = resolutions;
  recipe.scenario = {};
  if (!own_settings) choose_target(recipe, *op);

  fs::path folder = globals.out;
  folder.replace_extension(".training");
  const networks::TrainingSummary summary =
      networks::library().train_explainer(recipe, *op, data, globals.seed, folder);
  write_file(globals.out, read_file(folder / "model.safetensors"));

  const evaluation::HeldOutPlan plan{
      .op = *op,
      .inputs = test_inputs(data),
      .rule = recipe.scenario,
      .resolutions = resolutions,
      .any_query = recipe.any_query,
      .reference = {.relative_error = reference_error, .max_evaluations = reference_budget},
      .seed = globals.seed};
  const auto explainer = trained_explainer(globals.out, *op, "cpu");
  const std::vector<HeldOutScore> scores = held_out_scores(plan, *explainer);
  print(globals, recipe, summary, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
        scores);
}

}  // namespace opshap::cli
