// Rows survive their files, tables follow their rules, and the page is whole: escaped, self-contained, the same from
// the same rows.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "core/error.hpp"
#include "core/file.hpp"
#include "reporting/amortisation.hpp"
#include "reporting/axes.hpp"
#include "reporting/budget_needed.hpp"
#include "reporting/claims.hpp"
#include "reporting/comparison.hpp"
#include "reporting/field_panels.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"
#include "reporting/report.hpp"
#include "reporting/report_tables.hpp"
#include "support/synthetic_run.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;
using reporting::Discretisation;

class RunFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("opshap_reporting_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// The page of a run, and everything else in the folder.
  std::string report(const runs::Results& results, const nlohmann::ordered_json& manifest) const {
    write_run(folder_, results, manifest);
    return read_file(reporting::write_report(folder_).page);
  }
  std::map<std::string, std::string> derived_files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file()) files[entry.path().lexically_relative(folder_)] = read_file(entry.path());
    }
    return files;
  }

  fs::path folder_;
};

runs::AttributionRow some_row() {
  runs::AttributionRow row;
  row.pde = "burgers1d";
  row.players = 32;
  row.sample = 7;
  row.method = "kernel_shap";
  row.access = "values";
  row.budget = 1024;
  row.distinct = 1000;
  row.evaluations = 1100;
  row.seed = std::numeric_limits<std::uint64_t>::max();
  row.game_seconds = 0.1;
  row.pearson = Measured::of(1.0 / 3);
  row.nrmse = Measured::of(0.25);
  row.r2 = Measured::undefined("v is the same on all coalitions");
  row.efficiency_gap = Measured::of(1e-17);
  row.reference = "exact";
  return row;
}

runs::FieldsRow two_channels_on_a_plane() {
  return {.pde = "burgers1d",
          .sample = 1,
          .x = {0, 0.5, 0, 1, 2},
          .input = {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6},
          .solution = {1, 0, 1, 0, 1, 0},
          .prediction = {1, 0, 1, 0, 1, 0.5},
          .shape = {2, 3},
          .input_channels = {"a", "b"},
          .output_channels = {"w"},
          .query = {0.5, 1},
          .player_of = {0, 0, 0, 1, 1, 1}};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

TEST_F(RunFolder, RowsComeBackAsTheyWere) {
  runs::Results results = SyntheticRun().results();
  runs::AttributionRow extra = some_row();
  extra.sample = 99;
  extra.shape = {8, 4};
  extra.explainer = "wide";
  results.attributions.push_back(extra);
  results.fields.push_back(two_channels_on_a_plane());
  write_run(folder_, results, SyntheticRun().manifest());
  const runs::Results back = runs::read_results(folder_);
  const auto expect_same = [](const auto& expected, const auto& actual) {
    ASSERT_EQ(expected.size(), actual.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(runs::to_json_line(expected[i]), runs::to_json_line(actual[i]));
  };
  expect_same(results.attributions, back.attributions);
  expect_same(results.values, back.values);
  expect_same(results.operators, back.operators);
  expect_same(results.training, back.training);
  expect_same(results.fields, back.fields);
  EXPECT_EQ(some_row().seed, back.attributions.back().seed);
  EXPECT_EQ(some_row().r2, back.attributions.back().r2);
  EXPECT_EQ(1.0 / 3, back.attributions.back().pearson.value);
  EXPECT_EQ((std::vector<int>{8, 4}), back.attributions.back().shape);
  EXPECT_EQ("wide", back.attributions.back().explainer);
  EXPECT_EQ(two_channels_on_a_plane().input_channels, back.fields.back().input_channels);
  EXPECT_EQ(two_channels_on_a_plane().query, back.fields.back().query);
  EXPECT_EQ(2, back.fields.back().players());
}

// A run folder of the time when there were one channel, one axis and one explainer.
TEST_F(RunFolder, RowsOfBeforeHaveTheShapeOfTheirPlayers) {
  write_file(folder_ / "results.jsonl",
             std::regex_replace(runs::to_json_line(some_row()), std::regex("\"shape\":\\[32\\],"), "") +
                 "\n{\"schema\":\"opshap.operator/1\",\"pde\":\"p\",\"points\":16,"
                 "\"relative_errors\":[0.5]}\n");
  ASSERT_EQ(std::string::npos, read_file(folder_ / "results.jsonl").find("shape"));
  write_file(folder_ / "fields.jsonl",
             "{\"schema\":\"opshap.fields/1\",\"pde\":\"p\",\"sample\":3,\"x\":[0,0.25,0.5,0.75],"
             "\"input\":[1,2,3,4],\"solution\":[1,2,3,4],\"prediction\":[1,2,3,4]}\n");
  const runs::Results back = runs::read_results(folder_);
  EXPECT_EQ((std::vector<int>{32}), back.attributions.at(0).shape);
  EXPECT_FALSE(back.attributions.at(0).explainer);
  EXPECT_EQ((std::vector<int>{16}), back.operators.at(0).shape);
  EXPECT_EQ((std::vector<int>{4}), back.fields.at(0).shape);
  EXPECT_EQ((std::vector<double>{0.5}), back.fields.at(0).query);
  EXPECT_EQ((std::vector<std::string>{"u"}), back.fields.at(0).input_channels);
}

TEST_F(RunFolder, ShapesThatDoNotFitAreNamed) {
  const std::string row = runs::to_json_line(some_row()), fields = runs::to_json_line(two_channels_on_a_plane());
  const auto changed = [](const std::string& line, const char* from, const char* to) {
    return std::regex_replace(line, std::regex(from), to);
  };
  const std::map<std::string, std::string> broken = {
      {changed(row, "\"shape\":\\[32\\]", "\"shape\":[4,4]"), "shape=4 × 4 (has 16 points for 32 players)"},
      {changed(row, "\"shape\":\\[32\\]", "\"shape\":[32,0]"), "shape=32 × 0 (an axis has"},
      {changed(row, "\"shape\":\\[32\\]", "\"shape\":32"), "shape (is not a list)"},
      {changed(fields, "\"shape\":\\[2,3\\]", "\"shape\":[3,3]"), "x=5 coordinates (the axes of shape 3 × 3 have 6)"},
      {changed(fields, "\\[\"a\",\"b\"\\]", "[\"a\"]"), "input=12 values (1 channels of 6 points)"},
      {changed(fields, "\"query\":\\[[^\\]]*\\]", "\"query\":[0.5]"), "query=1 coordinates (the grid has 2 axes)"},
      {changed(fields, "\"player_of\":\\[0,", "\"player_of\":["), "player_of=5 labels (the grid has 6 points)"},
  };
  ASSERT_EQ(7u, broken.size()) << "each change changed something of its own";
  for (const auto& [line, complaint] : broken) {
    write_file(folder_ / "results.jsonl", line + "\n");
    try {
      runs::read_results(folder_);
      ADD_FAILURE() << "accepted: " << line;
    } catch (const DataError& error) {
      EXPECT_NE(std::string::npos, std::string(error.what()).find(complaint)) << error.what();
    }
  }
}

TEST_F(RunFolder, ARepeatedKeyKeepsTheLastRowInThePlaceOfTheFirst) {
  runs::AttributionRow first = some_row(), other = some_row(), again = some_row();
  other.budget = std::nullopt;
  again.nrmse = Measured::of(0.5);
  write_file(folder_ / "results.jsonl",
             runs::to_json_line(first) + "\n" + runs::to_json_line(other) + "\n" + runs::to_json_line(again) + "\n");
  const runs::Results back = runs::read_results(folder_);
  ASSERT_EQ(2u, back.attributions.size());
  EXPECT_EQ(0.5, back.attributions[0].nrmse.value);
  EXPECT_FALSE(back.attributions[1].budget);
}

TEST_F(RunFolder, LinesThatCannotBeReadAreNamed) {
  const std::string good = runs::to_json_line(some_row());
  const std::map<std::string, std::string> broken = {
      {"{\"schema\":\"opshap.attr", "not a JSON object"},
      {"[1,2]", "not a JSON object"},
      {"{\"players\":3}", "schema (is missing)"},
      {"{\"schema\":\"opshap.future/9\"}", "schema=opshap.future/9"},
      {std::regex_replace(good, std::regex("\"players\":32"), "\"players\":\"32\""), "players (is not an integer)"},
      {std::regex_replace(good, std::regex("\"nrmse\":0.25"), "\"nrmse\":null"), "nrmse (is neither"},
      {std::regex_replace(good, std::regex("\"reference\":\"exact\","), ""), "reference (is missing)"},
  };
  for (const auto& [line, complaint] : broken) {
    write_file(folder_ / "results.jsonl", good + "\n" + line + "\n");
    try {
      runs::read_results(folder_);
      ADD_FAILURE() << "accepted: " << line;
    } catch (const DataError& error) {
      EXPECT_NE(std::string::npos, std::string(error.what()).find("results.jsonl:2: ")) << error.what();
      EXPECT_NE(std::string::npos, std::string(error.what()).find(complaint)) << error.what();
    }
  }
}

TEST_F(RunFolder, NumbersThatAreNotFiniteAreNeverWritten) {
  runs::AttributionRow row = some_row();
  row.nrmse = Measured::of(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(runs::to_json_line(row), NumericalError);
  EXPECT_THROW(runs::to_json_line(runs::ValuesRow{.pde = "p",
                                                  .players = 1,
                                                  .method = "m",
                                                  .budget = std::nullopt,
                                                  .values = {std::numeric_limits<double>::infinity()},
                                                  .standard_errors = {}}),
               NumericalError);
}

TEST(PaperQuality, HoldsTheWholeTable) {
  EXPECT_EQ(396u, reporting::paper_quality().size());
  int burgers = 0;
  for (const reporting::PaperCell& cell : reporting::paper_quality()) {
    burgers += cell.pde == "burgers1d";
    EXPECT_LE(cell.quartiles.q25, cell.quartiles.median);
    EXPECT_LE(cell.quartiles.median, cell.quartiles.q75);
    if (cell.pde == "burgers1d" && cell.players == 64 && cell.method == "operator_shap" && cell.metric == "nrmse") {
      EXPECT_EQ(0.188, cell.quartiles.median);
      EXPECT_EQ(0.135, cell.quartiles.q25);
      EXPECT_EQ(0.268, cell.quartiles.q75);
    }
  }
  EXPECT_EQ(54, burgers);
  EXPECT_EQ((std::vector<std::string>{"operator_shap", "integrated_gradients", "regression_msr_shapiq_1_6"}),
            reporting::paper_methods());
  EXPECT_EQ((std::vector<std::string>{"r2", "pearson", "nrmse"}), reporting::paper_metrics());
}

TEST(Comparison, MatchesByMedianOverlapsByQuartilesElseDiffers) {
  const statistics::Quartiles paper{.q25 = 0.11, .median = 0.138, .q75 = 0.192, .count = 30};
  EXPECT_EQ("match", reporting::compare(paper, {.q25 = 0.3, .median = 0.188, .q75 = 0.4, .count = 30}, 0.05));
  EXPECT_EQ("overlap", reporting::compare(paper, {.q25 = 0.19, .median = 0.25, .q75 = 0.4, .count = 30}, 0.05));
  EXPECT_EQ("overlap", reporting::compare(paper, {.q25 = 0.01, .median = 0.05, .q75 = 0.12, .count = 30}, 0.05));
  EXPECT_EQ("differs", reporting::compare(paper, {.q25 = 0.2, .median = 0.25, .q75 = 0.4, .count = 30}, 0.05));
  EXPECT_EQ("differs", reporting::compare(paper, {.q25 = 0.01, .median = 0.05, .q75 = 0.1, .count = 30}, 0.05));
}

TEST(Comparison, OfAnotherRecipeSaysWhyItIsNone) {
  auto run = SyntheticRun().run();
  const reporting::Scoreboard scores(run);
  std::map<std::string, int> verdicts;
  for (const reporting::Comparison& cell : reporting::compare_with_paper(scores)) {
    ++verdicts[cell.verdict];
    EXPECT_EQ(cell.on.players != 16, cell.paper.has_value());
  }
  // The paper's 6 n x 3 metrics x 3 methods, of which n = 32 and 64 were run with two methods. n = 16 of two methods
  // has no row in the paper. Of the third method there it has neither, which is no cell.
  EXPECT_EQ((std::map<std::string, int>{{"not comparable: training samples: 192 instead of the paper's 4220", 12},
                                        {"not in the paper", 6},
                                        {"not run", 42}}),
            verdicts);
}

TEST(Comparison, OfThePapersRecipeIsJudged) {
  auto run = SyntheticRun::full().run();
  const reporting::Scoreboard scores(run);
  for (const reporting::Comparison& cell : reporting::compare_with_paper(scores)) {
    const bool judged = cell.verdict == "match" || cell.verdict == "overlap" || cell.verdict == "differs";
    EXPECT_EQ(cell.paper && cell.ours, judged) << cell.verdict;
  }
}

TEST(Scoreboard, TableCellsHaveAllInputsAndThePapersBudget) {
  auto run = SyntheticRun::full().run();
  const reporting::Scoreboard scores(run);
  const auto few = Discretisation::line(16), many = Discretisation::line(1024), curve = Discretisation::line(512);
  EXPECT_EQ(7u, scores.discretisations().size());
  EXPECT_EQ(1024, scores.cell(few, "kernel_shap")->budget);
  EXPECT_EQ(2048, scores.cell(many, "kernel_shap")->budget);
  EXPECT_EQ(10u, scores.cell(many, "kernel_shap")->rows.size());
  EXPECT_EQ(nullptr, scores.cell(few, "regression_msr_shapiq_1_6"));
  EXPECT_EQ((std::vector<Discretisation>{few, curve, many}), scores.discretisations_with_curves());
  for (const reporting::Cell& cell : scores.curve(curve, "permutation"))
    EXPECT_EQ(6u, cell.rows.size()) << "curves compare the same inputs at every budget";
  EXPECT_EQ("operator_shap", scores.methods().front());
  EXPECT_EQ("10 of 10 undefined: constant attribution", scores.cell(few, "uniform")->undefined("pearson"));
}

const Discretisation points{.players = 16, .shape = {4, 4}}, blocks{.players = 16, .shape = {8, 8}};

/// A run on two grids with 16 players each: 4 × 4 points, and 8 × 8 points in 16 blocks; two channels in, one out.
runs::Results run_on_planes() {
  runs::Results results = SyntheticRun{.resolutions = {16}, .curves = {16}, .curve_inputs = 8}.results();
  results.operators.clear();
  results.fields.clear();
  const runs::Results once = results;
  for (runs::AttributionRow& row : results.attributions) row.shape = points.shape;
  for (runs::ValuesRow& row : results.values) row.shape = points.shape;
  for (runs::AttributionRow row : once.attributions) {
    row.shape = blocks.shape;
    results.attributions.push_back(row);
  }
  for (runs::ValuesRow row : once.values) {
    row.shape = blocks.shape;
    results.values.push_back(row);
  }
  for (const int side : {4, 8}) {
    results.operators.push_back({.pde = "burgers1d",
                                 .points = side * side,
                                 .relative_errors = std::vector<double>(8, 0.25),
                                 .shape = {side, side}});
    for (std::int64_t sample = 0; sample < 8; ++sample) {
      runs::FieldsRow fields{.pde = "burgers1d",
                             .sample = sample,
                             .x = {},
                             .input = {},
                             .solution = {},
                             .prediction = {},
                             .shape = {side, side},
                             .input_channels = {"a", "b"},
                             .output_channels = {"w"},
                             .query = {0.5, 0.25}};
      for (int axis = 0; axis < 2; ++axis)
        for (int i = 0; i < side; ++i) fields.x.push_back((i + 0.5) / side);
      for (int channel = 0; channel < 2; ++channel)
        for (int i = 0; i < side * side; ++i) fields.input.push_back(std::sin(i + channel));
      for (int i = 0; i < side * side; ++i) {
        fields.solution.push_back(std::cos(i));
        fields.prediction.push_back(std::cos(i) + 0.1);
        if (side == 8) fields.player_of.push_back(i / 16 * 4 + i % 8 / 2);
      }
      results.fields.push_back(fields);
    }
  }
  return results;
}

/// On 8 × 8 points all methods but the explainer have ten times the error and take three times as long.
runs::Run run_on_unlike_planes() {
  auto run = SyntheticRun{.resolutions = {16}}.run();
  run.results = run_on_planes();
  for (runs::AttributionRow& row : run.results.attributions) {
    if (row.shape != blocks.shape) continue;
    row.game_seconds *= 3;
    row.estimator_seconds *= 3;
    if (row.method != "operator_shap") row.nrmse = Measured::of(10 * *row.nrmse.value);
    row.reference = "permutation_antithetic";
    row.reference_error = 0.01;
  }
  return run;
}

TEST(Discretisation, IsNamedByItsPlayersAndWhereThatIsNotEnoughByItsGrid) {
  EXPECT_EQ("32", Discretisation::line(32).label());
  EXPECT_EQ("16 (4 × 4)", points.label());
  EXPECT_EQ("16 (of 8 × 8 points)", blocks.label());
  EXPECT_EQ("16 (of 64 points)", (Discretisation{.players = 16, .shape = {64}}.label()));
  EXPECT_EQ("16-of-8x8", blocks.id());
  EXPECT_TRUE(Discretisation::line(32).is_line() && points.every_point_plays());
  EXPECT_FALSE(points.is_line() || blocks.every_point_plays());
}

TEST(Scoreboard, GridsWithTheSameNumberOfPlayersStayApart) {
  const runs::Run run = run_on_unlike_planes();
  const reporting::Scoreboard scores(run);
  EXPECT_EQ((std::vector<Discretisation>{points, blocks}), scores.discretisations());
  EXPECT_EQ((std::vector<Discretisation>{points, blocks}), scores.discretisations_with_curves());
  EXPECT_EQ(nullptr, scores.cell(Discretisation::line(16), "uniform")) << "nobody ran a line";
  for (const std::string& method : scores.methods()) {
    const reporting::Cell &here = *scores.cell(points, method), &there = *scores.cell(blocks, method);
    EXPECT_EQ(8u, here.rows.size()) << method;
    EXPECT_EQ(8u, there.rows.size()) << method;
    const double factor = method == "operator_shap" ? 1 : 10;
    EXPECT_DOUBLE_EQ(factor * here.quartiles("nrmse")->median, there.quartiles("nrmse")->median) << method;
    EXPECT_DOUBLE_EQ(3 * here.seconds()->median, there.seconds()->median) << method;
  }
  const std::vector<reporting::Cell> near = scores.curve(points, "permutation"),
                                     far = scores.curve(blocks, "permutation");
  ASSERT_EQ(5u, near.size());
  ASSERT_EQ(5u, far.size());
  for (std::size_t i = 0; i < near.size(); ++i) {
    EXPECT_EQ(near[i].budget, far[i].budget);
    EXPECT_EQ(8u, near[i].rows.size());
    EXPECT_DOUBLE_EQ(10 * near[i].quartiles("nrmse")->median, far[i].quartiles("nrmse")->median);
  }
  EXPECT_EQ(0, scores.reference(points).largest_error);
  EXPECT_EQ(0.01, scores.reference(blocks).largest_error);
}

TEST(Scoreboard, BudgetsAreThoseOfOneGrid) {
  const runs::Run run = run_on_unlike_planes();
  const reporting::Scoreboard scores(run);
  const auto near = reporting::budget_needed(scores, points, "permutation_antithetic"),
             far = reporting::budget_needed(scores, blocks, "permutation_antithetic");
  ASSERT_TRUE(near && far);
  EXPECT_LT(near->budget, 1024);
  EXPECT_GT(far->budget, near->budget);
  EXPECT_EQ(blocks, reporting::amortisation(scores)->on) << "the last grid, since the run has not the paper's";
}

TEST(Claims, SayOnWhichOfTwoGridsWithTheSamePlayersTheyMeasured) {
  runs::Run run = run_on_unlike_planes();
  const auto judgement = [&run](const std::string& id) {
    for (const reporting::JudgedClaim& judged : reporting::judge(reporting::Scoreboard(run)))
      if (judged.claim.id == id) return judged.judgement;
    throw std::logic_error("no claim " + id);
  };
  for (runs::AttributionRow& row : run.results.attributions) {
    row.reference_error = 0;
    if (row.method == "uniform" && row.shape == points.shape) row.nrmse = Measured::of(0.01);
  }
  const reporting::Judgement beaten = judgement("explainer_beats_uniform");
  EXPECT_EQ(reporting::Verdict::not_reproduced, beaten.verdict) << beaten.evidence;
  EXPECT_NE(std::string::npos, beaten.evidence.find("at n = 16 (4 × 4) ")) << beaten.evidence;
  EXPECT_NE(std::string::npos, beaten.evidence.find("1 of 2 hold.")) << beaten.evidence;
  ASSERT_EQ(2u, beaten.tables.front().rows.size());
  EXPECT_EQ("n = 16 (of 8 × 8 points)", beaten.tables.front().rows[1].front());
  EXPECT_EQ("holds", beaten.tables.front().rows[1].back());
  for (const char* id : {"classical_methods_win_at_few_players", "classical_methods_need_more_at_many_players",
                         "training_is_amortised", "one_model_for_all_resolutions"}) {
    EXPECT_EQ(reporting::Verdict::not_testable, judgement(id).verdict) << id;
    EXPECT_NE(std::string::npos, judgement(id).evidence.find("about lines")) << id;
  }
}

TEST(Claims, OfUnseenGridsCompareWithTheTrainedGridsAroundThem) {
  runs::Run run = run_on_unlike_planes();
  run.resolutions = {8};  // points per axis, so 4 × 4 is unseen
  const reporting::Scoreboard scores(run);
  for (const reporting::JudgedClaim& judged : reporting::judge(scores)) {
    if (judged.claim.id != "transfers_to_unseen_resolutions") continue;
    EXPECT_EQ(reporting::Verdict::reproduced, judged.judgement.verdict) << judged.judgement.evidence;
    EXPECT_EQ("n = 16 (4 × 4)", judged.judgement.tables.front().rows.at(0).front());
  }
  EXPECT_EQ(std::vector<int>{}, run.missing_resolutions());
}

TEST(Comparison, PutsThePapersPlayersBesideGridsWhosePointsPlay) {
  runs::Run run = run_on_unlike_planes();
  run.pde = "heat2d";
  for (runs::AttributionRow& row : run.results.attributions) {
    row.pde = run.pde;
    row.players = 64;  // 8 × 8 points, and 16 × 16 in 64 blocks
    row.shape = row.shape == points.shape ? std::vector{8, 8} : std::vector{16, 16};
  }
  std::map<std::string, bool> in_the_paper;
  for (const reporting::Comparison& cell : reporting::compare_with_paper(reporting::Scoreboard(run)))
    in_the_paper[cell.on.label()] = cell.paper.has_value();
  EXPECT_EQ((std::map<std::string, bool>{
                {"64 (8 × 8)", true}, {"64 (of 16 × 16 points)", false}, {"256", true}, {"1024", true}}),
            in_the_paper);
}

TEST(Scoreboard, SeveralExplainersAreColumnsAndTheBareNameIsTheFirst) {
  auto run = SyntheticRun().run();
  const runs::Results one = run.results;
  for (runs::AttributionRow& row : run.results.attributions)
    if (row.method == "operator_shap") row.explainer = "wide";
  EXPECT_EQ("operator_shap", reporting::Scoreboard(run).methods().front()) << "the only explainer needs no name";
  for (runs::AttributionRow row : one.attributions) {
    if (row.method != "operator_shap") continue;
    row.explainer = "deep";
    run.results.attributions.push_back(row);
  }
  const reporting::Scoreboard scores(run);
  EXPECT_EQ((std::vector<std::string>{"operator_shap:deep", "operator_shap:wide"}),
            scores.methods_with_access("amortised"));
  EXPECT_EQ(scores.cell(Discretisation::line(32), "operator_shap:wide"),
            scores.cell(Discretisation::line(32), "operator_shap"));
  EXPECT_NE(scores.cell(Discretisation::line(32), "operator_shap:deep"),
            scores.cell(Discretisation::line(32), "operator_shap"));
  EXPECT_EQ("OperatorSHAP (deep)", reporting::style_of("operator_shap:deep").label);
  EXPECT_NE(reporting::style_of("operator_shap:deep").dash, reporting::style_of("operator_shap:wide").dash);
}

TEST(Scoreboard, CostsAreThoseOfTheInputsThatWereNotRefused) {
  const auto refuse = [](runs::Results& results, std::int64_t up_to) {
    for (runs::AttributionRow& row : results.attributions) {
      if (row.method != "kernel_shap_paired" || row.players != 64 || row.sample >= up_to) continue;
      row.distinct = row.evaluations = 0;
      row.game_seconds = row.estimator_seconds = 0;
      row.pearson = row.nrmse = row.r2 = row.efficiency_gap = Measured::undefined("rank=62");
    }
  };
  auto run = SyntheticRun::full().run();
  const reporting::Cell whole = *reporting::Scoreboard(run).cell(Discretisation::line(64), "kernel_shap_paired");
  refuse(run.results, 7);
  const reporting::Cell part = *reporting::Scoreboard(run).cell(Discretisation::line(64), "kernel_shap_paired");
  EXPECT_EQ(whole.seconds()->median, part.seconds()->median) << "which is the same for all inputs of a synthetic run";
  EXPECT_EQ(3, part.seconds()->count);
  EXPECT_EQ(1024, part.evaluations());
  EXPECT_EQ(1024, part.distinct());
  EXPECT_EQ(0, part.gradients());
  refuse(run.results, 10);
  const reporting::Scoreboard scores(run);
  const reporting::Cell none = *scores.cell(Discretisation::line(64), "kernel_shap_paired");
  EXPECT_FALSE(none.seconds() || none.evaluations() || none.distinct() || none.gradients());
  EXPECT_NE(std::string::npos,
            reporting::tables::cost(scores).csv().find("64,KernelSHAP (paired),1024,refused,refused,refused,refused"))
      << reporting::tables::cost(scores).csv();
}

TEST(Table, QuotesWhatItsFormatsReserve) {
  reporting::Table table{.name = "t", .caption = "A <caption>.", .columns = {{"a|b"}, {"n", true}}, .rows = {}};
  table.add({"x, \"y\" | <z> & 'w'", reporting::show_count(1234)});
  EXPECT_EQ("a|b,n\n\"x, \"\"y\"\" | <z> & 'w'\",1234\n", table.csv());
  EXPECT_EQ("A <caption>.\n\n| a\\|b | n |\n|---|---:|\n| x, \"y\" \\| <z> & 'w' | 1\u202F234 |\n", table.markdown());
  EXPECT_NE(std::string::npos, table.html().find("x, &quot;y&quot; | &lt;z&gt; &amp; &#39;w&#39;"));
  EXPECT_THROW(table.add({"too few"}), std::logic_error);
  EXPECT_THROW(table.add({"", "empty"}), std::logic_error);
}

TEST(Numbers, AreShownWithThePapersThreeDecimalsWhereTheySayEnough) {
  EXPECT_EQ("0.138", reporting::show(0.138));
  EXPECT_EQ("-4.362", reporting::show(-4.362));
  EXPECT_EQ("0", reporting::show(0));
  EXPECT_EQ("3.1e-05", reporting::show(3.1e-5));
  EXPECT_EQ("123", reporting::show(123.4));
  EXPECT_EQ("0.138 [0.110, 0.192]",
            reporting::show(statistics::Quartiles{.q25 = 0.11, .median = 0.138, .q75 = 0.192, .count = 30}));
  EXPECT_EQ("1\u202F234\u202F567", reporting::show_count(1234567));
  EXPECT_EQ("123", reporting::show_count(123));
  EXPECT_EQ("0.42 ms", reporting::show_seconds(0.00042));
  EXPECT_EQ("3.1 s", reporting::show_seconds(3.14));
  EXPECT_EQ("2 min 05 s", reporting::show_seconds(125));
  EXPECT_EQ("2 h 05 min", reporting::show_seconds(7500));
}

TEST(Axes, TickAtReadableValuesInsideTheRange) {
  reporting::LogRange range;
  for (const double value : {0.03, 0.9, 0.0, -1.0}) range.include(value);
  EXPECT_EQ(0.03, range.low());
  const std::string axis = reporting::log_axis('y', range);
  for (const char* tick : {"'0.05' 0.05", "'0.1' 0.1", "'0.2' 0.2", "'0.5' 0.5", "'1' 1"})
    EXPECT_NE(std::string::npos, axis.find(tick)) << axis;
  reporting::LogRange wide;
  for (const double value : {1.0, 3e8}) wide.include(value);
  EXPECT_NE(std::string::npos, reporting::log_axis('x', wide).find("'10⁶' 1e+06")) << reporting::log_axis('x', wide);
  EXPECT_EQ(8u, count(reporting::log_axis_at('x', {1, 2, 4, 8, 16, 32, 64, 128}), "' "));
  EXPECT_EQ(5u, count(reporting::log_axis_at('x', {1, 2, 4, 8, 16, 32, 64, 128, 256}), "' "));
  EXPECT_THROW(reporting::log_axis('x', reporting::LogRange()), InvalidArgument);
}

TEST_F(RunFolder, TheSameRowsGiveTheSameBytes) {
  const SyntheticRun made;
  report(made.results(), made.manifest());
  const auto first = derived_files();
  for (const char* file : {"report.html", "claims.json", "figures/budget_error.svg", "figures/budget_error.csv",
                           "tables/paper_comparison.csv", "tables/methods.md"}) {
    EXPECT_TRUE(first.contains(file)) << file;
  }
  reporting::write_report(folder_);
  EXPECT_EQ(first, derived_files());
}

TEST_F(RunFolder, ThePageStandsAlone) {
  const SyntheticRun made;
  const std::string page = report(made.results(), made.manifest());
  EXPECT_EQ(0u, count(page, "http://") - count(page, "http://www.w3.org/2000/svg"));
  EXPECT_EQ(0u, count(page, "https://"));
  EXPECT_EQ(0u, count(page, "<link") + count(page, "<img") + count(page, "src=") + count(page, "@import"));
  EXPECT_EQ(1u, count(page, "<script")) << "the data island only";
  EXPECT_EQ(1u, count(page, "<script type=\"application/json\""));
  EXPECT_NE(std::string::npos, page.find("sentences of the paper that this run can judge</strong> hold"));
  EXPECT_NE(std::string::npos, page.find("not comparable: training samples: 192 instead of the paper&#39;s 4220"));
  for (const char* section :
       {"claims", "paper", "methods", "operators", "figures", "cost", "environment", "differences"}) {
    EXPECT_EQ(1u, count(page, std::string("id=\"") + section + "\"")) << section;
  }
}

TEST_F(RunFolder, EveryTextOfTheRunIsEscaped) {
  const SyntheticRun made;
  const std::string attack = "</script><script>alert('x')</script>&\"";
  auto manifest = made.manifest();
  for (const char* key : {"profile", "commit", "started"}) manifest[key] = attack;
  manifest["departures"] = {attack};
  manifest["environment"]["blas"] = attack;
  manifest["environment"][attack] = "key";
  manifest["settings"]["toml"] = "line\n" + attack;
  manifest["seconds"][attack] = 1.0;
  manifest["resumed"] = {{{"time", attack}, {"commit", attack}, {"environment", {{"processor", attack}}}}};
  runs::Results results = made.results();
  for (runs::AttributionRow& row : results.attributions) {
    if (row.method == "permutation") row.method = attack;
    if (row.method == "uniform") row.r2 = Measured::undefined(attack);
  }
  const std::string page = report(results, manifest);
  EXPECT_EQ(0u, count(page, "<script>"));
  EXPECT_EQ(1u, count(page, "</script>"));
  const std::string seen = page.substr(0, page.find("<script type="));
  EXPECT_EQ(0u, count(seen, "alert('x')"));
  EXPECT_GT(count(page, "&lt;/script&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;"), 5u);
}

/// The elements of a page are closed, and its ids are unique and lead somewhere.
void expect_sound_markup(const std::string& page) {
  for (const char* tag : {"table",   "tbody", "tr",      "td",     "th",   "section", "figure", "figcaption", "details",
                          "summary", "svg",   "article", "ol",     "dt",   "dd",      "g",      "div",        "p",
                          "ul",      "li",    "dl",      "header", "main", "title",   "desc"}) {
    const std::regex open(std::string("<") + tag + "(\\s[^>]*[^/]>|\\s[^>/]>|>)");
    const auto opened = std::distance(std::sregex_iterator(page.begin(), page.end(), open), std::sregex_iterator());
    EXPECT_EQ(static_cast<std::size_t>(opened), count(page, std::string("</") + tag + ">")) << tag;
  }
  std::set<std::string> ids;
  const std::regex id(" id=['\"]([^'\"]*)['\"]");
  for (std::sregex_iterator match(page.begin(), page.end(), id), end; match != end; ++match)
    EXPECT_TRUE(ids.insert((*match)[1]).second) << (*match)[1];
  const std::regex reference("href=['\"]#([^'\"]*)['\"]");
  for (std::sregex_iterator match(page.begin(), page.end(), reference), end; match != end; ++match)
    EXPECT_TRUE(ids.contains((*match)[1])) << (*match)[1];
}

TEST_F(RunFolder, TheMarkupIsBalancedAndItsIdsAreUnique) {
  const SyntheticRun made;
  expect_sound_markup(report(made.results(), made.manifest()));
  expect_sound_markup(report(run_on_planes(), SyntheticRun{.resolutions = {4, 8}}.manifest()));
}

TEST_F(RunFolder, CellsSayWhatIsMissingInWords) {
  SyntheticRun made;
  runs::Results results = made.results();
  for (runs::AttributionRow& row : results.attributions) {
    if (row.method == "kernel_shap")
      row.pearson = row.nrmse = row.r2 = row.efficiency_gap = Measured::undefined("kernel_shap: budget=3 (too small)");
  }
  const std::string page = report(results, made.manifest());
  EXPECT_FALSE(std::regex_search(page, std::regex("<td[^>]*>(nan|NaN|null|inf|-inf)?</td>|\\[-?(nan|inf)")));
  EXPECT_NE(std::string::npos, page.find("on 8 of 8 inputs (kernel_shap: budget=3 (too small))"));
}

TEST_F(RunFolder, ARefusalIsSaidOnce) {
  SyntheticRun made;
  runs::Results results = made.results();
  for (runs::AttributionRow& row : results.attributions) {
    if (row.method != "kernel_shap_paired" || row.players == 16 || row.sample < 2) continue;
    row.distinct = row.evaluations = 0;
    row.game_seconds = row.estimator_seconds = 0;
    row.pearson = row.nrmse = row.r2 = row.efficiency_gap = Measured::undefined("rank=62 (needs 63)");
  }
  const std::string page = report(results, made.manifest());
  EXPECT_EQ(1u, count(page, "rank=62 (needs 63)"));
  EXPECT_EQ(1u, count(page, "KernelSHAP (paired) at n = 32, 64: refused 6 of 8 inputs: rank=62 (needs 63)"));
  EXPECT_EQ(2u, count(page, "data-label=\"inputs\">2 of 8</td>"));
}

TEST_F(RunFolder, FiguresTellWhatTheyShowToThoseWhoCannotSeeThem) {
  const SyntheticRun made;
  report(made.results(), made.manifest());
  for (const reporting::FigureKind& kind : reporting::figures::all()) {
    const std::string svg = read_file(folder_ / "figures" / (std::string(kind.name) + ".svg"));
    EXPECT_TRUE(svg.starts_with("<svg xmlns=")) << kind.name;
    EXPECT_GE(count(svg, "role=\"img\""), 2u) << kind.name << ": the figure and its panels";
    EXPECT_EQ(count(svg, "<desc"), count(svg, "role=\"img\"")) << kind.name;
    EXPECT_EQ(count(svg, "<title"), count(svg, "role=\"img\"")) << kind.name;
    EXPECT_EQ(0u, count(svg, "'black'") + count(svg, "\"black\"") + count(svg, "NaN") + count(svg, "nan,"))
        << kind.name;
    EXPECT_GT(count(read_file(folder_ / "figures" / (std::string(kind.name) + ".csv")), "\n"), 2u) << kind.name;
  }
}

TEST(Figures, TakeTheGridsThatTheRunHas) {
  auto run = SyntheticRun().run();
  const auto panels = [&run](auto figure) {
    std::vector<std::string> titles;
    for (const reporting::Panel& panel : figure(reporting::Scoreboard(run)).panels) titles.push_back(panel.title);
    return titles;
  };
  EXPECT_EQ((std::vector<std::string>{"n = 16", "n = 64"}), panels(reporting::figures::shapley_and_density));
  run.results = SyntheticRun::full().results();
  EXPECT_EQ((std::vector<std::string>{"n = 16", "n = 128"}), panels(reporting::figures::shapley_and_density))
      << "finer bars cannot be told apart";
}

// A domain of length 5 that begins at 2, asked for at another point than its centre.
TEST(Figures, DrawTheDomainAndTheQueryOfTheRows) {
  auto run = SyntheticRun{.resolutions = {16}}.run();
  for (runs::FieldsRow& row : run.results.fields) {
    for (double& x : row.x) x = 2 + 5 * x;
    row.query = {2.9375};
  }
  const reporting::Figure figure = reporting::figures::example(reporting::Scoreboard(run));
  ASSERT_EQ(3u, figure.panels.size());
  for (const reporting::Panel& panel : figure.panels) {
    EXPECT_NE(std::string::npos, panel.script.find("set arrow from 2.9375, graph 0")) << panel.script;
    EXPECT_NE(std::string::npos, panel.script.find("set xrange [1.84375:6.84375]")) << panel.script;
  }
  EXPECT_NE(std::string::npos, figure.finding.find("x = 2.9375"));
}

TEST_F(RunFolder, PlanesAreDrawnAsHeatMaps) {
  const std::string page = report(run_on_planes(), SyntheticRun{.resolutions = {4, 8}}.manifest());
  EXPECT_EQ(0u, count(page, "not finished")) << "resolutions are points per axis";
  EXPECT_NE(std::string::npos, page.find("16 (4 × 4)"));
  EXPECT_NE(std::string::npos, page.find("16 (of 8 × 8 points)"));
  const std::string svg = read_file(folder_ / "figures/example.svg");
  for (const char* title : {">input a</title>", ">input b</title>", ">solution</title>", ">prediction</title>",
                            ">reference</title>", ">OperatorSHAP</title>"})
    EXPECT_EQ(1u, count(svg, title)) << title;
  EXPECT_EQ(1u + 64, count(read_file(folder_ / "figures/example.csv"), "\n")) << "the finer grid";
  EXPECT_EQ(0u, count(svg, "fill-opacity")) << "the colours of the scale are those of the map";
  EXPECT_EQ(0u, count(svg, "<image")) << "points are rectangles, since a page has no files beside it";
  EXPECT_TRUE(fs::exists(folder_ / "figures/resolution_error.svg")) << "two grids, told apart by their points";
}

TEST(Figures, SpreadAPlayersValueOverItsShareOfTheVolume) {
  const runs::FieldsRow grid{.pde = "p",
                             .x = {0, 1, 2, 3},
                             .input = {},
                             .solution = {},
                             .prediction = {},
                             .shape = {4},
                             .player_of = {0, 0, 0, 1}};
  EXPECT_EQ((std::vector<double>{4, 4, 4, 8}), reporting::figures::density(grid, {3, 2}));
  EXPECT_THROW(reporting::figures::density(grid, {1, 2, 3}), DataError);
}

TEST(Tables, OfTheReferenceHaveTheMedianCostAndWhatMissedTheTarget) {
  auto run = SyntheticRun{.resolutions = {32}}.run();
  run.settings = {{"toml", "[evaluation]\nreference_error = 0.02\n"}};
  for (runs::AttributionRow& row : run.results.attributions) {
    row.reference = "certified";
    row.reference_evaluations = row.sample == 0 ? 300000 : 11000 + row.sample;
    row.reference_error = row.sample < 3 ? 0.03 : 0.01;
  }
  const std::string csv = reporting::tables::reference(reporting::Scoreboard(run)).csv();
  EXPECT_NE(std::string::npos, csv.find("32,certified,11004,0.010,0.030,3 of 8,")) << csv;
  EXPECT_EQ(2u, reporting::tables::reference(reporting::Scoreboard(run)).notes.size()) << "certified, and the target";
}

TEST(Tables, MarkWhatTheReferenceCannotTell) {
  auto run = SyntheticRun{.resolutions = {32}}.run();
  for (runs::AttributionRow& row : run.results.attributions) {
    row.reference_error = 0.01;
    if (row.method == "integrated_gradients") row.nrmse = Measured::of(0.0199);
    if (row.method == "operator_shap") row.nrmse = Measured::of(0.0201);
  }
  const reporting::Table table = reporting::tables::methods(reporting::Scoreboard(run));
  EXPECT_EQ(1u, count(table.csv(), "] *"));
  EXPECT_NE(std::string::npos, table.csv().find("0.020 [0.020, 0.020] *")) << table.csv();
  const std::string net = reporting::tables::net_of_the_reference(reporting::Scoreboard(run)).csv();
  EXPECT_NE(std::string::npos, net.find("Integrated gradients,0.020,0.017,")) << net;
  EXPECT_NE(std::string::npos, net.find("0.010,no: it says more about the reference")) << net;
  ASSERT_FALSE(table.notes.empty());
  EXPECT_TRUE(table.notes.front().starts_with("* This median"));
}

TEST(Tables, OutliersStandWithTheirCause) {
  auto run = SyntheticRun{.resolutions = {16, 32}}.run();
  for (runs::OperatorRow& row : run.results.operators) row.relative_errors[2] = row.points == 16 ? 30.0 : 25.0;
  EXPECT_EQ(1u, reporting::tables::outliers(reporting::Scoreboard(run)).rows.size()) << "once, where it is worst";
  for (runs::FieldsRow& row : run.results.fields) {
    if (row.sample == 2)
      for (double& value : row.solution) value *= 1e-3;
  }
  const std::vector<std::string> row = reporting::tables::outliers(reporting::Scoreboard(run)).rows.at(0);
  EXPECT_EQ("16", row[1]);
  EXPECT_EQ("2", row[2]);
  EXPECT_NE(std::string::npos, row[5].find("The target is near zero.")) << row[5];
  run.results.fields.clear();
  EXPECT_NE(std::string::npos,
            reporting::tables::outliers(reporting::Scoreboard(run)).rows.at(0)[5].find("do not hold this solution"));
}

TEST_F(RunFolder, TheHeaderNamesTheFirstAndTheLastSitting) {
  auto manifest = SyntheticRun().manifest();
  manifest["resumed"] = {
      {{"time", "2026-01-03T00:00:00Z"}, {"commit", "ffffffffffff"}, {"environment", {{"blas", "another BLAS"}}}}};
  const std::string page = report(SyntheticRun().results(), manifest);
  const std::string header = page.substr(0, page.find("</header>"));
  EXPECT_EQ(1u, count(header, "ffffffffffff at the end, 0123456789ab at the start (2 sittings)"));
  EXPECT_EQ(1u, count(header, "another BLAS at the end, OpenBLAS 0.3.21 openmp, 60 GFLOP/s a thread at the start"));
}

TEST_F(RunFolder, TheFirstScreenCountsThePapersSentencesApartFromOurChecks) {
  const std::string page = report(SyntheticRun::full().results(), SyntheticRun::full().manifest());
  std::map<std::string, std::map<std::string, int>> verdicts;
  const auto claims = nlohmann::json::parse(read_file(folder_ / "claims.json"));
  for (const auto& claim : claims.at("claims")) ++verdicts[claim.at("source")][claim.at("verdict")];
  for (const char* source : {"paper", "opshap"}) {
    const auto& of = verdicts[source];
    int judged = 0, holds = 0;
    for (const auto& [verdict, number] : of) {
      if (verdict == "reproduced") holds = number;
      if (verdict == "reproduced" || verdict == "not reproduced" || verdict == "undecided") judged += number;
    }
    EXPECT_EQ(1u,
              count(page, "<strong>" + std::to_string(holds) + " of " + std::to_string(judged) + " " +
                              (std::string(source) == "paper" ? "sentences of the paper" : "checks that this suite")))
        << source;
  }
  EXPECT_EQ(1u, count(page, "id=\"figure-resolution_error\""));
  EXPECT_LT(page.find("id=\"figure-resolution_error\""), page.find("</header>"));
}

TEST_F(RunFolder, FiguresWithoutRowsAreNamedAsMissingAndNeverEmpty) {
  SyntheticRun made;
  report(made.results(), made.manifest());
  made.curves = {};
  runs::Results results = made.results();
  results.values.clear();
  results.fields.clear();
  const std::string page = report(results, made.manifest());
  EXPECT_EQ(4u, count(page, "Not in this profile: ")) << "density, budget, amortisation and example";
  EXPECT_FALSE(fs::exists(folder_ / "figures/budget_error.svg")) << "the one of the earlier report would be stale";
  EXPECT_TRUE(fs::exists(folder_ / "figures/resolution_error.svg"));
}

TEST_F(RunFolder, AnUnfinishedEvaluationSaysWhatIsMissingAndWhoWentOn) {
  const SyntheticRun made;
  EXPECT_EQ(0u, count(report(made.results(), made.manifest()), "not finished"));
  SyntheticRun planned = made;
  planned.resolutions.push_back(128);
  planned.resolutions.push_back(256);
  auto manifest = planned.manifest();
  manifest["resumed"] = {{{"time", "2026-01-02T03:04:05Z"}, {"commit", "abcdef"}, {"dirty", true}}};
  const std::string page = report(made.results(), manifest);
  EXPECT_EQ(1u, count(page, "nothing is known yet about n = 128, 256."));
  EXPECT_EQ(1u, count(page, ">abcdef (with uncommitted changes)</td>"));
  EXPECT_EQ((std::vector<int>{128, 256}), runs::read_run(folder_).missing_resolutions());
  const auto claims = nlohmann::json::parse(read_file(folder_ / "claims.json"));
  EXPECT_EQ((std::vector<int>{128, 256}), claims.at("missing_resolutions").get<std::vector<int>>());
}

TEST_F(RunFolder, OneRowIsEnoughForAPage) {
  runs::Results results;
  results.attributions.push_back(some_row());
  const std::string page = report(results, SyntheticRun().manifest());
  EXPECT_NE(std::string::npos, page.find("KernelSHAP"));
}

TEST_F(RunFolder, WhatIsNoRunIsRefusedAndTheOldPageStays) {
  const SyntheticRun made;
  const std::string page = report(made.results(), made.manifest());
  write_file(folder_ / "results.jsonl", "{\"schema\":\n");
  EXPECT_THROW(reporting::write_report(folder_), DataError);
  EXPECT_EQ(page, read_file(folder_ / "report.html"));
  write_file(folder_ / "results.jsonl", "");
  EXPECT_THROW(reporting::write_report(folder_), DataError);
  write_file(folder_ / "manifest.json", "{\"schema\":\"opshap.manifest/2\"}");
  EXPECT_THROW(reporting::write_report(folder_), DataError);
  fs::remove(folder_ / "manifest.json");
  EXPECT_THROW(reporting::write_report(folder_), DataError);
  EXPECT_THROW(reporting::write_report(folder_ / "nothing"), DataError);
}

TEST_F(RunFolder, WithoutGnuplotTheMessageNamesThePackage) {
  const SyntheticRun made;
  write_run(folder_, made.results(), made.manifest());
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder_.c_str(), 1);
  try {
    reporting::write_report(folder_);
    ADD_FAILURE() << "a report without figures";
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find("apt-get install gnuplot-nox")) << error.what();
  }
  setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(fs::exists(folder_ / "report.html"));
}

}  // namespace
}  // namespace opshap
