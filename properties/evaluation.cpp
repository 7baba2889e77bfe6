// Evaluations have a row for everything, and resume. Held-out inputs: their errors are those of the definition, their
// references are computed once, and drift is what depends on the grid. Who changes anything in a game, and how far what
// hides players is from the data.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <vector>

#include "core/error.hpp"
#include "core/explainer.hpp"
#include "core/file.hpp"
#include "core/measured.hpp"
#include "core/operator.hpp"
#include "core/rng.hpp"
#include "evaluation/evaluate.hpp"
#include "evaluation/held_out.hpp"
#include "games/cell_mask_game.hpp"
#include "metrics/registry.hpp"
#include "runs/results.hpp"
#include "support/operator_inputs.hpp"
#include "support/run_folder.hpp"
#include "support/stopping_operator.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {
namespace {

/// A density from the field's value, the position and the number of points.
class DensityOf final : public Explainer {
 public:
  using Function = std::function<double(double value, double x, double query, int points)>;
  explicit DensityOf(Function function) : function_(std::move(function)) {}
  std::string describe() const override { return "a function"; }
  bool any_query() const override { return true; }
  FieldBatch densities(const FieldBatch& inputs, const Readout& readout) const override {
    FieldBatch densities = inputs;
    const int points = inputs.domain.shape()[0];
    for (std::int64_t point = 0; point < points; ++point) {
      double& value = densities.values[static_cast<std::size_t>(point)];
      value =
          function_(value, inputs.domain.position(point)[0], inputs.domain.position(readout.query().point)[0], points);
    }
    return densities;
  }

 private:
  Function function_;
};

std::unique_ptr<methods::Method> method(DensityOf::Function function) {
  return methods::of_explainer(std::make_unique<DensityOf>(std::move(function)));
}

/// The input itself as density.
double input_as_density(double value, double, double, int) { return value; }

data::Dataset small_data() {
  data::Dataset data;
  data.pde = "burgers1d";
  data.content_hash = "0";
  Rng rng(3, "evaluation test");
  data.inputs = random_field(Domain::unit({32}), 1, rng, 4);
  data.targets = WeightedMeanOperator(0.5).apply(data.inputs.batch());
  data.split = {data::Split::train, data::Split::validation, data::Split::test, data::Split::test};
  data.resolution_slot = {0, 1, 0, 1};
  return data;
}

evaluation::EvaluationSettings small_settings() {
  evaluation::EvaluationSettings settings;
  settings.resolutions = {8, 32};
  settings.inputs = 2;
  settings.methods = {"permutation", "kernel_shap_paired", "integrated_gradients"};
  settings.minimum_budget = 128;
  settings.faithfulness_coalitions = 200;
  settings.reference_error = 0.05;
  settings.reference_budget = 2000;
  settings.curves = {{.players = 8, .budgets = {32, 64}, .inputs = 1}};
  return settings;
}

class EvaluateTest : public RunFolder {
 protected:
  void run(const evaluation::EvaluationSettings& settings = small_settings()) const { run(backbone_, settings); }
  void run(const Operator& backbone, const evaluation::EvaluationSettings& settings = small_settings(),
           std::uint64_t seed = 5, const std::string& identity = "") const {
    evaluation::evaluate({.backbone = backbone,
                          .explainers = {explainer_method_},
                          .data = data_,
                          .settings = settings,
                          .seed = seed,
                          .identity = identity},
                         folder_);
  }

  WeightedMeanOperator backbone_{0.5};
  std::shared_ptr<const methods::Method> explainer_method_ = method(input_as_density);
  data::Dataset data_ = small_data();
};

TEST_F(EvaluateTest, WritesARowForEveryMethodInputAndResolution) {
  run();
  const runs::Results results = runs::read_results(folder_);
  // Two resolutions × two inputs × (explainer, uniform, three methods), and two budgets of two sampling methods on one
  // input at n = 8.
  EXPECT_EQ(2u * 2u * 5u + 4u, results.attributions.size());
  EXPECT_EQ(results.attributions.size() + 4, results.values.size());  // and the reference of each unit
  EXPECT_EQ(2u, results.operators.size());
  ASSERT_EQ(2u, results.games.size());
  for (const runs::GamesRow& row : results.games) {
    EXPECT_EQ((std::vector<int>{row.players, row.players}), row.active) << "no cell of these inputs is 0";
    ASSERT_EQ(1u, row.baseline_distances.size());
    EXPECT_GT(row.baseline_distances[0], 0);
    EXPECT_EQ("zero", row.baseline);
    EXPECT_TRUE(row.rest.empty()) << "nothing knows the problem of these data";
  }
  for (const runs::AttributionRow& row : results.attributions) {
    EXPECT_EQ(row.reference == "exact" ? 0u : 2u, row.reference_parts.size());
    EXPECT_EQ(row.reference == "exact", !row.reference_check.has_value());
    EXPECT_EQ(row.players <= 16 ? "exact" : "certified", row.reference);
    ASSERT_TRUE(row.scores["nrmse"].value.has_value()) << row.method << " " << row.scores["nrmse"].why;
    ASSERT_TRUE(row.own_share.has_value());
    const auto reference = std::ranges::find_if(results.values, [&row](const runs::ValuesRow& values) {
      return values.method == "reference" && values.players == row.players && values.sample == row.sample;
    });
    const std::vector<double>& values = reference->values;
    // The query of these scenarios is the middle point. 32 additions and a root of numbers of order 1.
    EXPECT_NEAR(std::abs(values[values.size() / 2]) / norm(values), *row.own_share, 1e-14);
    if (row.method == "operator_shap" || row.method == "permutation") {
      EXPECT_LT(*row.scores["efficiency_gap"].value, 1e-13);  // ~30 additions of order 1
    }
  }
  for (const runs::OperatorRow& row : results.operators) {
    // The targets are this operator's own outputs on the native grid: at 32 points the error is rounding, at 8 it is
    // not.
    for (const double error : row.defined_errors())
      EXPECT_EQ(row.points == 32, error < 1e-14) << row.points << " " << error;
  }
}

// The programs are lines of shell: one gives every player 0, the other ends at once.
TEST_F(EvaluateTest, GivesProgramsRowsAndSaysWhyTheyDidNotFinish) {
  const fs::path programs = folder_ / "programs";
  const auto program = [&](const std::string& name, const std::string& script) {
    write_file(programs / name / "peer.sh", script);
    write_file(programs / name / "plugin.toml", "name = '" + name + "'\ncommand = ['sh', 'peer.sh']\n");
    return "peer:" + (programs / name).string();
  };
  const std::string lazy = program("lazy", R"(
      echo '{"type":"hello","protocol":1,"name":"lazy","needs":["values"]}' >&4
      while read -r task <&3; do
        case $task in *'"bye"'*) exit 0;; esac
        id=${task#*id\":}; id=${id%%,*}; n=${task#*\"n\":}; n=${n%%,*}; bytes=$((8 * n))
        { echo "{\"type\":\"result\",\"id\":$id,\"nbytes\":$bytes}"; head -c $bytes /dev/zero; } >&4
      done)");
  evaluation::EvaluationSettings settings = small_settings();
  settings.resolutions = {8};
  settings.methods = {"permutation", lazy, program("ends", "exit 3")};
  evaluation::evaluate({.backbone = backbone_, .data = data_, .settings = settings, .seed = 5}, folder_);
  std::vector<std::string> ends_reasons;
  int lazy_rows = 0;
  for (const runs::AttributionRow& row : runs::read_results(folder_).attributions) {
    if (row.method == "peer:lazy") {
      ++lazy_rows;
      EXPECT_EQ(1, row.scores["nrmse"].value) << row.scores["nrmse"].why;  // the error of 0 is all of the reference
      EXPECT_EQ("values", row.access);
      EXPECT_EQ(2, row.distinct);
    } else if (row.method == "peer:ends") {
      EXPECT_FALSE(row.scores["nrmse"].value.has_value());
      ends_reasons.push_back(row.scores["nrmse"].why.substr(0, row.scores["nrmse"].why.find(')') + 1));
    }
  }
  // Two inputs at the budget of the table, and two budgets of the curve on the first input.
  EXPECT_EQ(4, lazy_rows);
  EXPECT_EQ((std::vector<std::string>{"DNF (crash)", "DNF (crash)", "DNF (crash)", "DNF (skipped)"}), ends_reasons);
}

TEST_F(EvaluateTest, ScoresExplainersOnGridsThatNoTrainingInputHad) {
  evaluation::EvaluationSettings settings = small_settings();
  settings.unseen = {12};
  run(settings);
  const runs::Results results = runs::read_results(folder_);
  int unseen = 0;
  for (const runs::AttributionRow& row : results.attributions) {
    if (row.players != 12) continue;
    ++unseen;
    EXPECT_TRUE(row.method == "operator_shap" || row.method == "uniform") << row.method;
    EXPECT_EQ("exact", row.reference);
    EXPECT_TRUE(row.scores["nrmse"].value.has_value());
  }
  EXPECT_EQ(2 * 2, unseen);  // two inputs, two methods
  EXPECT_EQ(3u, results.operators.size());
}

TEST_F(EvaluateTest, TellsHowFarItsExplainerDrifts) {
  run();
  const runs::Results results = runs::read_results(folder_);
  ASSERT_EQ(1u, results.drifts.size());
  const runs::DriftRow& row = results.drifts.front();
  EXPECT_EQ(std::vector<int>{8}, row.shape);
  EXPECT_EQ(std::vector<int>{32}, row.finest);
  ASSERT_EQ(2u, row.drifts.size());
  // The input itself is the same at common points: what is left are roundings of a shift and its removal.
  for (const double drift : row.drifts) EXPECT_LT(drift, 1e-13);
}

TEST(Drift, IsTheDistanceAtCommonPointsButTheQuerys) {
  const Domain coarse = Domain::unit({4}), fine = Domain::unit({8});
  const std::vector<double> finer = {1, 0, 2, 0, 9, 0, 6, 0};
  const auto drift = [&](const std::vector<double>& values, const std::vector<double>& from) {
    return evaluation::drift(values, coarse, from, fine, Query{.point = 2});
  };
  // At points 0, 1 and 3 the finer one is 1, 2, 6: without its mean -2, -1, 3, of squared size 14.
  EXPECT_EQ(Measured::of(0), drift({2, 3, 0, 7}, finer)) << "a constant is no drift";
  EXPECT_DOUBLE_EQ(std::sqrt(2.0 / 14), *drift({2, 1, 5, 6}, finer).value);
  EXPECT_EQ("relative to 0", drift({2, 1, 5, 6}, std::vector<double>(8, 3.0)).why);
  EXPECT_THROW(drift({2, 1}, finer), InvalidArgument);
}

// An evaluation that was stopped goes on with its own units only.
TEST_F(EvaluateTest, DoesNotTakeOverUnitsOfAnotherIdentity) {
  const StoppingOperator stopping(70);
  const auto evaluate_with = [&](const Operator& backbone, std::uint64_t seed) {
    run(backbone, small_settings(), seed, std::to_string(seed));
  };
  EXPECT_THROW(evaluate_with(stopping, 6), Stopped);
  evaluate_with(backbone_, 5);
  const std::string after_another = read_file(folder_ / "attributions.jsonl");
  fs::remove_all(folder_);
  evaluate_with(backbone_, 5);
  EXPECT_EQ(read_file(folder_ / "attributions.jsonl"), after_another);
}

TEST_F(EvaluateTest, GivesTheSameAttributionsAfterAnInterruption) {
  run();
  const std::string whole = read_file(folder_ / "attributions.jsonl");
  fs::remove_all(folder_);

  // The first two units (n = 8) need few calls; the third is stopped in the middle.
  const StoppingOperator stopping(70);
  EXPECT_THROW(run(stopping), Stopped);
  // What is finished so far is whole resolutions: both inputs at n = 8, nothing at n = 32.
  const runs::Results finished = runs::read_results(folder_);
  EXPECT_EQ(2u * 5u + 4u, finished.attributions.size());
  for (const runs::AttributionRow& row : finished.attributions) EXPECT_EQ(8, row.players);
  EXPECT_FALSE(fs::is_empty(folder_ / "units"));
  run();
  EXPECT_EQ(whole, read_file(folder_ / "attributions.jsonl"));
  EXPECT_FALSE(fs::exists(folder_ / "units"));
}

/// Of the linear operator below: a cell's value is its share of the mean.
double true_density(double value, double x, double query, int) {
  return value * (1 + std::cos(2 * std::numbers::pi * (x - query)));
}

evaluation::HeldOutPlan plan(const Operator& op, bool any_query) {
  Rng rng(3, "held-out test");
  return {
      .op = op, .inputs = random_field(Domain::unit({32}), 1, rng, 5), .resolutions = {4, 8}, .any_query = any_query};
}

TEST(HeldOut, GivesTheTrueDensityNoErrorAtAnyQuery) {
  const WeightedMeanOperator linear(0);
  const evaluation::HeldOut held_out(plan(linear, true));
  for (std::size_t place = 0; place < 2; ++place) {
    const auto errors = held_out.errors_at(place, *method(true_density));
    ASSERT_TRUE(errors);
    EXPECT_EQ(place == 0 ? 4 : 8, errors->players);
    ASSERT_EQ(5u, errors->nrmse.size());
    for (const double error : errors->nrmse) EXPECT_LT(error, 1e-12) << "roundings of sums of 32 terms";
  }
  EXPECT_GT(held_out.errors_at(0, *method(input_as_density))->median(), 0.01) << "the input itself is not the answer";
  std::set<std::int64_t> points;
  for (std::size_t sample = 0; sample < held_out.inputs(); ++sample)
    points.insert(held_out.explained(1, sample).scenario.readout.query().point);
  EXPECT_GT(points.size(), 1u) << "each input has a point of its own";
}

TEST(HeldOut, HasTheErrorsOfTheDefinition) {
  const WeightedMeanOperator cubic(0.5);
  const evaluation::HeldOutPlan asked = plan(cubic, false);
  const evaluation::HeldOut held_out(asked);
  const auto explainer = method(true_density);
  const auto errors = held_out.errors_at(0, *explainer);
  ASSERT_TRUE(errors);
  for (std::int64_t sample = 0; sample < 5; ++sample) {
    const Scenario scenario = make_scenario({}, asked.inputs.one(sample), {4});
    const auto game = games::cell_mask_game(cubic, scenario);
    const auto exact = attribute(estimators::find("exact"), *game, {}, 0).values;
    const auto found = explainer->attribute({*game, &scenario, {}, 0}).values;
    EXPECT_DOUBLE_EQ(*metrics::nrmse(exact, found).value, errors->nrmse[static_cast<std::size_t>(sample)]);
  }
  const statistics::Interval interval = errors->interval(1);
  EXPECT_LE(interval.low, errors->median());
  EXPECT_GE(interval.high, errors->median());
  EXPECT_EQ(2u, held_out.errors_at(0, *explainer, {}, 2)->nrmse.size());
  EXPECT_FALSE(held_out.errors_at(0, *methods::resolve("permutation"), {3})) << "too small a budget";
}

TEST(HeldOut, KnowsTheShareOfTheQuerysOwnPlayer) {
  const WeightedMeanOperator linear(0);
  evaluation::HeldOutPlan asked = plan(linear, false);
  std::ranges::fill(asked.inputs.field(0), 0.0);
  const evaluation::HeldOut held_out(asked);
  const evaluation::HeldOutErrors missed = held_out.own_player_missed(1);
  EXPECT_EQ((std::vector<int>{8}), missed.shape);
  EXPECT_EQ(8, missed.players);
  ASSERT_EQ(4u, missed.nrmse.size()) << "the first input is 0, and so are its values";
  ASSERT_EQ(4u, missed.reference_errors.size());
  for (std::int64_t sample = 1; sample < 5; ++sample) {
    const Scenario scenario = make_scenario({}, asked.inputs.one(sample), {8});
    const std::int64_t query = scenario.readout.query().point;
    const auto position = [&](std::int64_t at) { return scenario.input.domain.position(at)[0]; };
    std::vector<double> values = scenario.input.values;
    for (std::size_t point = 0; point < 8; ++point)
      values[point] = true_density(values[point], position(static_cast<std::int64_t>(point)), position(query), 8);
    EXPECT_NEAR(std::abs(values[static_cast<std::size_t>(query)]) / norm(values),
                missed.nrmse[static_cast<std::size_t>(sample - 1)], 1e-12)
        << "roundings of sums of 32 terms";
  }
  std::ranges::fill(asked.inputs.batch().values, 0.0);
  EXPECT_THROW(evaluation::HeldOut{asked}.own_player_missed(0), DataError);
}

TEST_F(EvaluateTest, OfHeldOutInputsComputesItsReferencesOnce) {
  const WeightedMeanOperator cubic(0.5);
  runs::Units units(folder_ / "units", "test", "held out");
  const evaluation::HeldOut first(plan(cubic, false), &units);
  const StoppingOperator stopping(0);
  EXPECT_THROW(evaluation::HeldOut{plan(stopping, false)}, Stopped);
  const evaluation::HeldOut second(plan(stopping, false), &units);
  EXPECT_EQ(4, second.players(0));
}

TEST(HeldOut, KnowsHowFarAnExplainerDrifts) {
  const WeightedMeanOperator linear(0);
  evaluation::HeldOutPlan asked = plan(linear, false);
  asked.inputs = FieldBatch::zeros(Domain::unit({256}), 2, 1);
  for (double& value : asked.inputs.batch().values) value = 1;
  asked.resolutions = {8};
  const evaluation::HeldOut held_out(asked);
  const DensityOf same(true_density);
  EXPECT_NEAR(0, held_out.drift(same, 32, 256), 1e-14);
  const DensityOf shifted([](double value, double x, double query, int points) {
    return true_density(value, x, query, points) + 1.0 / points;
  });
  EXPECT_NEAR(0, held_out.drift(shifted, 32, 256), 1e-14) << "a constant is not drift";
  constexpr double grows = 0.5;
  const DensityOf drifting([](double, double x, double, int points) {
    return std::cos(2 * std::numbers::pi * x) + grows / points * std::sin(2 * std::numbers::pi * x);
  });
  // The query's point, one of 32, is left out of both sums.
  EXPECT_NEAR(grows * (1.0 / 32 - 1.0 / 256), held_out.drift(drifting, 32, 256), grows / 32 * 2.0 / 32);
}

TEST(HeldOut, PlayersOfAnotherPartitionGiveWhatLiesInOnesOwn) {
  const FieldBatch line = FieldBatch::zeros(Domain::unit({8}), 1, 1);
  const auto blocks_of = [](const FieldBatch& field, int count) {
    return make_scenario({.players = ScenarioRule::Players::blocks, .blocks = count}, field);
  };
  const Scenario two = blocks_of(line, 2), four = blocks_of(line, 4);
  const std::vector<double> halves = {1, 3}, quarters = {1, 2, 4, 8};
  EXPECT_EQ((std::vector<double>{0.5, 0.5, 1.5, 1.5}), evaluation::values_for(four, two, halves));
  EXPECT_EQ((std::vector<double>{3, 12}), evaluation::values_for(two, four, quarters));
  EXPECT_EQ(quarters, evaluation::values_for(four, four, quarters));
  // A part of a mesh gets the part of the values.
  const auto cloud = [](std::vector<double> points, std::vector<double> volumes) {
    return FieldBatch::zeros(Domain::mesh(Mesh::of_points(2, std::move(points), std::move(volumes))), 1, 1);
  };
  const Scenario whole = blocks_of(cloud({0, 0, 1, 0, 2, 0, 3, 0}, {1, 3, 1, 1}), 4),
                 part = make_scenario({}, cloud({0, 0, 1, 0}, {1, 3}));
  ASSERT_EQ(2, whole.partition.players);
  EXPECT_EQ((std::vector<double>{2, 6}), evaluation::values_for(part, whole, std::vector<double>{8, 5}));
}

TEST(HeldOut, LeavesOutWhatNothingCanBeScoredOn) {
  const WeightedMeanOperator linear(0);
  evaluation::HeldOutPlan none = plan(linear, false);
  none.inputs = FieldBatch::zeros(Domain::unit({32}), 0, 1);
  EXPECT_THROW(evaluation::HeldOut{none}, InvalidArgument);
  evaluation::HeldOutPlan zeros = plan(linear, false);
  std::ranges::fill(zeros.inputs.batch().values, 0.0);
  const evaluation::HeldOut held_out(zeros);
  const auto nothing = held_out.errors_at(0, *method([](double, double x, double, int) { return x; }));
  ASSERT_TRUE(nothing.has_value());
  EXPECT_TRUE(nothing->nrmse.empty()) << "no error is relative to values that are all 0";
  EXPECT_EQ(zeros.inputs.count(), nothing->left_out);
  EXPECT_THROW(held_out.own_player_missed(0), DataError);
}

using evaluation::baseline_distances;
using evaluation::count_active_players;

Scenario scenario(std::vector<double> input, std::vector<double> baseline, int channels, int players) {
  const Domain line = Domain::grid({Axis::ring(static_cast<int>(input.size()) / channels)});
  const auto field = [&](std::vector<double> values) {
    FieldBatch batch = FieldBatch::zeros(line, 1, channels);
    batch.values = std::move(values);
    return batch;
  };
  return {.input = field(std::move(input)),
          .baseline = field(std::move(baseline)),
          .partition = Partition::blocks(line, players),
          .readout = Query{}};
}

TEST(ActivePlayers, AreThoseWhoseCellsDifferFromTheBaseline) {
  EXPECT_EQ(4, count_active_players(scenario({1, 2, 3, 4}, {0, 0, 0, 0}, 1, 4)));
  EXPECT_EQ(2, count_active_players(scenario({1, 0, 3, 0}, {0, 0, 0, 0}, 1, 4)));
  EXPECT_EQ(1, count_active_players(scenario({1, 5, 3, 3}, {0, 0, 3, 3 * (1 + 1e-12)}, 1, 2)))
      << "rounding is no difference";
  EXPECT_EQ(1, count_active_players(scenario({1, 1, 1, 1, 0, 0, 7, 0}, {1, 1, 1, 1, 0, 0, 0, 0}, 2, 4)))
      << "any channel will do";
  EXPECT_EQ(0, count_active_players(scenario({0, 0}, {0, 0}, 1, 2)));
}

// The remark on a baseline far from the data is about what the rule makes of it. A blur is near by itself.
TEST_F(EvaluateTest, SaysWhatHidesAPlayerAndHowFarThatIsFromTheData) {
  using Hidden = ScenarioRule::Hidden;
  data_.parameters = "{}";  // of the problem as it is, whose state at rest is 0
  const auto row_of = [&](const ScenarioRule& rule, const char* name) {
    evaluation::EvaluationSettings settings = small_settings();
    settings.scenario = rule;
    settings.resolutions = {8};
    settings.methods.clear();
    settings.curves.clear();
    evaluation::evaluate(
        {.backbone = backbone_, .explainers = {explainer_method_}, .data = data_, .settings = settings},
        folder_ / name);
    return runs::read_results(folder_ / name).games.at(0);
  };
  const runs::GamesRow far = row_of({.baseline = Hidden::constant, .constants = {100}}, "far"),
                       smooth = row_of({.baseline = Hidden::blur}, "smooth"),
                       rest = row_of({.baseline = Hidden::rest}, "rest");
  EXPECT_EQ("constant (100)", far.baseline);
  EXPECT_GT(far.baseline_distances[0], runs::GamesRow::far_from_the_data);
  EXPECT_EQ("blur:0.15", smooth.baseline);
  EXPECT_LT(smooth.baseline_distances[0], runs::GamesRow::far_from_the_data);
  EXPECT_EQ("rest (0)", rest.baseline);
  for (const runs::GamesRow& row : {far, smooth, rest}) EXPECT_EQ(std::vector<double>{0}, row.rest);
}

TEST(BaselineDistances, AreInStandardDeviationsOfEachChannel) {
  // Channel 0 has the mean 3 and the deviation 2; channel 1 does not vary.
  const std::vector scenarios = {scenario({1, 1, 5, 5}, {0, 0, 5, 5}, 2, 2),
                                 scenario({5, 5, 5, 5}, {0, 0, 5, 5}, 2, 2)};
  const std::vector<double> found = baseline_distances(scenarios);
  ASSERT_EQ(2u, found.size());
  EXPECT_DOUBLE_EQ(1.5, found[0]);
  EXPECT_EQ(0, found[1]);
  // A point that shows the input hides nothing, however far it is.
  const std::vector<Scenario> shown = {scenario({1, 5}, {100, 5}, 1, 2), scenario({1, 5}, {1, 5}, 1, 2)};
  EXPECT_DOUBLE_EQ((100 - 3) / 2.0, baseline_distances(shown)[0]);
  EXPECT_EQ(0, baseline_distances(std::vector{shown[1]})[0]);
  EXPECT_THROW(baseline_distances({}), InvalidArgument);
}

}  // namespace
}  // namespace opshap
