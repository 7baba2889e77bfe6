// Every claim has a run that supports it, one that contradicts it, and one that cannot tell.

#include "reporting/claims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "reporting/amortisation.hpp"
#include "reporting/claims_measurement.hpp"
#include "reporting/paper.hpp"
#include "statistics/quantiles.hpp"
#include "support/claim_examples.hpp"
#include "support/synthetic_run.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

using reporting::Judgement;
using reporting::Verdict;

/// What no rows of a run on Burgers 1D with a GELU can support: it is about the authors' machine, or another operator.
const std::set<std::string> without_examples = {"orders_of_magnitude_faster", "comparable_on_both_grids_of_heat_2d",
                                                "robust_to_relu"};

runs::Sitting sitting_on(const char* processor) {
  return {.environment = {{"processor", processor}}, .load = runs::Load{.wall = 100, .own = 90, .others = 1}};
}

/// A run of the paper's sizes with these rows.
runs::Run run_of(const runs::Results& results) {
  runs::Run run;
  run.pde = "burgers1d";
  run.comparable_with_paper = true;
  run.resolutions = {16, 32, 64, 128, 256, 512, 1024};
  run.results = results;
  run.sittings = {sitting_on("a processor")};
  return run;
}

std::vector<reporting::JudgedClaim> judged(const runs::Results& results) {
  const runs::Run run = run_of(results);
  return reporting::judge(reporting::Scoreboard(run));
}

Judgement judge_one(const std::string& id, const runs::Run& run) {
  const auto claim = std::ranges::find(reporting::claims::all(), id, &reporting::Claim::id);
  return reporting::judge(*claim, reporting::Scoreboard(run));
}

Judgement judge_one(const std::string& id, const runs::Results& results) { return judge_one(id, run_of(results)); }

Judgement expect_verdict(Verdict verdict, const std::string& id, const auto& rows) {
  const Judgement judgement = judge_one(id, rows);
  EXPECT_EQ(verdict, judgement.verdict) << id << ": " << judgement.evidence;
  return judgement;
}

/// The row of docs/architecture.md, as somebody would add it to a list of claims.
std::vector<reporting::Claim> documented_claims() {
  using namespace reporting::claims;
  return {
#include "documented_claims.inc"
  };
}

TEST(Claims, ThatFollowTheDocumentationAreJudged) {
  ASSERT_EQ(1u, documented_claims().size());
  const reporting::Claim claim = documented_claims().front();
  const runs::Results base = SyntheticRun::full().results();
  for (const auto& [factor, verdict] : {std::pair(0.4, Verdict::reproduced), std::pair(0.6, Verdict::not_reproduced)}) {
    runs::Results results = base;
    set_reference_error(results, 0);
    set_nrmse(results, "uniform", [](int) { return 1.0; });
    const Measured error = Measured::of(factor);
    change_rows(results, "operator_shap", [&error](runs::AttributionRow& row) { row.scores["nrmse"] = error; });
    const runs::Run run = run_of(results);
    const Judgement judgement = reporting::judge(claim, reporting::Scoreboard(run));
    EXPECT_EQ(verdict, judgement.verdict) << judgement.evidence;
    EXPECT_EQ(factor, judgement.value);
    EXPECT_EQ(0.5, judgement.threshold);
  }
  const runs::Run empty = run_of({});
  EXPECT_EQ("operator_shap and uniform were not both run on enough inputs.",
            claim.judge(reporting::Scoreboard(empty)).evidence);
}

// A claim about named grids needs each of them, and one of several metrics says which one decided.
TEST(Claims, OfTheUsualFormAreMeasuredOnTheGridsAndByTheMetricsOfTheirRow) {
  using namespace reporting::claims;
  using reporting::Discretisation;
  const runs::Run run = run_of(SyntheticRun::full().results());
  const reporting::Scoreboard scores(run);
  const auto judge = [&scores](OfMedians form) {
    form.methods = {explainer};
    form.otherwise = "not there";
    form.wording.quantity = "It";
    return of_medians(form)(scores);
  };
  const auto rows_of = [](const Judgement& judgement) { return judgement.tables.front().rows; };
  EXPECT_EQ(scores.discretisations().size(), rows_of(judge({.bound = 1})).size());
  EXPECT_EQ(4u, rows_of(judge({.bound = 1, .from = 128})).size());
  const auto both = judge({.metrics = {"nrmse", "pearson"}, .only = {Discretisation::line(32)}});
  ASSERT_EQ(2u, rows_of(both).size());
  EXPECT_EQ("n = 32, NRMSE", rows_of(both)[0][0]);
  EXPECT_EQ("not there", judge({.only = {Discretisation::line(32), Discretisation::line(33)}}).evidence);
}

TEST(Claims, EachHasAnExample) {
  std::set<std::string> ids;
  for (const reporting::Claim& claim : reporting::claims::all()) {
    EXPECT_TRUE(ids.insert(std::string(claim.id)).second) << claim.id;
    EXPECT_NE(claim_examples().contains(std::string(claim.id)), without_examples.contains(std::string(claim.id)))
        << claim.id;
    EXPECT_FALSE(claim.statement.empty() || claim.where.empty() || claim.rule.empty()) << claim.id;
    EXPECT_TRUE(claim.source == "paper" || claim.source == "opshap") << claim.id;
  }
  EXPECT_EQ(claim_examples().size() + without_examples.size(), ids.size());
}

// Undecided exactly when the interval reaches over the threshold, which itself belongs to one of the two sides.
TEST(Claims, AreJudgedByRowsThatSupportThemAndByRowsThatContradictThem) {
  const runs::Results base = SyntheticRun::full().results();
  for (const auto& [id, example] : claim_examples()) {
    for (const bool supports : {true, false}) {
      runs::Results results = base;
      (supports ? example.supports : example.contradicts)(results);
      const Judgement judgement = judge_one(id, results);
      EXPECT_EQ(supports ? "reproduced" : "not reproduced", to_string(judgement.verdict)) << id << judgement.evidence;
      EXPECT_FALSE(judgement.evidence.empty()) << id;
      ASSERT_TRUE(judgement.value && judgement.interval && judgement.threshold) << id;
      const auto [low, high] = *judgement.interval;
      EXPECT_LE(low, high) << id;
      EXPECT_FALSE(low < *judgement.threshold && *judgement.threshold < high) << id << ": " << judgement.evidence;
      ASSERT_FALSE(judgement.tables.empty()) << id;
      EXPECT_FALSE(judgement.tables.front().rows.empty()) << id;
    }
  }
}

TEST(Claims, AreNotTestableByRowsThatCannotTell) {
  runs::Results results;  // one failed attribution at one n: nothing is known of anybody's quality
  runs::AttributionRow row{{.method = "stratified", .access = "values", .budget = 100}};
  row.pde = "burgers1d";
  row.players = 24;
  row.shape = {24};
  set_undefined(row, "budget too small");
  row.reference = "permutation_antithetic";
  row.reference_error = Measured::of(0.01);
  results.attributions.push_back(row);
  for (const auto& [id, example] : claim_examples()) {
    const Judgement judgement = judge_one(id, results);
    EXPECT_EQ("not testable in this profile", to_string(judgement.verdict)) << id << ": " << judgement.evidence;
    EXPECT_FALSE(judgement.evidence.empty()) << id;
  }
}

TEST(Claims, OfManyPlayersAreLeftOpenByASmallRun) {
  const runs::Results results = SyntheticRun().results();
  for (const char* id : {"classical_methods_need_more_at_many_players", "training_is_amortised",
                         "one_model_for_all_resolutions", "shapley_values_settle"})
    EXPECT_EQ(Verdict::not_testable, judge_one(id, results).verdict) << id;
  for (const char* id : {"quality_against_regression_msr", "regression_msr_better_than_kernel_shap"})
    EXPECT_TRUE(has(judge_one(id, results).evidence, "regression_msr_shapiq_1_6"));
}

TEST(Claims, AboutTheAuthorsHardwareAreNotComparable) {
  runs::Results results = SyntheticRun::full().results();
  for (const double factor : {1.0, 0.01}) {  // neither a slow nor a fast explainer says anything about an A100
    scale_seconds(results, "operator_shap", factor);
    const Judgement judgement = expect_verdict(Verdict::not_comparable, "orders_of_magnitude_faster", results);
    EXPECT_TRUE(judgement.value);
    EXPECT_FALSE(judgement.threshold);
  }
}

TEST(Claims, AboutColumnsOfThePaperAreNotComparableInRunsOfOtherSizes) {
  runs::Run run = run_of(SyntheticRun::full().results());
  run.comparable_with_paper = false;
  run.departures = {"training samples: 192 instead of the paper's 4220"};
  const Judgement judgement = expect_verdict(Verdict::not_comparable, "operator_shap_column", run);
  EXPECT_TRUE(has(judgement.evidence, "192"));
}

TEST(Claims, AFurtherExplainerIsNoSecondModelOfTheFirst) {
  runs::Results results = SyntheticRun::full().results();
  claim_examples().at("one_model_for_all_resolutions").supports(results);
  runs::TrainingRow further = results.training.back();
  further.stage = "explainer";
  further.explainer = "mean_field_labels";
  results.training.push_back(further);
  expect_verdict(Verdict::reproduced, "one_model_for_all_resolutions", results);
  results.training.back().explainer.reset();
  expect_verdict(Verdict::not_reproduced, "one_model_for_all_resolutions", results);
}

TEST(Claims, ApplyOnlyToThePdeAndTheGridThatTheyAreAbout) {
  const std::set<std::string> of_others = {"comparable_on_both_grids_of_heat_2d", "robust_to_relu"};
  std::set<std::string> of_burgers = of_others;
  of_burgers.insert({"integrated_gradients_negative_r2", "regression_msr_wins_at_32_players",
                     "regression_msr_loses_from_64_players", "error_grows_while_r2_stays",
                     "best_in_r2_and_pearson_from_64_players", "reference_settles_with_resolution",
                     "shapley_values_settle"});
  std::set<std::string> of_the_paper = of_burgers;
  of_the_paper.insert({"consistent_across_resolutions", "regression_msr_column", "operator_shap_column",
                       "integrated_gradients_column"});
  for (const auto& [pde, expected] :
       {std::pair("burgers1d", of_others), {"diffusion_sorption1d", of_burgers}, {"nobodys_pde", of_the_paper}}) {
    runs::Run run = run_of(SyntheticRun::full().results());
    run.pde = pde;
    for (runs::AttributionRow& row : run.results.attributions) row.pde = pde;
    std::set<std::string> excluded;
    for (const reporting::Claim& claim : reporting::claims::all())
      if (!claim.applies(run)) excluded.insert(std::string(claim.id));
    EXPECT_EQ(expected, excluded) << pde;
    for (const std::string& id : excluded) {
      EXPECT_EQ(Verdict::not_testable, judge_one(id, run).verdict) << id;
      EXPECT_FALSE(judge_one(id, run).evidence.empty()) << id;
    }
  }
}

// Imported data may have the name of a problem of the paper in theirs, and its numbers.
TEST(Claims, OfThePaperAreNotJudgedOnImportedDataUnlessTheyHoldForAnyData) {
  runs::Run run = run_of(SyntheticRun::full().results());
  const reporting::Scoreboard own(run);
  runs::Run imported = run;
  imported.imported_from = "PDEBench, layout tensor: a.hdf5";
  const reporting::Scoreboard theirs(imported);
  int left_out = 0;
  for (const reporting::Claim& claim : reporting::claims::all()) {
    const Judgement judgement = reporting::judge(claim, theirs);
    if (claim.source == "paper" && !claim.check) {
      EXPECT_EQ(Verdict::not_testable, judgement.verdict) << claim.id;
      if (!claim.applies(run)) continue;
      EXPECT_TRUE(has(judgement.evidence, "imported from PDEBench, layout tensor: a.hdf5")) << claim.id;
      ++left_out;
    } else {
      EXPECT_EQ(reporting::judge(claim, own).verdict, judgement.verdict) << claim.id;
    }
  }
  EXPECT_GT(left_out, 20);
}

TEST(Claims, AreUndecidedWhereOtherInputsMightSayTheOpposite) {
  // RegressionMSR wins 5 of 10 inputs; its median is a little above OperatorSHAP's.
  runs::Results results = SyntheticRun::full().results();
  add_regression_msr(results);
  change_rows(results, "operator_shap", [](runs::AttributionRow& row) { row.scores["nrmse"] = Measured::of(0.071); });
  change_rows(results, regression_msr, [](runs::AttributionRow& row) {
    row.scores["nrmse"] =
        Measured::of(0.073 + (row.sample % 2 == 0 ? 0.02 : -0.02) + 1e-4 * static_cast<double>(row.sample));
  });
  const Judgement judgement = expect_verdict(Verdict::undecided, "regression_msr_wins_at_32_players", results);
  EXPECT_LT(judgement.interval->first, 1);
  EXPECT_GT(judgement.interval->second, 1);
}

TEST(Claims, AreUndecidedWhereTheReferenceCannotTell) {
  // All inputs alike, so that nothing but the reference's error is uncertain: .0127 against .0126.
  runs::Results results = SyntheticRun::full().results();
  add_regression_msr(results);
  set_nrmse(results, regression_msr, [](int) { return 0.0127; });
  set_nrmse(results, "operator_shap", [](int) { return 0.0126; });
  set_reference_error(results, 0.0126);
  expect_verdict(Verdict::undecided, "regression_msr_wins_at_32_players", results);
  set_reference_error(results, 0);
  expect_verdict(Verdict::not_reproduced, "regression_msr_wins_at_32_players", results);
}

TEST(Claims, AboutBudgetsAreUndecidedByCurvesThatBeginTooLate) {
  // All methods are as good at their first budget, at n = 16 and at n = 1024. What they need may be less at both, so
  // the first budget at n = 1024 being ten times that at n = 16 says nothing.
  runs::Results results = SyntheticRun::full().results();
  set_nrmse(results, "operator_shap", [](int) { return 20.0; });
  const auto judgement = expect_verdict(Verdict::undecided, "classical_methods_need_more_at_many_players", results);
  EXPECT_EQ(0, judgement.interval->first);
}

TEST(Claims, AboutClassicalMethodsAreNotDecidedByOrderingsInPairs) {
  runs::Results results = SyntheticRun::full().results();
  claim_examples().at("classical_methods_need_more_at_many_players").supports(results);
  set_nrmse(results, "permutation_antithetic", [](int) { return 1e-3; });
  set_reference_error(results, 0);
  expect_verdict(Verdict::reproduced, "classical_methods_need_more_at_many_players", results);
  expect_verdict(Verdict::reproduced, "antithetic_pair_beats_explainer", results);
}

TEST(Claims, AboutQualityCountComparableCells) {
  // Worse by less than the tolerance at half of the n, better at the others.
  runs::Results results = SyntheticRun::full().results();
  set_nrmse(results, "integrated_gradients", [](int players) { return players < 128 ? 0.10 : 0.9; });
  set_nrmse(results, "operator_shap", [](int players) { return players < 128 ? 0.12 : 0.2; });
  set_reference_error(results, 0);
  expect_verdict(Verdict::reproduced, "quality_against_integrated_gradients", results);
}

TEST(Claims, AboutAmortisationAreJudgedAtTheNOfTheFigureAndByMethodsThatAreAsGood) {
  runs::Results results = SyntheticRun::full().results();
  set_nrmse(results, "permutation", [](int) { return 7.0; });
  add_rows_like(results, "integrated_gradients", [](runs::AttributionRow& row) {
    row.method = "mean_field";
    row.scores["nrmse"] = Measured::of(0.001);
    return true;
  });
  const runs::Run run = run_of(results);
  const auto pays = reporting::amortisation(reporting::Scoreboard(run));
  ASSERT_TRUE(pays);
  EXPECT_EQ(reporting::Discretisation::line(512), pays->on);
  for (const auto& method : pays->methods) EXPECT_EQ(method.reached, method.break_even.has_value()) << method.method;
  EXPECT_TRUE(has(judge_one("training_is_amortised", run).evidence, "Not as good at any budget run: Permutation"));
  const reporting::Table methods = judge_one("training_breaks_even", run).tables.front();
  EXPECT_TRUE(std::ranges::any_of(methods.rows, [](const auto& row) { return row.front() == "Mean field"; }));
  EXPECT_TRUE(std::ranges::none_of(methods.rows, [](const auto& row) { return row.front() == "Permutation"; }));
}

// Three inputs have curves in some runs: their medians decide nothing.
TEST(Claims, AboutAmortisationNeedFiveInputsWithCurves) {
  SyntheticRun few = SyntheticRun::full();
  few.curve_inputs = 4;
  for (const char* id : {"training_is_amortised", "training_breaks_even"})
    EXPECT_EQ(Verdict::not_testable, judge_one(id, few.results()).verdict) << id;
}

TEST(Claims, AboutPairingLeaveOutWhereMostInputsAreUndefined) {
  runs::Results results = SyntheticRun().results();
  EXPECT_FALSE(has(judge_one("pairing_matters", results).evidence, "left out"));
  change_rows(results, "kernel_shap_paired", [](runs::AttributionRow& row) {
    if (row.players != 64) return;
    row.scores["nrmse"] = row.sample < 5 ? Measured::undefined("rank=62") : Measured::of(50);  // what is left is worse
  });
  const Judgement judgement = expect_verdict(Verdict::reproduced, "pairing_matters", results);
  EXPECT_TRUE(has(judgement.evidence, "3 of 8 inputs are defined"));
}

TEST(Claims, AboutFallingErrorsAreNotFooledByTheReference) {
  // The mean field falls like 1/n, but the references are known to .004 only: what is measured levels off.
  runs::Results results = SyntheticRun::full().results();
  add_mean_field(results, [](int players) { return std::hypot(0.9 / players, 0.004); });
  set_reference_error(results, 0.004);
  expect_verdict(Verdict::reproduced, "mean_field_error_falls", results);
}

/// The run on other grids or with another operator.
Judgement judge_elsewhere(const std::string& id, double nrmse, double pearson) {
  runs::Results results = SyntheticRun().results();
  add_regression_msr(results);
  std::erase_if(results.attributions, [](const runs::AttributionRow& row) { return row.players == 32; });
  for (runs::AttributionRow& row : results.attributions) {
    row.pde = "heat2d";
    row.players = row.players == 16 ? 256 : row.players;
    row.shape = row.players == 64 ? std::vector{8, 8} : std::vector{16, 16};
    row.reference_error = Measured::of(1e-3);
    if (row.method != "operator_shap") continue;
    row.scores["nrmse"] = Measured::of(nrmse);
    row.scores["pearson"] = Measured::of(pearson);
  }
  results.operators.clear();
  runs::Run run = run_of(results);
  run.pde = "heat2d";
  run.settings = {{"toml", "[operator]\nnon_linearity = 'relu'\n"}};
  return judge_one(id, run);
}

TEST(Claims, AboutOtherOperatorsAreJudgedOnThem) {
  using enum reporting::Verdict;
  EXPECT_EQ(reproduced, judge_elsewhere("comparable_on_both_grids_of_heat_2d", 0.05, 0.5).verdict);
  EXPECT_EQ(not_reproduced, judge_elsewhere("comparable_on_both_grids_of_heat_2d", 0.9, 0.99).verdict);
  EXPECT_EQ(reproduced, judge_elsewhere("robust_to_relu", 0.9, 0.95).verdict);
  EXPECT_EQ(not_reproduced, judge_elsewhere("robust_to_relu", 0.05, 0.5).verdict);
}

// A grid whose operator is not the problem's, or whose reference is none, says nothing of the sentence.
TEST(Claims, AreJudgedOnGridsWithAGoodOperatorAndAGoodReference) {
  runs::Results results = SyntheticRun::full().results();
  set_nrmse(results, "operator_shap", [](int players) { return players == 64 ? 0.9 : 0.05; });
  set_reference_error(results, 1e-3);
  expect_verdict(Verdict::not_reproduced, "low_error", results);
  runs::Results bad_backbone = results;
  for (runs::OperatorRow& row : bad_backbone.operators)
    if (row.points == 64) row.relative_errors.assign(10, Measured::of(0.11));
  const Judgement without = expect_verdict(Verdict::reproduced, "low_error", bad_backbone);
  EXPECT_TRUE(has(without.evidence, "Without n = 64 (the backbone's median error is 0.110)"));

  // A flow that hardly changes is easily predicted: what counts is the change at the query.
  runs::Results flows = results;
  for (runs::OperatorRow& row : flows.operators) {
    if (row.points != 64) continue;
    row.query_changes.assign(row.relative_errors.size(), 1);
    row.query_errors.assign(row.relative_errors.size(), 0.51);
  }
  EXPECT_TRUE(has(expect_verdict(Verdict::reproduced, "low_error", flows).evidence,
                  "at the query the backbone's error is 0.510"));
  // Most flows of these are steady, and no change is right there.
  for (runs::OperatorRow& row : flows.operators) {
    if (row.points != 64) continue;
    row.query_changes = {0, 0, 0, 0, 0, 0, 0, 0, 3, 4};
    row.query_errors = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1, 1};
  }
  expect_verdict(Verdict::not_reproduced, "low_error", flows);
  for (runs::OperatorRow& row : flows.operators)
    if (row.points == 64) row.query_changes.assign(row.relative_errors.size(), 1);
  for (runs::OperatorRow& row : flows.operators)
    if (row.points == 64) row.query_errors.assign(row.relative_errors.size(), 0.49);
  expect_verdict(Verdict::not_reproduced, "low_error", flows);

  runs::Run bad_reference = run_of(results);
  bad_reference.settings = {{"reference_error", "0.01"}};
  for (const auto& [error, verdict] :
       {std::pair(0.051, Verdict::reproduced), std::pair(0.049, Verdict::not_reproduced)}) {
    for (runs::AttributionRow& row : bad_reference.results.attributions)
      if (row.players == 64) row.reference_error = Measured::of(error);
    EXPECT_EQ(verdict, judge_one("low_error", bad_reference).verdict) << error;
  }

  for (runs::OperatorRow& row : results.operators) row.relative_errors.assign(10, Measured::of(0.28));
  for (const auto& claim : judged(results)) EXPECT_FALSE(claim.judgement.value && !claim.claim.check) << claim.claim.id;
  EXPECT_EQ(Verdict::reproduced, judge_one("normalisation_is_exact", results).verdict)
      << "a test of the program needs no good operator";
}

TEST(Claims, SayWhetherTheyAreBetterOrWorse) {
  using reporting::Direction;
  runs::Results results = SyntheticRun::full().results();
  set_to_the_papers(results, "operator_shap", 0.3);
  EXPECT_EQ(Direction::better, judge_one("operator_shap_column", results).direction);
  set_to_the_papers(results, "operator_shap", 3);
  EXPECT_EQ(Direction::worse, judge_one("operator_shap_column", results).direction);
  EXPECT_EQ(std::nullopt, judge_one("same_backbone_on_all_grids", results).direction);
  set_nrmse(results, "operator_shap", [](int) { return 9.0; });
  EXPECT_EQ(Direction::worse, judge_one("quality_against_integrated_gradients", results).direction);
}

TEST(Claims, AboutWallTimesNeedOneMachineWithNothingBesideIt) {
  runs::Run run = run_of(SyntheticRun::full().results());
  expect_verdict(Verdict::reproduced, "faster_than_baselines", run);
  EXPECT_TRUE(has(judge_one("faster_than_baselines", run).evidence, "Timed on a processor"));
  runs::Run busy = run, silent = run, moved = run;
  busy.sittings[0].load->others = 40;
  silent.sittings[0].load.reset();
  moved.sittings.push_back(sitting_on("another"));
  for (const auto& [of, why] :
       {std::pair(&busy, "40 %"), {&silent, "does not say"}, {&moved, "several machines (a processor; another)"}}) {
    const Judgement judgement = expect_verdict(Verdict::not_comparable, "faster_than_baselines", *of);
    EXPECT_TRUE(has(judgement.evidence, why));
    EXPECT_TRUE(judgement.value) << "the number is shown all the same";
  }
}

TEST(Claims, WithoutTheReferencesCannotBeRebuilt) {
  runs::Results results = SyntheticRun::full().results();
  results.values.clear();
  for (const char* id :
       {"shapley_values_settle", "reference_settles_with_resolution", "explainers_beat_the_constant"}) {
    EXPECT_TRUE(judge_one(id, SyntheticRun::full().results()).rebuildable) << id;
    EXPECT_FALSE(judge_one(id, results).rebuildable) << id;
    EXPECT_EQ(Verdict::not_testable, judge_one(id, results).verdict) << id;
  }
  EXPECT_TRUE(judge_one("low_error", results).rebuildable);
}

// 21 intervals of which one is beyond its threshold by chance: no reason to call the sentence false.
TEST(Verdicts, OfManyMeasurementsAreByHolm) {
  using namespace reporting::claims;
  using enum reporting::Verdict;
  // A normal number with this mean and a standard deviation of 1, against 0.
  const auto measured = [](double mean) {
    const auto interval = [mean](double tail) {
      const double reach = statistics::student_quantile(1 - tail, std::numeric_limits<double>::infinity());
      return statistics::Interval{.low = mean - reach, .high = mean + reach};
    };
    return Measurement{.at = "", .value = mean, .interval_at = interval, .threshold = 0, .side = Side::at_most};
  };
  EXPECT_EQ(not_reproduced, verdicts({measured(2.1)}).front()) << "alone";
  Measurements many(20, measured(-3));
  many.push_back(measured(2.1));
  EXPECT_EQ(undecided, verdicts(many).back()) << "one of 21";
  EXPECT_EQ(reproduced, verdicts(many).front());
  many.back() = measured(3.1);  // .00097, and .025 / 21 is .00119
  EXPECT_EQ(not_reproduced, verdicts(many).back());
  // Holm's steps: .0016 passes .025 / 2 and leaves a family of one to 2.0, which has .0228.
  EXPECT_EQ((std::vector{not_reproduced, not_reproduced}), verdicts({measured(2.95), measured(2.0)}));
  EXPECT_EQ((std::vector{undecided, undecided}), verdicts({measured(2.2), measured(2.0)}));
  // What nothing random is in makes no family larger.
  Measurements with_certain(20, exactly("", -1, 0, Side::at_most));
  with_certain.push_back(measured(2.1));
  EXPECT_EQ(not_reproduced, verdicts(with_certain).back());
  EXPECT_EQ(not_reproduced, verdicts({exactly("", 1, 0, Side::at_most)}).front());
  EXPECT_EQ(not_reproduced, all_of(many, {.quantity = "What"}).verdict);
  many.back() = measured(2.1);
  EXPECT_EQ(undecided, all_of(many, {.quantity = "What"}).verdict);
}

TEST(Claims, OfTheRowsOfTheTableSayWhoIsBestThere) {
  const auto rows = reporting::claims::of_table_rows("burgers1d");
  ASSERT_EQ(6u, rows.size());
  EXPECT_EQ("table_row_burgers1d_64", rows[1].id);
  EXPECT_EQ(
      "Best median on Burgers 1D at n = 64: R² OperatorSHAP (0.874), Pearson OperatorSHAP (0.986), NRMSE OperatorSHAP "
      "(0.188) (read from the table, not a quote).",
      rows[1].statement);
  EXPECT_TRUE(has(rows[1].where, "(LaTeX line 1245)"));
  EXPECT_TRUE(reporting::claims::of_table_rows("nobodys_pde").empty());
  runs::Results results = SyntheticRun::full().results();
  add_regression_msr(results);
  change_rows(results, "operator_shap",
              [](runs::AttributionRow& row) { row.scores["r2"] = row.scores["pearson"] = Measured::of(0.99999); });
  const auto verdict = [&rows](const runs::Results& of) {
    const runs::Run run = run_of(of);
    return reporting::judge(rows[1], reporting::Scoreboard(run)).verdict;
  };
  EXPECT_EQ(Verdict::reproduced, verdict(results));
  set_nrmse(results, "integrated_gradients", [](int) { return 1e-3; });
  EXPECT_EQ(Verdict::not_reproduced, verdict(results));
  std::erase_if(results.attributions, [](const auto& row) { return row.method == "integrated_gradients"; });
  EXPECT_EQ(Verdict::not_testable, verdict(results));
}

TEST(Claims, ThatHoldInEveryCorrectRunAreBrokenByRowsThatContradictThem) {
  const runs::Results base = SyntheticRun().results();
  EXPECT_EQ(std::vector<std::string>{}, reporting::broken_checks(judged(base)));
  int checks = 0;
  for (const reporting::Claim& claim : reporting::claims::all()) {
    if (!claim.check) continue;
    ++checks;
    runs::Results results = base;
    claim_examples().at(std::string(claim.id)).contradicts(results);
    const std::vector<std::string> broken = reporting::broken_checks(judged(results));
    EXPECT_NE(broken.end(), std::ranges::find(broken, claim.id)) << claim.id;
  }
  EXPECT_EQ(4, checks);
  EXPECT_EQ(std::vector<std::string>{}, reporting::broken_checks(judged({.attributions = {base.attributions.front()}})))
      << "what a small run cannot check is not broken";
}

TEST(Claims, AreWrittenWithSourceStatementVerdictAndEvidence) {
  const auto run = SyntheticRun().run();
  const reporting::Scoreboard scores(run);
  const auto json = nlohmann::json::parse(reporting::claims_json(reporting::judge(scores), run));
  EXPECT_EQ("opshap.claims/1", json["schema"]);
  EXPECT_EQ("smoke", json["profile"]);
  EXPECT_EQ(reporting::claims::all().size() + reporting::claims::of_table_rows("burgers1d").size(),
            json["claims"].size() + json["checks"].size());
  EXPECT_EQ(4u, json["checks"].size());
  EXPECT_EQ("burgers1d", json["pde"]);
  EXPECT_TRUE(json["commit"].is_string());
  const std::set<std::string> verdicts = {"reproduced", "not reproduced", "undecided", "not comparable",
                                          "not testable in this profile"};
  for (const auto& claim : json["claims"]) {
    for (const char* key : {"id", "source", "statement", "where", "rule", "verdict", "evidence"})
      EXPECT_TRUE(claim[key].is_string() && claim[key] != "") << claim;
    EXPECT_TRUE(verdicts.contains(claim["verdict"])) << claim;
    EXPECT_TRUE(claim["direction"].is_null() || claim["direction"] == "better" || claim["direction"] == "worse");
    EXPECT_TRUE(claim["rebuildable"].is_boolean() && claim["by_construction"].is_boolean());
    for (const char* key : {"value", "threshold"}) EXPECT_TRUE(claim[key].is_number() || claim[key].is_null()) << claim;
    const auto& interval = claim["interval"];
    EXPECT_TRUE(interval.is_null() || (interval.size() == 2 && interval[0].is_number() && interval[1].is_number() &&
                                       interval[0] <= interval[1]))
        << claim;
  }
}

TEST(Claims, HaveATitleThatFitsAList) {
  std::set<std::string_view> titles;
  for (const reporting::Claim& claim : reporting::claims::all()) {
    EXPECT_TRUE(titles.insert(claim.title).second) << claim.id;
    EXPECT_TRUE(claim.title.size() >= 10 && claim.title.size() <= 75) << claim.title;
    EXPECT_FALSE(has(claim.title, "_"));
  }
}

TEST(Claims, WriteNoIntervalWhereNothingBoundsIt) {
  const auto run = SyntheticRun().run();
  std::vector<reporting::JudgedClaim> judged = reporting::judge(reporting::Scoreboard(run));
  judged.resize(1);
  judged[0].judgement.interval = {1, 2};
  EXPECT_EQ("[1.0,2.0]", nlohmann::json::parse(reporting::claims_json(judged, run))["claims"][0]["interval"].dump());
  judged[0].judgement.interval = {1, std::numeric_limits<double>::infinity()};
  EXPECT_TRUE(nlohmann::json::parse(reporting::claims_json(judged, run))["claims"][0]["interval"].is_null());
}

}  // namespace
}  // namespace opshap
