// Trainings are deterministic, resumable to the bit, and go to the right place.

#include "training/training.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <tuple>

#include "core/error.hpp"
#include "core/explainer.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "core/threads.hpp"
#include "data/verify.hpp"
#include "explainers/operator_shap.hpp"
#include "operators/network.hpp"
#include "operators/torch.hpp"
#include "operators/weights.hpp"
#include "support/refusal.hpp"
#include "support/run_folder.hpp"
#include "support/stopping_operator.hpp"
#include "support/weighted_mean_operator.hpp"
#include "training/loop.hpp"
#include "training/resolution_batches.hpp"

namespace opshap {
namespace {

using training::train_explainer;

constexpr int native_points = 32;

networks::NetworkSettings small_model() {
  return {.model = "fno",
          .json = R"({"modes": 6, "width": 12, "layers": 2, "padding": 0.5, "padding_mode": "symmetric"})"};
}

/// Smooth random fields on a grid of the unit line or square.
data::Dataset smooth_data(const Domain& domain, int train, int validation, std::uint64_t seed) {
  data::Dataset data;
  data.pde = data.content_hash = "test";
  data.inputs = FieldBatch::zeros(domain, train + validation, 1);
  for (int sample = 0; sample < train + validation; ++sample) {
    Rng rng(seed, "training test", 0, static_cast<std::uint64_t>(sample));
    const double a = rng.normal(), b = rng.normal(), c = rng.normal();
    for (std::int64_t point = 0; point < domain.points(); ++point) {
      const std::vector<double> at = domain.position(point);
      data.inputs.field(sample)[static_cast<std::size_t>(point)] =
          0.5 * a + b * std::cos(2 * std::numbers::pi * at.front()) + c * std::sin(2 * std::numbers::pi * at.back());
    }
    data.split.push_back(sample < train ? data::Split::train : data::Split::validation);
    data.resolution_slot.push_back(static_cast<std::uint8_t>(sample % 2));
  }
  data.targets = data.inputs;
  return data;
}

/// On the line, with what a linear operator makes of them.
data::Dataset small_data(int train, int validation) {
  data::Dataset data = smooth_data(Domain::unit({native_points}), train, validation, 11);
  data.targets = WeightedMeanOperator(0).apply(data.inputs.batch());
  return data;
}

template <typename Recipe>
Recipe small_recipe(int epochs, double weight_decay) {
  return {.model = small_model(),
          .resolutions = {16, 32},
          .epochs = epochs,
          .batch = 8,
          .learning_rate = 5e-3,
          .weight_decay = weight_decay,
          .patience = 100};
}

networks::BackboneRecipe small_backbone(int epochs) { return small_recipe<networks::BackboneRecipe>(epochs, 1e-4); }

networks::ExplainerRecipe small_explainer(int epochs) {
  auto recipe = small_recipe<networks::ExplainerRecipe>(epochs, 1e-5);
  recipe.warmup_epochs = 2;
  recipe.coalitions = 16;
  return recipe;
}

class Training : public RunFolder {
 protected:
  void SetUp() override {
    RunFolder::SetUp();
    set_verbosity(Verbosity::quiet);
  }
};

TEST_F(Training, GivesTheSameWeightsForTheSameSeedAndOthersForAnother) {
  const data::Dataset data = small_data(16, 4);
  training::train_backbone(small_backbone(3), data, 1, folder_ / "a");
  training::train_backbone(small_backbone(3), data, 1, folder_ / "b");
  training::train_backbone(small_backbone(3), data, 2, folder_ / "c");
  EXPECT_EQ(read_file(folder_ / "a" / "model.safetensors"), read_file(folder_ / "b" / "model.safetensors"));
  EXPECT_NE(read_file(folder_ / "a" / "model.safetensors"), read_file(folder_ / "c" / "model.safetensors"));
}

// By hand: the deviation of what is learned over the training samples, and the error of the operator that was written.
TEST_F(Training, OfABackboneInUnitsOfItsFieldsHasTheErrorOfTheOperatorThatItWrites) {
  data::Dataset data = small_data(16, 4);
  std::ranges::fill(data.resolution_slot, std::uint8_t{0});
  constexpr double trained = 16 * native_points, validated = 4 * native_points;
  for (const char* normalisation : {"fields", "change"}) {
    networks::BackboneRecipe recipe = small_backbone(3);
    recipe.resolutions = {native_points};
    recipe.normalisation = normalisation;
    const auto found = training::train_backbone(recipe, data, 1, folder_ / normalisation);
    const auto op = operators::load_operator(folder_ / normalisation / "model.safetensors");
    EXPECT_EQ(normalisation == std::string("change"), op->describe().ends_with("output for all, added to the input"));
    const auto learned = [&](std::int64_t sample, std::size_t point) {
      const double target = data.targets.field(sample)[point];
      return normalisation == std::string("change") ? target - data.inputs.field(sample)[point] : target;
    };
    double mean = 0, variance = 0, error = 0;
    for (std::int64_t sample = 0; sample < 16; ++sample)
      for (std::size_t point = 0; point < native_points; ++point) mean += learned(sample, point) / trained;
    for (std::int64_t sample = 0; sample < 16; ++sample)
      for (std::size_t point = 0; point < native_points; ++point)
        variance += std::pow(learned(sample, point) - mean, 2) / trained;
    for (std::int64_t sample = 16; sample < 20; ++sample) {
      const FieldBatch output = op->apply(data.inputs.one(sample));
      for (std::size_t point = 0; point < native_points; ++point)
        error += std::pow(output.values[point] - data.targets.field(sample)[point], 2) / validated;
    }
    EXPECT_NEAR(error / variance, found.best_validation, 1e-4 * found.best_validation) << "float32 in a few layers";
  }
}

/// With all that the paper's recipe does not have, but for labels.
networks::ExplainerRecipe other_explainer(int epochs) {
  networks::ExplainerRecipe recipe = small_explainer(epochs);
  recipe.patience = 0;
  recipe.relative = recipe.atom = true;
  recipe.coordinates = "query_angle";
  recipe.padding = 0;
  recipe.clipping = 1.05;
  recipe.averaging = 0.9;
  return recipe;
}

TEST_F(Training, OfAnExplainerResumesToTheBitsOfAnUninterruptedRun) {
  const data::Dataset data = small_data(16, 4);
  const WeightedMeanOperator backbone(0.5);
  for (const networks::ExplainerRecipe& recipe : {small_explainer(6), other_explainer(6)}) {
    const fs::path one = folder_ / recipe.coordinates / "whole", parts = folder_ / recipe.coordinates / "parts";
    const networks::TrainingSummary whole = train_explainer(recipe, backbone, data, 1, one);
    // Stopped in the middle of some epoch, then in a later one, then left to finish. Before the first epoch there are 1
    // call for the identity, 8 for v(∅) and v(N) of 4 groups, and 4 for the validation; an epoch has a call for each of
    // its 4 batches.
    for (const int calls : {22, 19}) {
      const StoppingOperator stopping(calls);
      EXPECT_THROW(train_explainer(recipe, stopping, data, 1, parts), Stopped);
      EXPECT_TRUE(fs::exists(parts / "checkpoint.safetensors"));
    }
    // A kill after the metrics line and before the checkpoint leaves a line too many.
    write_file(parts / "metrics.jsonl", read_file(parts / "metrics.jsonl") + "{\"epoch\":99}\n");
    const networks::TrainingSummary resumed = train_explainer(recipe, backbone, data, 1, parts);
    EXPECT_EQ(read_file(one / "model.safetensors"), read_file(parts / "model.safetensors"));
    EXPECT_EQ(whole.operator_evaluations, resumed.operator_evaluations);
    EXPECT_EQ(whole.best_validation, resumed.best_validation);
    EXPECT_EQ(6, std::ranges::count(read_file(parts / "metrics.jsonl"), '\n'));
  }
}

TEST_F(Training, AsksForLabelsThatItKeepsOnlyOnce) {
  const data::Dataset data = small_data(16, 4);
  networks::ExplainerRecipe recipe = other_explainer(3);
  for (const char* target : {"fastshap_reused", "mean_field"}) {
    recipe.target = target;
    recipe.epochs = 3;
    const auto three = train_explainer(recipe, WeightedMeanOperator(0.5), data, 1, folder_ / target / "3");
    recipe.epochs = 5;
    const auto five = train_explainer(recipe, WeightedMeanOperator(0.5), data, 1, folder_ / target / "5");
    EXPECT_EQ(three.operator_evaluations, five.operator_evaluations) << target;
  }
}

TEST_F(Training, ThatIsStoppedAsksOnlyForTheLabelsThatItHasNot) {
  networks::ExplainerRecipe recipe = other_explainer(3);
  recipe.target = "permutation_pairs";
  const StoppingOperator all(10000), rest(10000);
  const fs::path one = folder_ / "whole", parts = folder_ / "parts";
  const auto train = [&, data = small_data(16, 4)](const Operator& backbone, const fs::path& folder) {
    return train_explainer(recipe, backbone, data, 1, folder).operator_evaluations;
  };
  const std::int64_t evaluations = train(all, one);
  EXPECT_THROW(train(StoppingOperator(10000 - all.left() - 1), parts), Stopped);
  EXPECT_EQ(names_in(parts), std::set<std::string>{"labels"});
  recipe.learning_rate *= 2;
  EXPECT_THROW(train(all, parts), InvalidArgument) << "another recipe";
  recipe.learning_rate /= 2;
  EXPECT_EQ(train(rest, parts), evaluations);
  EXPECT_GE(rest.left(), all.left() + 8) << "a call or more for each of eight samples";
  EXPECT_EQ(read_file(parts / "model.safetensors"), read_file(one / "model.safetensors"));
  EXPECT_EQ(names_in(parts), names_in(one));
}

/// A number of each line of a metrics file.
std::vector<double> curve(const fs::path& folder, const std::string& key) {
  const std::string metrics = read_file(folder / "metrics.jsonl"), name = "\"" + key + "\":";
  std::vector<double> numbers;
  for (std::size_t at = metrics.find(name); at != std::string::npos; at = metrics.find(name, at + 1))
    numbers.push_back(std::stod(metrics.substr(at + name.size())));
  return numbers;
}

TEST_F(Training, OfAnExplainerHasTheLossesOfThePlainPathWithTheEngine) {
  const data::Dataset data = small_data(16, 4);
  training::train_backbone(small_backbone(4), data, 1, folder_ / "backbone");
  const fs::path weights = folder_ / "backbone" / "model.safetensors";
  const auto engine = operators::load_operator(weights),
             plain = operators::load_operator(weights, "cpu", networks::Precision::float32, false);
  ASSERT_TRUE(engine->coalition_path().starts_with("engine")) << engine->coalition_path();
  // Four batches of two resolutions an epoch: 52 steps.
  train_explainer(small_explainer(13), *engine, data, 1, folder_ / "engine");
  train_explainer(small_explainer(13), *plain, data, 1, folder_ / "plain");
  for (const char* key : {"loss", "validation"}) {
    const std::vector<double> ours = curve(folder_ / "engine", key), theirs = curve(folder_ / "plain", key);
    ASSERT_EQ(ours.size(), 13U);
    ASSERT_EQ(theirs.size(), 13U);
    // Targets differ by 1e-7 of their size; AdamW's steps have the size of the learning rate however small a gradient
    // is, so near zero they may differ by more.
    for (std::size_t epoch = 0; epoch < ours.size(); ++epoch)
      EXPECT_NEAR(ours[epoch], theirs[epoch], 1e-4 * theirs[epoch]) << key << ", epoch " << epoch;
  }
}

TEST_F(Training, CountsTheOperatorEvaluationsOfItsCoalitions) {
  // 3 epochs × 16 samples × 16 coalitions, v(N) of 20 samples, v(∅) of 2 + 2 groups, 4 × 32 validation coalitions.
  const networks::TrainingSummary summary =
      train_explainer(small_explainer(3), WeightedMeanOperator(0), small_data(16, 4), 1, folder_ / "a");
  EXPECT_EQ(3 * 16 * 16 + 20 + 4 + 4 * 32, summary.operator_evaluations);
}

/// The data of a problem in the plane with two input channels.
data::Dataset plane_data() {
  data::Dataset data;
  data.pde = data.content_hash = "plane";
  data.inputs = FieldBatch::zeros(Domain::grid({Axis::cells(8), Axis::nodes(8, 2)}), 6, 2);
  Rng rng(12, "training test");
  for (double& value : data.inputs.batch().values) value = rng.normal();
  data.targets = FieldBatch::zeros(data.inputs.domain(), 6, 3);
  for (int sample = 0; sample < 6; ++sample) {
    data.split.push_back(sample < 4 ? data::Split::train : data::Split::validation);
    data.resolution_slot.push_back(static_cast<std::uint8_t>(sample % 2));
  }
  return data;
}

TEST_F(Training, ChoosesCoordinatesByTheDomain) {
  data::Dataset data = small_data(16, 4);
  networks::ExplainerRecipe recipe = small_explainer(1);
  recipe.coordinates = "query";
  const auto config = [&] { return nlohmann::json::parse(training::explainer_config(recipe, data).json); };
  EXPECT_EQ("query_angle", config().at("coordinates"));
  EXPECT_EQ(0, config().at("network").at("domain_padding"));
  EXPECT_FALSE(config().at("network").contains("quadrature")) << "that of all points alike";
  data.inputs.batch().domain = Domain::grid({Axis::cells(native_points)});
  EXPECT_EQ("query_offset", config().at("coordinates"));
  EXPECT_EQ(0.5, config().at("network").at("domain_padding")) << "the model's";
  EXPECT_EQ("volumes", config().at("network").at("quadrature"));
  recipe.quadrature = "points";
  EXPECT_FALSE(config().at("network").contains("quadrature"));
  EXPECT_FALSE(config().contains("cells")) << "that are all of one size";
  data.inputs.batch().domain = Domain::grid({Axis::nodes(native_points)});
  EXPECT_EQ("equal", config().at("cells"));
  recipe.coordinates = "query_angle";
  EXPECT_THROW(config(), InvalidArgument);
}

TEST_F(Training, CountsThePointsOfThePapersRecipeAlikeWhereItIsTold) {
  data::Dataset data = small_data(16, 4);
  data.inputs.batch().domain = Domain::grid({Axis::nodes(native_points)});
  networks::ExplainerRecipe recipe = small_explainer(1);
  const auto config = [&] { return nlohmann::json::parse(training::explainer_config(recipe, data).json); };
  const nlohmann::json papers = config();
  recipe.cells = "equal";
  EXPECT_EQ("density", config().at("model"));
  EXPECT_EQ(papers, config().at("network")) << "the same network beneath";
}

TEST_F(Training, TakesDimensionChannelsAndDomainFromTheData) {
  const data::Dataset data = plane_data();
  networks::BackboneRecipe recipe = small_backbone(1);
  recipe.resolutions = {4, 8};
  training::train_backbone(recipe, data, 1, folder_ / "backbone");
  const auto backbone = operators::load_operator(folder_ / "backbone" / "model.safetensors");
  EXPECT_EQ(2, backbone->dimension());
  EXPECT_EQ(2, backbone->input_channels());
  EXPECT_EQ(3, backbone->output_channels());
  EXPECT_EQ(data.inputs.domain(), backbone->domain({8, 8}));
  EXPECT_EQ(Domain::grid({Axis::cells(16), Axis::nodes(4, 2)}), backbone->domain({16, 4}));

  // Blocks as players, another query and a channel that is always shown: the explainer is trained on the games of that
  // rule.
  networks::ExplainerRecipe explainer = small_explainer(1);
  explainer.resolutions = {4, 8};
  explainer.scenario.players = ScenarioRule::Players::blocks;
  explainer.scenario.blocks = 4;
  explainer.scenario.query = ScenarioRule::Where::position;
  explainer.scenario.position = {0.3, 1.2};
  explainer.scenario.channel = 2;
  explainer.scenario.masked = {1};
  const networks::TrainingSummary summary = train_explainer(explainer, *backbone, data, 1, folder_ / "explainer");
  // Each sample has a v(∅) of its own, since the channel that is always shown is in it.
  EXPECT_EQ(4 * 16 + 2 * 6 + 2 * 32, summary.operator_evaluations);
  const auto trained = operators::load_network(folder_ / "explainer" / "model.safetensors", {});
  EXPECT_EQ(2, trained->input_channels());
  EXPECT_EQ(1, trained->output_channels());
}

TEST_F(Training, RefusesAnOperatorAndARuleThatDoNotFitTheData) {
  EXPECT_THROW(train_explainer(small_explainer(1), WeightedMeanOperator(0), plane_data(), 1, folder_ / "a"),
               InvalidArgument);
  networks::ExplainerRecipe recipe = small_explainer(1);
  recipe.scenario = {.players = ScenarioRule::Players::blocks, .blocks = 17};
  EXPECT_THROW(train_explainer(recipe, WeightedMeanOperator(0), small_data(16, 4), 1, folder_ / "a"), InvalidArgument);
  recipe = small_explainer(1);
  recipe.target = "fastshapp";
  EXPECT_THROW(train_explainer(recipe, WeightedMeanOperator(0), small_data(16, 4), 1, folder_ / "a"), InvalidArgument);
  networks::BackboneRecipe unknown = small_backbone(1);
  unknown.model.json =
      R"({"modes": 6, "widht": 12, "width": 12, "layers": 2, "padding": 0, "padding_mode": "symmetric"})";
  EXPECT_THROW(training::train_backbone(unknown, small_data(16, 4), 1, folder_ / "a"), InvalidArgument);
  EXPECT_FALSE(fs::exists(folder_ / "a"));
}

TEST_F(Training, OfOneProcessAtATimeGoesIntoAFolder) {
  make_folder(folder_ / "a");
  {
    const FolderLock held(folder_ / "a", "test");
    EXPECT_THROW(training::train_backbone(small_backbone(1), small_data(16, 4), 1, folder_ / "a"), InvalidArgument);
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "a"));
  }
  training::train_backbone(small_backbone(1), small_data(16, 4), 1, folder_ / "a");
  for (const char* text : {"[]", "{\"identity\":[]}", "{\"identity\":\"x\",\"seconds\":\"y\"}", "[[[[", "{"}) {
    write_file(folder_ / "a" / "summary.json", std::string_view(text));
    EXPECT_THROW(training::train_backbone(small_backbone(1), small_data(16, 4), 1, folder_ / "a"), DataError) << text;
  }
}

TEST_F(Training, ReturnsAtOnceWhenFinishedAndRefusesAnotherRecipe) {
  const data::Dataset data = small_data(16, 4);
  const networks::TrainingSummary first = training::train_backbone(small_backbone(2), data, 1, folder_ / "a");
  const auto written = fs::last_write_time(folder_ / "a" / "model.safetensors");
  const networks::TrainingSummary again = training::train_backbone(small_backbone(2), data, 1, folder_ / "a");
  EXPECT_EQ(first.best_validation, again.best_validation);
  EXPECT_EQ(written, fs::last_write_time(folder_ / "a" / "model.safetensors"));
  EXPECT_THROW(training::train_backbone(small_backbone(3), data, 1, folder_ / "a"), InvalidArgument);
  EXPECT_THROW(training::train_backbone(small_backbone(2), data, 2, folder_ / "a"), InvalidArgument);
}

// A processor rounds the backbone's answers in its own way. Other weights give other answers.
TEST_F(Training, AFinishedExplainerIsRecognisedOnAnotherProcessor) {
  const data::Dataset data = small_data(16, 4);
  const WeightedMeanOperator backbone(0.5);
  const fs::path folder = folder_ / "a";
  const auto train = [&] { return train_explainer(small_explainer(2), backbone, data, 1, folder); };
  train();
  const auto written = fs::last_write_time(folder / "model.safetensors");
  const auto change_probe = [&](double factor) {
    auto summary = nlohmann::ordered_json::parse(read_file(folder / "summary.json"));
    auto identity = nlohmann::ordered_json::parse(summary.at("identity").get<std::string>());
    auto& probe = identity.at("backbone").at("probe");
    ASSERT_NE(0, probe.get<double>());
    probe = factor * probe.get<double>();
    summary["identity"] = identity.dump();
    write_file(folder / "summary.json", summary.dump());
  };
  change_probe(1 + 1e-6);
  EXPECT_NO_THROW(train());
  EXPECT_EQ(written, fs::last_write_time(folder / "model.safetensors"));
  change_probe(1 + 1e-3);
  EXPECT_THROW(train(), InvalidArgument);
}

TEST_F(Training, StopsEarlyWhenTheValidationLossNoLongerFalls) {
  networks::BackboneRecipe recipe = small_backbone(50);
  recipe.patience = 3;
  recipe.learning_rate = 0.5;  // far too high: the first epochs are the best ones
  const networks::TrainingSummary summary = training::train_backbone(recipe, small_data(16, 4), 1, folder_ / "a");
  EXPECT_EQ(summary.best_epoch + 3, summary.epochs);
  EXPECT_LT(summary.epochs, 50);
}

const networks::NetworkSettings small_mwt{.model = "mwt", .json = R"({"c": 4, "k": 3, "alpha": 5, "n_cz": 2})"};

/// How far an explainer of the linear operator is from its Shapley values at these points, one for each of eight unseen
/// samples, relative to the uniform attribution.
double error_beside_uniform(const Explainer& explainer, int points, const std::vector<int>& queries) {
  const data::Dataset fresh = small_data(64, 16);
  double missed = 0, missed_by_uniform = 0;
  for (std::int64_t sample = 72; sample < 80; ++sample) {
    const FieldBatch input = strided(fresh.inputs.one(sample), {points});
    const int query = queries[static_cast<std::size_t>(sample - 72)];
    std::vector<double> truth;
    for (int y = 0; y < points; ++y)
      truth.push_back(WeightedMeanOperator::weight(query, y, points) * input.values[static_cast<std::size_t>(y)]);
    const double grand = std::accumulate(truth.begin(), truth.end(), 0.0);
    const auto found = cell_values(explainer.densities(input, Query{.point = query}).field(0), input.domain,
                                   Partition::one_player_per_point(input.domain), 0, grand);
    for (std::size_t i = 0; i < truth.size(); ++i) {
      missed += std::pow(found[i] - truth[i], 2);
      missed_by_uniform += std::pow(grand / points - truth[i], 2);
    }
  }
  return std::sqrt(missed / missed_by_uniform);
}

/// A recipe, and where its explainer is asked.
struct ExplainerCase {
  std::string name;
  networks::ExplainerRecipe recipe;
  std::vector<int> queries;  ///< empty for the centre
};

std::vector<ExplainerCase> explainer_cases() {
  networks::ExplainerRecipe paper = small_explainer(20);
  paper.learning_rate = 1e-2;
  std::vector<ExplainerCase> all = {{"paper", paper, {}}};
  networks::ExplainerRecipe any = other_explainer(15);
  any.target = "mean_field";
  any.any_query = true;
  all.push_back({"any_query", any, {0, 3, 15, 7, 9, 11, 14, 1}});
  // A multiwavelet network by itself, and inside the network of a density that says where the query is.
  for (const auto& [coordinates, epochs, rate] : {std::tuple("grid", 17, 5e-3), std::tuple("query", 24, 1e-2)}) {
    networks::ExplainerRecipe recipe = small_explainer(epochs);
    recipe.learning_rate = rate;
    recipe.model = small_mwt;
    recipe.coordinates = coordinates;
    all.push_back({std::string("mwt_") + coordinates, recipe, {}});
  }
  return all;
}

TEST_F(Training, OfAnExplainerFindsTheShapleyValuesOfALinearOperator) {
  const WeightedMeanOperator backbone(0);
  for (const auto& [name, recipe, queries] : explainer_cases()) {
    train_explainer(recipe, backbone, small_data(64, 8), 1, folder_ / name);
    const auto explainer = explainers::load_explainer(folder_ / name / "model.safetensors", backbone);
    EXPECT_EQ(recipe.any_query, explainer->any_query()) << name;
    const std::vector<Resolution> told = recipe.coordinates == "grid" ? std::vector<Resolution>{} : recipe.resolutions;
    EXPECT_EQ(told, explainer->trained_at()) << name;
    for (const int points : {16, 32}) {
      const std::vector<int> at = queries.empty() ? std::vector(8, points / 2) : queries;
      EXPECT_LT(error_beside_uniform(*explainer, points, at), 0.2) << name << ", " << points << " points";
    }
  }
}

constexpr int cloud_points = 64;

/// At scattered points of a plane, with their weighted mean.
data::Dataset cloud_data(int train, int validation) {
  data::Dataset data = data::scattered(smooth_data(Domain::unit({16, 16}), train, validation, 12), cloud_points);
  data.targets = PlaneMeanOperator().apply(data.inputs.batch());
  return data;
}

networks::NetworkSettings small_gino() {
  return {.model = "gino",
          .json = R"({"modes": 4, "width": 12, "layers": 2, "in_radius": 0.3, "out_radius": 0.3, )"
                  R"("in_transform": "nonlinear", "out_transform": "linear", "latent_shape": [6, 6]})"};
}

TEST_F(Training, OfABackboneLowersItsLoss) {
  // What does not learn stays where it is.
  for (const auto& [model, epochs, data, resolutions, factor] :
       {std::tuple(small_model(), 30, small_data(32, 8), std::vector<Resolution>{16, 32}, 10),
        {small_mwt, 24, small_data(32, 8), {16, 32}, 10},
        {small_gino(), 20, cloud_data(32, 8), {cloud_points}, 4}}) {
    networks::BackboneRecipe recipe = small_backbone(epochs);
    recipe.model = model;
    recipe.resolutions = resolutions;
    const auto summary = training::train_backbone(recipe, data, 1, folder_ / model.model);
    const std::vector<double> losses = curve(folder_ / model.model, "validation");
    EXPECT_EQ(epochs, std::ssize(losses)) << model.model;
    EXPECT_LT(summary.best_validation, losses.front() / factor) << model.model;
  }
  networks::BackboneRecipe recipe = small_backbone(20);
  recipe.model = small_gino();
  recipe.resolutions = {cloud_points / 2};
  EXPECT_THROW(training::train_backbone(recipe, cloud_data(32, 8), 1, folder_ / "b"), InvalidArgument)
      << "a mesh has one resolution";
}

TEST_F(Training, OfAnExplainerOnAMeshFindsTheShapleyValuesOfBlocks) {
  networks::ExplainerRecipe recipe = small_explainer(18);
  recipe.model = small_gino();
  recipe.resolutions = {cloud_points};
  recipe.scenario = {.players = ScenarioRule::Players::blocks, .blocks = 16};
  const PlaneMeanOperator backbone;
  train_explainer(recipe, backbone, cloud_data(64, 8), 1, folder_ / "a");
  const auto explainer = explainers::load_explainer(folder_ / "a" / "model.safetensors", backbone);

  const data::Dataset fresh = cloud_data(72, 8);
  double missed = 0, missed_by_uniform = 0;
  for (const std::int64_t sample : fresh.indices(data::Split::validation)) {
    const Scenario scenario = make_scenario(recipe.scenario, fresh.inputs.one(sample));
    std::vector<double> truth(static_cast<std::size_t>(scenario.partition.players), 0.0);
    for (std::int64_t point = 0; point < scenario.input.domain.points(); ++point)
      truth[static_cast<std::size_t>(scenario.partition.player_of[static_cast<std::size_t>(point)])] +=
          PlaneMeanOperator::share(scenario.input, 0, point);
    const double grand = std::accumulate(truth.begin(), truth.end(), 0.0);
    const std::vector<double> found = cell_values(explainer->densities(scenario.input, scenario.readout).field(0),
                                                  scenario.input.domain, scenario.partition, 0, grand);
    for (std::size_t player = 0; player < truth.size(); ++player) {
      const double uniform = grand * scenario.partition.volumes[player] / scenario.input.domain.volume();
      missed += std::pow(found[player] - truth[player], 2);
      missed_by_uniform += std::pow(uniform - truth[player], 2);
    }
  }
  EXPECT_LT(std::sqrt(missed / missed_by_uniform), 0.5);  // what knows the sum alone is at 1
}

TEST_F(Training, RefusesLabelsAndMixturesThatCannotWork) {
  const auto train = [&](const networks::ExplainerRecipe& recipe, const Operator& backbone) {
    train_explainer(recipe, backbone, small_data(8, 2), 1, folder_ / "a");
  };
  const WeightedMeanOperator backbone(0);
  networks::ExplainerRecipe exact = other_explainer(1), mean_field = exact;
  exact.target = "exact";
  EXPECT_EQ(refusal<InvalidArgument>([&] { train(exact, backbone); }),
            "explainer: target=exact, players=32 (a label takes 2^n evaluations, n <= 16). Use it in a mixture with "
            "players = 16, or two_level or mean_field instead.");
  mean_field.target = "mean_field";
  EXPECT_TRUE(has(refusal<InvalidArgument>([&] { train(mean_field, StoppingOperator(1000)); }), "mean_field"));
  using Mixture = decltype(exact.mixture);
  const auto with = [&](const Mixture& mixture) {
    networks::ExplainerRecipe recipe = mean_field;
    recipe.mixture = mixture;
    train(recipe, backbone);
  };
  expect_refusals<InvalidArgument>(
      Refusals<Mixture>{
          {{{.players = 16, .target = "exact"}, {.players = 16, .target = "two_level"}}, "Put the rules in order"},
          {{{.players = 16, .target = "fastshap"}}, "Mix targets that are asked once"},
          {{{.players = 16, .target = "exactly"}}, "exactly"}},
      with);
  EXPECT_NO_THROW(with({{.players = 16, .target = "permutation_pairs"}}));
}

/// What a network says of a field after two epochs of ten equal gradients, of which the last but two is `factor` times
/// as long.
double answer_after_a_spike(double factor, double clipping, const fs::path& folder) {
  const auto network = operators::make_network(
      operators::fitted(small_model(), {.dimension = 1, .in_channels = 1, .out_channels = 1}), torch::kFloat32);
  operators::initialise(*network, 1);
  training::TrainingLoop loop{
      .name = "test", .epochs = 2, .patience = 0, .clipping = clipping, .train = {}, .validate = [] { return 1.0; }};
  loop.train = [&](std::int64_t epoch, const std::function<void()>& step) {
    for (int number = 0; number < 10; ++number) {
      for (operators::Parameter& parameter : network->parameters())
        parameter.value.mutable_grad() =
            torch::full_like(parameter.value, epoch == 1 && number == 7 ? factor * 0.01 : 0.01);
      step();
    }
    return 1.0;
  };
  training::run_training(loop, *network, training::TrainingFolder(folder, "test"));
  const auto op = operators::load_operator(folder / "model.safetensors");
  return op->values_at(small_data(1, 0).inputs.batch(), Query{.point = 3}).front();
}

TEST_F(Training, CutsGradientsThatAreMuchLongerThanUsual) {
  const double usual = answer_after_a_spike(1, 2, folder_ / "usual"),
               cut = answer_after_a_spike(1e3, 2, folder_ / "cut"),
               also_cut = answer_after_a_spike(1e6, 2, folder_ / "also_cut"),
               whole = answer_after_a_spike(1e3, 0, folder_ / "whole");
  // Both are cut to the same length, but for a rounding of its float32.
  EXPECT_NEAR(cut, also_cut, 1e-4 * std::abs(cut - usual)) << "usual " << usual;
  EXPECT_GT(std::abs(whole - usual), 2 * std::abs(cut - usual));
}

TEST(ResolutionBatches, ServeEverySampleOnceAtItsOwnResolution) {
  const data::Dataset data = small_data(20, 4);
  const auto groups = training::resolution_groups(data, data::Split::train, {16, 32});
  std::vector<int> seen(20, 0);
  for (const training::Batch& batch : training::epoch_batches(groups, 3, 5, 7))
    for (const std::int64_t member : batch.members) {
      const std::int64_t sample = groups[batch.group].samples[static_cast<std::size_t>(member)];
      EXPECT_EQ(static_cast<std::size_t>(sample % 2), batch.group);
      ++seen[static_cast<std::size_t>(sample)];
    }
  EXPECT_EQ(std::vector<int>(20, 1), seen);
  EXPECT_THROW(training::resolution_groups(data, data::Split::train, {16}), InvalidArgument);
}

}  // namespace
}  // namespace opshap
