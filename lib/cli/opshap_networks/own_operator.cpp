#include "cli/opshap_networks/own_operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <utility>

#include "cli/opshap_networks/explainer.hpp"
#include "cli/opshap_networks/operator_game.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/npy.hpp"
#include "data/of_inputs.hpp"
#include "evaluation/held_out.hpp"
#include "operators/blas.hpp"
#include "operators/weights.hpp"
#include "reporting/table.hpp"
#include "statistics/quantiles.hpp"
#include "training/training.hpp"

namespace opshap::cli {

namespace {

namespace fs = std::filesystem;

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
void choose_target(training::ExplainerRecipe& recipe, const Operator& op) {
  recipe.target = op.has_mean_field() ? "mean_field" : "two_level";
  if (!op.has_mean_field()) recipe.label_evaluations = 0;
}

struct Score {
  evaluation::HeldOutErrors errors;  ///< empty where the Shapley values of all inputs are 0
  statistics::Interval interval;

  bool any() const { return !errors.nrmse.empty(); }
  int inputs() const { return static_cast<int>(errors.nrmse.size()) + errors.left_out; }
};

constexpr const char* all_zero = "the Shapley values of all held-out inputs are 0";

std::vector<Score> scores(const evaluation::HeldOutPlan& plan, const methods::Method& explainer) {
  const evaluation::HeldOut held_out(plan);
  std::vector<Score> all;
  for (std::size_t place = 0; place < plan.resolutions.size(); ++place) {
    auto errors = held_out.errors_at(place, explainer);
    Score score{.errors = *std::move(errors), .interval = {}};
    if (score.any()) score.interval = score.errors.interval(plan.seed);
    all.push_back(std::move(score));
  }
  return all;
}

void print(const Globals& globals, const training::ExplainerRecipe& recipe, const training::TrainingSummary& summary,
           double seconds, const std::vector<Score>& all) {
  using statistics::quartiles;
  if (globals.json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Score& score : all) {
      nlohmann::ordered_json row = {{"shape", score.errors.shape},
                                    {"players", score.errors.players},
                                    {"inputs", score.errors.nrmse.size()},
                                    {"left_out", score.errors.left_out}};
      if (score.any()) {
        row["nrmse"] = score.errors.median();
        row["interval"] = {score.interval.low, score.interval.high};
        row["reference_error"] = quartiles(score.errors.reference_errors).median;
        row["seconds"] = quartiles(score.errors.seconds).median;
      } else {
        row["nrmse"] = json_number(Measured::undefined(all_zero));
        row["interval"] = row["reference_error"] = row["seconds"] = nullptr;
      }
      rows.push_back(std::move(row));
    }
    print_json({{"model", globals.out.string()},
                {"target", recipe.target},
                {"coordinates", recipe.coordinates},
                {"operator_evaluations", summary.operator_evaluations},
                {"seconds", seconds},
                {"held_out", rows}});
    return;
  }
  reporting::Table table{.name = "held_out",
                         .caption =
                             "Median NRMSE on held-out inputs at random queries, with the interval in which it "
                             "lies when inputs are drawn anew (95 %), against certified references.",
                         .columns = {{"n", true},
                                     {"inputs", true},
                                     {"NRMSE", true},
                                     {"95 %"},
                                     {"reference's error", true},
                                     {"an explanation", true}},
                         .rows = {}};
  for (const Score& score : all) {
    const std::string inputs = score.errors.left_out == 0 ? std::to_string(score.inputs())
                                                          : fmt::format("{} of {} (the values of the others are 0)",
                                                                        score.errors.nrmse.size(), score.inputs());
    if (!score.any()) {
      table.add({std::to_string(score.errors.players), inputs, "undefined", "-", "-", "-"});
      continue;
    }
    table.add({std::to_string(score.errors.players), inputs, reporting::show(score.errors.median()),
               fmt::format("{} to {}", reporting::show(score.interval.low), reporting::show(score.interval.high)),
               reporting::show(quartiles(score.errors.reference_errors).median),
               reporting::show_seconds(quartiles(score.errors.seconds).median)});
  }
  std::cout << globals.out.string() << '\n'
            << fmt::format("{}: {} evaluations of the operator, {} in all\n\n", recipe.target,
                           summary.operator_evaluations, reporting::show_seconds(seconds))
            << table.markdown();
}

}  // namespace

void train_own_operator(const OwnOperator& asked, const Globals& globals) {
  const auto start = std::chrono::steady_clock::now();
  require(globals.out.extension() == ".safetensors", "train: --out=", globals.out.string(),
          " (with --inputs the weights are one file). Give --out E.safetensors.");
  operators::require_fast_blas();
  const data::NpyArray array = data::read_npy(asked.inputs);
  const auto op = operators::load_operator(asked.op, "cpu", operators::Precision::float32, globals.engine, array.shape);
  const FieldBatch inputs = inputs_of(asked, array, *op);
  const std::vector<int> resolutions =
      asked.resolutions.empty() ? data::usual_resolutions(inputs.domain) : asked.resolutions;
  const data::Dataset data = data::of_inputs(inputs, resolutions, asked.samples);

  const bool own_settings = !globals.config.empty();
  const Profile profile = load_profile("desk", own_settings ? globals.config : "own_operator",
                                       inputs.domain.dimension() == 2 ? "heat2d" : "");
  training::ExplainerRecipe recipe = profile.explainer;
  recipe.resolutions = resolutions;
  recipe.scenario = {};
  if (!own_settings) choose_target(recipe, *op);

  fs::path folder = globals.out;
  folder.replace_extension(".training");
  const training::TrainingSummary summary = training::train_explainer(recipe, *op, data, globals.seed, folder);
  write_file(globals.out, read_file(folder / "model.safetensors"));

  const std::vector<std::int64_t> tests = data.indices(data::Split::test);
  FieldBatch held_out = FieldBatch::zeros(inputs.domain, static_cast<std::int64_t>(tests.size()), inputs.channels);
  for (std::size_t i = 0; i < tests.size(); ++i)
    std::ranges::copy(data.inputs.field(tests[i]), held_out.field(static_cast<std::int64_t>(i)).begin());
  const evaluation::HeldOutPlan plan{
      .op = *op,
      .inputs = std::move(held_out),
      .rule = recipe.scenario,
      .resolutions = resolutions,
      .any_query = recipe.any_query,
      .reference = {.relative_error = reference_error, .max_evaluations = reference_budget},
      .seed = globals.seed};
  const auto explainer = trained_explainer(globals.out, *op, "cpu");
  const std::vector<Score> found = scores(plan, *explainer);
  print(globals, recipe, summary, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
        found);
}

}  // namespace opshap::cli
