// Cells, curves and columns follow their rules, also on grids with as many players as others; the paper's table stands
// beside those that it can be compared with.

#include "reporting/scoreboard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/rng.hpp"
#include "reporting/amortisation.hpp"
#include "reporting/claims.hpp"
#include "reporting/claims_measurement.hpp"
#include "reporting/comparison.hpp"
#include "reporting/methods.hpp"
#include "reporting/paired_scores.hpp"
#include "reporting/report_tables.hpp"
#include "statistics/bootstrap.hpp"
#include "statistics/quantiles.hpp"
#include "support/claim_examples.hpp"
#include "support/planes_run.hpp"
#include "support/synthetic_run.hpp"
#include "support/test_seed.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

using reporting::Discretisation;

// Errors of the references from far below the scores' distances to far above them, even and odd numbers of inputs. A
// quantile goes half of the way between the two scores in the middle, a median halves their sum: alike to rounding.
TEST(PairedScores, ResampleMediansOfDrawnInputsThatTheErrorsOfTheReferencesHaveMoved) {
  Rng rng(test_seed(), "paired scores");
  for (const std::size_t inputs : {1, 2, 7, 30})
    for (const double error : {0.0, 1e-3, 0.1, 10.0}) {
      reporting::PairedScores::Series series;
      for (std::size_t i = 0; i < inputs; ++i) {
        series.scores.push_back(rng.uniform());
        series.reference_errors.push_back(i % 3 == 1 ? 0 : error * rng.uniform());
      }
      const auto drawn = [&](statistics::Draw& draw) {
        std::vector<double> moved = series.scores, sample;
        for (std::size_t i = 0; i < inputs; ++i)
          if (series.reference_errors[i] != 0)
            moved[i] = std::max(moved[i] + series.reference_errors[i] * draw.noise.normal(), 0.0);
        for (const std::uint32_t input : draw.inputs) sample.push_back(moved[input]);
        return statistics::quantile(sample, 0.5);
      };
      const statistics::Resamples expected = statistics::bootstrap(inputs, drawn, 13),
                                  found = reporting::PairedScores({series}).resamples(
                                      [](std::span<const double> medians) { return medians[0]; });
      for (const double tail : {0.001, 0.025, 0.2, 0.45}) {
        EXPECT_DOUBLE_EQ(expected.interval(tail).low, found.interval(tail).low) << inputs << ' ' << error;
        EXPECT_DOUBLE_EQ(expected.interval(tail).high, found.interval(tail).high) << inputs << ' ' << error;
      }
    }
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

TEST(Comparison, IsByTheToleranceAndThenByStandardErrors) {
  const metrics::Metric &nrmse = metrics::find("nrmse"), &r2 = metrics::find("r2");
  // The quartiles are .082 apart: a standard error of 1.2533 / 1.349 * .082 / √30 = .0139.
  const statistics::Quartiles paper{.q25 = 0.11, .median = 0.138, .q75 = 0.192, .count = 30};
  EXPECT_NEAR(0.0139, reporting::error_of_median(paper), 5e-5);
  EXPECT_EQ("match", reporting::compare(paper, {.q25 = 0.3, .median = 0.188, .q75 = 0.4, .count = 30}, nrmse));
  EXPECT_EQ("within errors", reporting::compare(paper, {.q25 = 0.05, .median = 0.25, .q75 = 0.55, .count = 30}, nrmse));
  EXPECT_EQ("worse", reporting::compare(paper, {.q25 = 0.19, .median = 0.25, .q75 = 0.4, .count = 30}, nrmse))
      << "though the quartiles overlap";
  EXPECT_EQ("better", reporting::compare(paper, {.q25 = 0.01, .median = 0.05, .q75 = 0.1, .count = 30}, nrmse));
  EXPECT_EQ("better", reporting::compare({.q25 = 0.417, .median = 0.682, .q75 = 0.898, .count = 30},
                                         {.q25 = 0.895, .median = 0.955, .q75 = 0.979, .count = 30}, r2));
}

TEST(Constant, IsTheMeanOfTheReferencesOfTheOtherInputs) {
  runs::Run run = SyntheticRun{.resolutions = {16}, .inputs = 3}.run();
  std::erase_if(run.results.values, [](const runs::ValuesRow& row) { return row.method != "reference"; });
  const std::vector<std::vector<double>> references = {{1, 0}, {0, 2}, {3, 4}};
  for (runs::ValuesRow& row : run.results.values) {
    row.values = references[static_cast<std::size_t>(row.sample)];
    row.grand = row.values[0] + row.values[1];
  }
  const reporting::Scoreboard scores(run);
  const reporting::Cell* constant = scores.cell(Discretisation::line(16), reporting::constant_method);
  ASSERT_NE(nullptr, constant);
  ASSERT_EQ(3u, constant->rows.size());
  // For the first input (1.5, 3), beside (1, 0): a distance of √9.25.
  EXPECT_DOUBLE_EQ(std::sqrt(9.25), *constant->rows[0]->scores["nrmse"].value);
  EXPECT_DOUBLE_EQ(std::hypot(2, 0) / 2, *constant->rows[1]->scores["nrmse"].value);
  EXPECT_DOUBLE_EQ(std::hypot(2.5, 3) / 5, *constant->rows[2]->scores["nrmse"].value);
  EXPECT_FALSE(constant->rows[0]->scores["r2"].value);
  EXPECT_EQ("exact", constant->rows[0]->reference);
  EXPECT_EQ("none", constant->access);
  const std::vector<std::string>& methods = scores.methods();
  EXPECT_NE(methods.end(), std::find(methods.begin(), methods.end(), reporting::constant_method));

  run.results.values.clear();
  const reporting::Scoreboard without(run);
  EXPECT_EQ(nullptr, without.cell(Discretisation::line(16), reporting::constant_method));
  EXPECT_FALSE(without.keeps_references());
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
    const bool judged = std::set<std::string>{"match", "within errors", "better", "worse"}.contains(cell.verdict);
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

/// On 8 × 8 points all methods but the explainer have ten times the error and take three times as long.
runs::Run run_on_unlike_planes() {
  auto run = SyntheticRun{.resolutions = {16}}.run();
  run.results = run_on_planes();
  for (runs::AttributionRow& row : run.results.attributions) {
    if (row.shape != blocks.shape) continue;
    row.game_seconds *= 3;
    row.estimator_seconds *= 3;
    if (row.method != "operator_shap") row.scores["nrmse"] = Measured::of(10 * *row.scores["nrmse"].value);
    row.reference = "permutation_antithetic";
    row.reference_error = Measured::of(0.01);
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
    if (method == reporting::constant_method) continue;  // made of the references, which are the same on both
    const reporting::Cell &here = *scores.cell(points, method), &there = *scores.cell(blocks, method);
    EXPECT_EQ(8u, here.rows.size()) << method;
    EXPECT_EQ(8u, there.rows.size()) << method;
    const double factor = method == "operator_shap" ? 1 : 10;
    EXPECT_DOUBLE_EQ(factor * here.quartiles("nrmse")->median, there.quartiles("nrmse")->median) << method;
    EXPECT_DOUBLE_EQ(3 * here.seconds()->median, there.seconds()->median) << method;
  }
  const auto near = scores.curve(points, "permutation"), far = scores.curve(blocks, "permutation");
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
  const auto &near = reporting::budget_curve(scores, points, "permutation_antithetic"),
             &far = reporting::budget_curve(scores, blocks, "permutation_antithetic");
  ASSERT_FALSE(near.empty() || far.empty());
  EXPECT_LT(reporting::needed(near).budget, 1024);
  EXPECT_GT(reporting::needed(far).budget, reporting::needed(near).budget);
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
    row.reference_error = Measured::of(0);
    if (row.method == "uniform" && row.shape == points.shape) row.scores["nrmse"] = Measured::of(0.01);
  }
  const reporting::Judgement beaten = judgement("explainer_beats_uniform");
  EXPECT_EQ(reporting::Verdict::not_reproduced, beaten.verdict) << beaten.evidence;
  EXPECT_TRUE(has(beaten.evidence, {"at n = 16 (4 × 4) ", "1 of 2 hold, 1 does not."}));
  ASSERT_EQ(2u, beaten.tables.front().rows.size());
  EXPECT_EQ("n = 16 (of 8 × 8 points)", beaten.tables.front().rows[1].front());
  EXPECT_EQ("holds", beaten.tables.front().rows[1].back());
  for (const char* id : {"classical_methods_win_at_few_players", "classical_methods_need_more_at_many_players",
                         "training_is_amortised", "one_model_for_all_resolutions"}) {
    EXPECT_EQ(reporting::Verdict::not_testable, judgement(id).verdict) << id;
    EXPECT_TRUE(has(judgement(id).evidence, "about lines"));
  }
}

TEST(Claims, OfUnseenGridsCompareWithTheTrainedGridsAroundThem) {
  runs::Run run = run_on_unlike_planes();
  run.resolutions = {8};  // points per axis, so 4 × 4 is unseen
  const reporting::Scoreboard scores(run);
  for (const reporting::JudgedClaim& judged : reporting::judge(scores)) {
    if (judged.claim.id != "transfers_to_unseen_resolutions") continue;
    EXPECT_EQ(reporting::Verdict::reproduced, judged.judgement.verdict) << judged.judgement.evidence;
    ASSERT_EQ(1u, judged.judgement.tables.front().rows.size()) << "the trained grid is none that was not seen";
    EXPECT_EQ("n = 16 (4 × 4)", judged.judgement.tables.front().rows.front().front());
  }
  EXPECT_EQ(std::vector<Resolution>{}, run.missing_resolutions());
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

/// The rows of the explainer once more, as those of another one.
void add_explainer(runs::Results& results, const std::string& name) {
  add_rows_like(results, "operator_shap", [&name](runs::AttributionRow& row) {
    row.explainer = name;
    return true;
  });
}

TEST(Scoreboard, SeveralExplainersAreColumnsAndTheBareNameIsTheFirst) {
  auto run = SyntheticRun().run();
  for (runs::AttributionRow& row : run.results.attributions)
    if (row.method == "operator_shap") row.explainer = "wide";
  EXPECT_EQ("operator_shap", reporting::Scoreboard(run).methods().front()) << "the only explainer needs no name";
  add_explainer(run.results, "deep");
  const reporting::Scoreboard scores(run);
  EXPECT_EQ((std::vector<std::string>{"operator_shap:deep", "operator_shap:wide"}),
            scores.methods_with_access("amortised"));
  EXPECT_EQ(scores.cell(Discretisation::line(32), "operator_shap:wide"),
            scores.cell(Discretisation::line(32), "operator_shap"));
  EXPECT_NE(scores.cell(Discretisation::line(32), "operator_shap:deep"),
            scores.cell(Discretisation::line(32), "operator_shap"));
  EXPECT_EQ("OperatorSHAP (deep)", reporting::style_of("operator_shap:deep").label);
  EXPECT_EQ("Peer (mine)", reporting::style_of("peer:mine").label);
}

TEST(Scoreboard, AnExplainerWithoutANameIsTheBareOneBesideAnother) {
  auto run = SyntheticRun().run();
  add_explainer(run.results, "deep");
  const reporting::Scoreboard scores(run);
  EXPECT_EQ((std::vector<std::string>{"operator_shap", "operator_shap:deep"}), scores.methods_with_access("amortised"));
  const reporting::Cell* bare = scores.cell(Discretisation::line(32), "operator_shap");
  ASSERT_NE(nullptr, bare);
  for (const runs::AttributionRow* row : bare->rows) EXPECT_FALSE(row->explainer);
}

TEST(Scoreboard, CostsAreThoseOfTheInputsThatWereNotRefused) {
  const auto refuse = [](runs::Results& results, std::int64_t up_to) {
    for (runs::AttributionRow& row : results.attributions) {
      if (row.method != "kernel_shap_paired" || row.players != 64 || row.sample >= up_to) continue;
      row.distinct = row.evaluations = 0;
      row.game_seconds = row.estimator_seconds = 0;
      set_undefined(row, "rank=62");
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
  EXPECT_TRUE(
      has(reporting::tables::cost(scores).csv(), "64,KernelSHAP (paired),1024,refused,refused,refused,refused"));
}

TEST(NetError, TakesOffWhatTheReferenceAdds) {
  // A method with an error of .03 against references that are off by .02, independently: √(.03² + .02²) is measured.
  runs::Run run = SyntheticRun{.resolutions = {512}, .inputs = 30}.run();
  run.settings = {{"toml", "[evaluation]\nreference_error = 0.019\n"}};
  run.results.values.clear();
  std::erase_if(run.results.attributions, [](const auto& row) { return row.method != "operator_shap"; });
  for (runs::AttributionRow& row : run.results.attributions) {
    row.scores["nrmse"] = Measured::of(std::hypot(0.03, 0.02));
    row.reference = "certified";
    row.reference_error = Measured::of(0.02);
    row.reference_evaluations = 1000 + 10 * row.sample;
  }
  const reporting::Scoreboard scores(run);
  const reporting::NetError net = *scores.cell(Discretisation::line(512), "operator_shap")->net_nrmse();
  EXPECT_NEAR(0.03, net.value, 1e-15);  // a square, a difference and a root of numbers below 1
  EXPECT_LT(net.interval.low, 0.03);
  EXPECT_GT(net.interval.high, 0.03);
  EXPECT_EQ(0.02, net.floor);
  EXPECT_FALSE(net.told);  // .036 is not above twice .02

  const reporting::ReferenceQuality reference = scores.reference(scores.discretisations().front());
  EXPECT_EQ((std::map<std::string, std::size_t>{{"certified", 30}}), reference.kinds);
  EXPECT_EQ(1145, reference.evaluations.median);  // not the first input's 1000
  EXPECT_EQ(30u, reference.missed);
  EXPECT_THROW(scores.reference(Discretisation::line(64)), InvalidArgument);
}

TEST(NetError, IsZeroBelowTheReferenceAndTheNrmseAtAnExactOne) {
  runs::Run run = SyntheticRun::full().run();
  for (runs::AttributionRow& row : run.results.attributions)
    if (row.method == "operator_shap" && row.players == 512)
      row.scores["nrmse"] = Measured::of(*row.reference_error.value / 2);
  const reporting::Scoreboard scores(run);
  const reporting::Cell* exact = scores.cell(Discretisation::line(16), "operator_shap");
  EXPECT_NEAR(exact->quartiles("nrmse")->median, exact->net_nrmse()->value, 1e-3);  // mean of squares of the middle two
  EXPECT_TRUE(exact->net_nrmse()->told);
  EXPECT_EQ(0, scores.cell(Discretisation::line(512), "operator_shap")->net_nrmse()->value);
  EXPECT_FALSE(scores.cell(Discretisation::line(512), "operator_shap")->net_nrmse()->told);
}

TEST(Amortisation, BreaksEvenWhereTheEvaluationsAreEqual) {
  const auto run = SyntheticRun().run();
  const reporting::Scoreboard scores(run);
  const auto pays = reporting::amortisation(scores);
  ASSERT_TRUE(pays);
  EXPECT_EQ(Discretisation::line(64), pays->on);
  EXPECT_EQ(215040, pays->explainer().training_evaluations);
  int reached = 0;
  for (const reporting::TunedMethod& method : pays->methods) {
    EXPECT_EQ(method.reached, method.break_even.has_value()) << method.method;
    if (!method.reached) continue;
    ++reached;
    const double explainer = static_cast<double>(pays->explainer().training_evaluations) +
                             pays->explainer().evaluations * *method.break_even;
    EXPECT_NEAR(explainer, method.evaluations * *method.break_even, 1e-9 * explainer) << method.method;
    EXPECT_EQ(method.reached, method.nrmse <= pays->explainer().nrmse) << method.method;
  }
  EXPECT_GT(reached, 0);
}

}  // namespace
}  // namespace opshap
