#include "cli/trained_explainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "cli/operator_game.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/generate.hpp"
#include "data/npy.hpp"
#include "networks/networks.hpp"
#include "reporting/table.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::cli {

std::unique_ptr<methods::Method> trained_explainer(const std::filesystem::path& weights, const Operator& explained,
                                                   const std::string& device, std::optional<std::string> name) {
  return methods::of_explainer(networks::library().load_explainer(weights, explained, device), std::move(name),
                               xxh64(read_file(weights)));
}

data::Dataset explainer_data(data::Dataset data, const Profile& profile, const networks::ExplainerRecipe& recipe,
                             std::uint64_t seed) {
  if (recipe.resolutions != profile.resolutions) data = data::served_at(std::move(data), recipe.resolutions);
  if (recipe.unlabelled == 0) return data;
  require(profile.data.has_problem(), "train: explainer.unlabelled=", recipe.unlabelled,
          " (the data set was imported: nothing here draws further inputs of it). Set it to 0.");
  return data::with_unlabelled(
      std::move(data), *profile.data.problem(), seed,
      {.count = recipe.unlabelled, .grid = recipe.resolutions.back(), .shares = recipe.unlabelled_shares});
}

void require_trained_for(const std::string& who, const methods::Method& explainer, const std::filesystem::path& weights,
                         const Operator& op, const ScenarioRule& rule, bool force) {
  const TrainedFor known = explainer.trained_for();
  const std::string name = weights.filename().string();
  if (!known.contains("players")) {
    std::cerr << who << ": note: " << name
              << " does not say what it was trained for, so nobody can tell whether it fits. Train it again.\n";
    return;
  }
  const TrainedFor asked = trained_for(op, rule);
  if (is_of_another_operator(known, asked))
    std::cerr << who << ": note: " << name << " was trained for another operator of the problem " << known.at("problem")
              << ". It corrects this one's " << known.at("base")
              << ", which is worth less than a correction of its own.\n";
  const std::string other = differences(known, asked);
  if (other.empty()) return;
  require(force, who, ": --explainer=", name, " (was trained for something else: ", other,
          "). Ask what it was trained for, train another one, or give --force.");
  std::cerr << who << ": note: " << name << " was trained for something else: " << other << ".\n";
}

void note_other_problem(const std::string& who, const Operator& op, const data::Dataset& data) {
  if (op.problem().empty() || op.problem() == data.problem()) return;
  std::cerr << who << ": note: the operator learned " << op.problem() << ", and the data are of " << data.problem()
            << ".\n";
}

namespace {

/// The coordinates of a query that was given by position, as trained_for() writes it.
std::optional<std::vector<double>> position_of(const std::string& query) {
  std::istringstream words(query);
  std::string kind;
  words >> kind;
  if (kind != "position") return std::nullopt;
  return std::vector<double>(std::istream_iterator<double>(words), {});
}

}  // namespace

void require_explains(const std::string& who, const methods::Method& explainer, const std::filesystem::path& weights,
                      const Domain& domain, const ScenarioRule& rule, const std::vector<Readout>& readouts) {
  if (explainer.any_query()) return;
  const TrainedFor facts = explainer.trained_for();
  const std::string known = facts.contains("query") ? facts.at("query") : "centre";
  const bool of_target = known.starts_with("target ");
  const std::optional<std::vector<double>> position = position_of(known);
  const auto is_asked = [&](std::int64_t point) {
    return readouts == std::vector<Readout>{Query{.point = point, .channel = rule.channel}};
  };
  const bool fits = of_target ? readouts.size() == 1 && known == "target " + rule.target
                              : is_asked(position ? domain.nearest(*position) : domain.centre());
  require(fits, who, of_target ? ": --target (" : ": --query (", weights.filename().string(), " was trained for the ",
          of_target || position ? known : "centre of the domain",
          "). Ask for that, train one for any query (queries = \"any\"), or use other methods.");
}

namespace {

using statistics::quartiles;

constexpr const char* all_zero = "the Shapley values of all held-out inputs are 0";

Measured mean_field_error(const evaluation::HeldOut& held_out, std::size_t place) {
  const auto found = held_out.errors_at(place, *methods::resolve("mean_field"));
  if (!found) return Measured::undefined("the operator has no mean field");
  if (found->nrmse.empty()) return Measured::undefined(all_zero);
  return Measured::of(found->median());
}

}  // namespace

data::SampleFields test_inputs(const data::Dataset& data, const ScenarioRule& rule, int most) {
  std::vector<std::int64_t> tests = data.explained(data::Split::test, rule);
  tests.resize(std::min(tests.size(), static_cast<std::size_t>(most)));
  return data.inputs.chosen(tests);
}

std::vector<HeldOutScore> held_out_scores(const evaluation::HeldOutPlan& plan, const methods::Method& explainer) {
  const evaluation::HeldOut held_out(plan);
  std::vector<HeldOutScore> all;
  for (std::size_t place = 0; place < plan.resolutions.size(); ++place) {
    auto errors = held_out.errors_at(place, explainer);
    HeldOutScore score{.errors = *std::move(errors), .interval = {}, .mean_field = mean_field_error(held_out, place)};
    if (score.any()) score.interval = score.errors.interval(plan.seed);
    all.push_back(std::move(score));
  }
  return all;
}

nlohmann::ordered_json json_of(const std::vector<HeldOutScore>& scores) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const HeldOutScore& score : scores) {
    nlohmann::ordered_json row = {{"shape", score.errors.shape},
                                  {"players", score.errors.players},
                                  {"inputs", score.errors.nrmse.size()},
                                  {"left_out", score.errors.left_out}};
    if (score.any()) {
      row["nrmse"] = score.errors.median();
      row["interval"] = {score.interval.low, score.interval.high};
      row["reference_error"] = quartiles(score.errors.reference_errors).median;
      row["forward_equivalents"] = quartiles(score.errors.forward_equivalents).median;
      row["seconds"] = quartiles(score.errors.seconds).median;
    } else {
      row["nrmse"] = json_number(Measured::undefined(all_zero));
      row["interval"] = row["reference_error"] = row["forward_equivalents"] = row["seconds"] = nullptr;
    }
    row["mean_field_nrmse"] = json_number(score.mean_field);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string in_words(const std::vector<HeldOutScore>& scores, const std::string& at) {
  reporting::Table table{.name = "held_out",
                         .caption = "Median NRMSE on held-out inputs " + at +
                                    ", with the interval in which it lies when inputs are drawn anew (95 %), against "
                                    "certified references. The mean field is a method that needs no training.",
                         .columns = {{"n", true},
                                     {"inputs", true},
                                     {"NRMSE", true},
                                     {"95 %"},
                                     {"mean field's", true},
                                     {"reference's error", true},
                                     {"forward equivalents", true},
                                     {"an explanation", true}},
                         .rows = {}};
  bool nearer = false;
  for (const HeldOutScore& score : scores) {
    const std::string inputs = score.errors.left_out == 0 ? std::to_string(score.inputs())
                                                          : fmt::format("{} of {} (the values of the others are 0)",
                                                                        score.errors.nrmse.size(), score.inputs());
    const std::string mean_field = score.mean_field.value ? reporting::show(*score.mean_field.value) : "-";
    if (!score.any()) {
      table.add({std::to_string(score.errors.players), inputs, "undefined", "-", mean_field, "-", "-", "-"});
      continue;
    }
    nearer = nearer || (score.mean_field.value && *score.mean_field.value < score.errors.median());
    table.add({std::to_string(score.errors.players), inputs, reporting::show(score.errors.median()),
               fmt::format("{} to {}", reporting::show(score.interval.low), reporting::show(score.interval.high)),
               mean_field, reporting::show(quartiles(score.errors.reference_errors).median),
               reporting::show_count(quartiles(score.errors.forward_equivalents).median),
               reporting::show_seconds(quartiles(score.errors.seconds).median)});
  }
  std::string text = table.markdown();
  if (nearer) text += "\nThe mean field is nearer. `opshap attribute --method mean_field` needs no explainer.\n";
  return text;
}

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
  const auto op = networks::library().load_operator(asked.op, globals.device, networks::Precision::float32,
                                                    globals.engine, array.shape);
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
      networks::library().train_explainer(recipe, *op, data, globals.seed, folder, {}, globals.device);
  write_file(globals.out, read_file(folder / "model.safetensors"));

  const evaluation::HeldOutPlan plan{
      .op = *op,
      .inputs = test_inputs(data, recipe.scenario),
      .rule = recipe.scenario,
      .resolutions = resolutions,
      .any_query = recipe.any_query,
      .reference = {.relative_error = reference_error, .max_evaluations = reference_budget},
      .seed = globals.seed};
  const auto explainer = trained_explainer(globals.out, *op, globals.device);
  const std::vector<HeldOutScore> scores = held_out_scores(plan, *explainer);
  print(globals, recipe, summary, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
        scores);
}

}  // namespace opshap::cli
