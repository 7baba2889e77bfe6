// Evaluations have a row for everything, and resume.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "core/error.hpp"
#include "core/explainer.hpp"
#include "core/file.hpp"
#include "core/operator.hpp"
#include "core/rng.hpp"
#include "evaluation/evaluate.hpp"
#include "runs/results.hpp"
#include "support/stopping_operator.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;

/// The input itself as density.
class InputAsDensity final : public Explainer {
 public:
  std::string describe() const override { return "the input"; }
  FieldBatch densities(const FieldBatch& inputs, const Readout&) const override { return inputs; }
};

data::Dataset small_data() {
  data::Dataset data;
  data.pde = "burgers1d";
  data.inputs = FieldBatch::zeros(Domain::unit({32}), 4, 1);
  data.content_hash = "0";
  Rng rng(3, "evaluation test");
  for (double& value : data.inputs.values) value = rng.normal();
  data.targets = WeightedMeanOperator(0.5).apply(data.inputs);
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

class EvaluateTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(run_); }
  void TearDown() override { fs::remove_all(run_); }
  void run() const {
    evaluation::evaluate({.backbone = backbone_,
                          .explainers = {explainer_method_},
                          .data = data_,
                          .settings = small_settings(),
                          .seed = 5},
                         run_);
  }

  fs::path run_ = fs::temp_directory_path() / ("opshap_evaluate_" + std::to_string(getpid()));
  WeightedMeanOperator backbone_{0.5};
  std::shared_ptr<const methods::Method> explainer_method_ = methods::of_explainer(std::make_unique<InputAsDensity>());
  data::Dataset data_ = small_data();
};

TEST_F(EvaluateTest, WritesARowForEveryMethodInputAndResolution) {
  run();
  const runs::Results results = runs::read_results(run_);
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
  }
  for (const runs::AttributionRow& row : results.attributions) {
    EXPECT_EQ(row.reference == "exact" ? 0u : 2u, row.reference_parts.size());
    EXPECT_EQ(row.reference == "exact", !row.reference_check.has_value());
  }
  for (const runs::AttributionRow& row : results.attributions) {
    EXPECT_EQ(row.players <= 16 ? "exact" : "certified", row.reference);
    ASSERT_TRUE(row.scores["nrmse"].value.has_value()) << row.method << " " << row.scores["nrmse"].why;
    ASSERT_TRUE(row.own_share.has_value());
    const auto reference = std::ranges::find_if(results.values, [&row](const runs::ValuesRow& values) {
      return values.method == "reference" && values.players == row.players && values.sample == row.sample;
    });
    double squares = 0;
    for (const double value : reference->values) squares += value * value;
    // The query of these scenarios is the middle point. 32 additions and a root of numbers of order 1.
    EXPECT_NEAR(std::abs(reference->values[reference->values.size() / 2]) / std::sqrt(squares), *row.own_share, 1e-14);
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
  const fs::path programs = run_ / "programs";
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
  const std::string ends = program("ends", "exit 3");
  evaluation::EvaluationSettings settings = small_settings();
  settings.resolutions = {8};
  settings.methods = {"permutation", lazy, ends};
  evaluation::evaluate({.backbone = backbone_, .explainers = {}, .data = data_, .settings = settings, .seed = 5}, run_);
  std::vector<std::string> ends_reasons;
  int lazy_rows = 0;
  for (const runs::AttributionRow& row : runs::read_results(run_).attributions) {
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
  evaluation::evaluate(
      {.backbone = backbone_, .explainers = {explainer_method_}, .data = data_, .settings = settings, .seed = 5},
      run_);
  const runs::Results results = runs::read_results(run_);
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
  const runs::Results results = runs::read_results(run_);
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
  // At points 0, 1 and 3 the finer one is 1, 2, 6: without its mean -2, -1, 3, of squared size 14.
  EXPECT_EQ(Measured::of(0), evaluation::drift(std::vector<double>{2, 3, 0, 7}, coarse, finer, fine, Query{.point = 2}))
      << "a constant is no drift";
  EXPECT_DOUBLE_EQ(std::sqrt(2.0 / 14),
                   *evaluation::drift(std::vector<double>{2, 1, 5, 6}, coarse, finer, fine, Query{.point = 2}).value);
  EXPECT_EQ("relative to 0", evaluation::drift(std::vector<double>{2, 1, 5, 6}, coarse, std::vector<double>(8, 3.0),
                                               fine, Query{.point = 2})
                                 .why);
  EXPECT_THROW(evaluation::drift(std::vector<double>{2, 1}, coarse, finer, fine, Query{.point = 2}), InvalidArgument);
}

// An evaluation that was stopped goes on with its own units only.
TEST_F(EvaluateTest, DoesNotTakeOverUnitsOfAnotherIdentity) {
  const StoppingOperator stopping(70);
  const auto evaluate_with = [&](const Operator& backbone, std::uint64_t seed) {
    evaluation::evaluate({.backbone = backbone,
                          .explainers = {explainer_method_},
                          .data = data_,
                          .settings = small_settings(),
                          .seed = seed,
                          .identity = std::to_string(seed)},
                         run_);
  };
  EXPECT_THROW(evaluate_with(stopping, 6), Stopped);
  evaluate_with(backbone_, 5);
  const std::string after_another = read_file(run_ / "attributions.jsonl");
  fs::remove_all(run_);
  evaluate_with(backbone_, 5);
  EXPECT_EQ(read_file(run_ / "attributions.jsonl"), after_another);
}

TEST_F(EvaluateTest, GivesTheSameAttributionsAfterAnInterruption) {
  run();
  const std::string whole = read_file(run_ / "attributions.jsonl");
  fs::remove_all(run_);

  // The first two units (n = 8) need few calls; the third is stopped in the middle.
  const StoppingOperator stopping(70);
  EXPECT_THROW(evaluation::evaluate({.backbone = stopping,
                                     .explainers = {explainer_method_},
                                     .data = data_,
                                     .settings = small_settings(),
                                     .seed = 5},
                                    run_),
               Stopped);
  // What is finished so far is whole resolutions: both inputs at n = 8, nothing at n = 32.
  const runs::Results finished = runs::read_results(run_);
  EXPECT_EQ(2u * 5u + 4u, finished.attributions.size());
  for (const runs::AttributionRow& row : finished.attributions) EXPECT_EQ(8, row.players);
  EXPECT_FALSE(fs::is_empty(run_ / "units"));
  run();
  EXPECT_EQ(whole, read_file(run_ / "attributions.jsonl"));
  EXPECT_FALSE(fs::exists(run_ / "units"));
}

}  // namespace
}  // namespace opshap
