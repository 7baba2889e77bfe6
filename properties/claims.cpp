// Every claim has a run that supports it, one that contradicts it, and one that cannot tell.

#include "reporting/claims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/error.hpp"
#include "reporting/amortisation.hpp"
#include "reporting/comparison.hpp"
#include "reporting/paper.hpp"
#include "support/claim_examples.hpp"
#include "support/synthetic_run.hpp"

namespace opshap {
namespace {

/// What no rows of a run can support: it is about the authors' machine, or about the paper's table alone.
const std::set<std::string> without_examples = {"orders_of_magnitude_faster",
                                                "papers_integrated_gradients_are_not_efficient"};

/// A run of the paper's sizes with these rows.
runs::Run run_of(const runs::Results& results) {
  runs::Run run;
  run.pde = "burgers1d";
  run.comparable_with_paper = true;
  run.resolutions = {16, 32, 64, 128, 256, 512, 1024};
  run.results = results;
  return run;
}

std::vector<reporting::JudgedClaim> judged(const runs::Results& results) {
  const runs::Run run = run_of(results);
  return reporting::judge(reporting::Scoreboard(run));
}

const reporting::Claim& claim_of(const std::string& id) {
  const auto& all = reporting::claims::all();
  return *std::find_if(all.begin(), all.end(), [&id](const reporting::Claim& claim) { return claim.id == id; });
}

reporting::Judgement judge_one(const std::string& id, const runs::Run& run) {
  return reporting::judge(claim_of(id), reporting::Scoreboard(run));
}

reporting::Judgement judge_one(const std::string& id, const runs::Results& results) {
  return judge_one(id, run_of(results));
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

TEST(Claims, AreReproducedByRowsThatSupportThem) {
  const runs::Results base = SyntheticRun::full().results();
  for (const auto& [id, example] : claim_examples()) {
    runs::Results results = base;
    example.supports(results);
    const reporting::Judgement judgement = judge_one(id, results);
    EXPECT_EQ("reproduced", to_string(judgement.verdict)) << id << ": " << judgement.evidence;
    EXPECT_FALSE(judgement.evidence.empty()) << id;
  }
}

TEST(Claims, AreNotReproducedByRowsThatContradictThem) {
  const runs::Results base = SyntheticRun::full().results();
  for (const auto& [id, example] : claim_examples()) {
    runs::Results results = base;
    example.contradicts(results);
    const reporting::Judgement judgement = judge_one(id, results);
    EXPECT_EQ("not reproduced", to_string(judgement.verdict)) << id << ": " << judgement.evidence;
    EXPECT_FALSE(judgement.evidence.empty()) << id;
  }
}

TEST(Claims, AreUndecidedExactlyWhenTheIntervalReachesOverTheThreshold) {
  const runs::Results base = SyntheticRun::full().results();
  for (const auto& [id, example] : claim_examples()) {
    for (const Change change : {example.supports, example.contradicts}) {
      runs::Results results = base;
      change(results);
      const reporting::Judgement judgement = judge_one(id, results);
      ASSERT_TRUE(judgement.value && judgement.interval && judgement.threshold) << id;
      const auto [low, high] = *judgement.interval;
      EXPECT_LE(low, high) << id;
      // The threshold itself belongs to one of the two sides, so only its inside can be undecided.
      EXPECT_FALSE(low < *judgement.threshold && *judgement.threshold < high) << id << ": " << judgement.evidence;
      ASSERT_FALSE(judgement.tables.empty()) << id;
      EXPECT_FALSE(judgement.tables.front().rows.empty()) << id;
    }
  }
}

TEST(Claims, AreNotTestableByRowsThatCannotTell) {
  runs::Results results;  // one failed attribution at one n: nothing is known of anybody's quality
  runs::AttributionRow row;
  row.pde = "burgers1d";
  row.players = 24;
  row.shape = {24};
  row.method = "stratified";
  row.access = "values";
  row.budget = 100;
  row.pearson = row.nrmse = row.r2 = row.efficiency_gap = Measured::undefined("budget too small");
  row.reference = "permutation_antithetic";
  row.reference_error = Measured::of(0.01);
  results.attributions.push_back(row);
  for (const auto& [id, example] : claim_examples()) {
    const reporting::Judgement judgement = judge_one(id, results);
    EXPECT_EQ("not testable in this profile", to_string(judgement.verdict)) << id << ": " << judgement.evidence;
    EXPECT_FALSE(judgement.evidence.empty()) << id;
  }
}

TEST(Claims, OfManyPlayersAreLeftOpenByASmallRun) {
  const runs::Results results = SyntheticRun().results();
  for (const char* id : {"classical_methods_need_more_at_many_players", "training_is_amortised",
                         "one_model_for_all_resolutions", "shapley_values_approach_density"}) {
    EXPECT_EQ(reporting::Verdict::not_testable, judge_one(id, results).verdict) << id;
  }
  for (const char* id : {"quality_against_regression_msr", "regression_msr_better_than_kernel_shap"}) {
    EXPECT_NE(std::string::npos, judge_one(id, results).evidence.find("regression_msr_shapiq_1_6")) << id;
  }
}

TEST(Claims, AboutTheAuthorsHardwareAreNotComparable) {
  runs::Results results = SyntheticRun::full().results();
  for (const double factor : {1.0, 0.01}) {  // neither a slow nor a fast explainer says anything about an A100
    scale_seconds(results, "operator_shap", factor);
    const reporting::Judgement judgement = judge_one("orders_of_magnitude_faster", results);
    EXPECT_EQ(reporting::Verdict::not_comparable, judgement.verdict) << judgement.evidence;
    EXPECT_TRUE(judgement.value);
    EXPECT_FALSE(judgement.threshold);
  }
}

TEST(Claims, AboutColumnsOfThePaperAreNotComparableInRunsOfOtherSizes) {
  runs::Run run = run_of(SyntheticRun::full().results());
  run.comparable_with_paper = false;
  run.departures = {"training samples: 192 instead of the paper's 4220"};
  const reporting::Judgement judgement = judge_one("operator_shap_column", run);
  EXPECT_EQ(reporting::Verdict::not_comparable, judgement.verdict);
  EXPECT_NE(std::string::npos, judgement.evidence.find("192")) << judgement.evidence;
}

TEST(Claims, AFurtherExplainerIsNoSecondModelOfTheFirst) {
  runs::Results results = SyntheticRun::full().results();
  claim_examples().at("one_model_for_all_resolutions").supports(results);
  runs::TrainingRow further = results.training.back();
  further.stage = "explainer";
  further.explainer = "mean_field_labels";
  results.training.push_back(further);
  EXPECT_EQ(reporting::Verdict::reproduced, judge_one("one_model_for_all_resolutions", results).verdict);
  results.training.back().explainer.reset();
  EXPECT_EQ(reporting::Verdict::not_reproduced, judge_one("one_model_for_all_resolutions", results).verdict);
}

TEST(Claims, ApplyOnlyToThePdeAndTheGridThatTheyAreAbout) {
  for (const auto& [pde, expected] : std::map<std::string, std::set<std::string>>{
           {"burgers1d", {}},
           {"diffusion_sorption1d",
            {"integrated_gradients_negative_r2", "regression_msr_wins_at_32_players",
             "regression_msr_loses_from_64_players", "best_in_r2_and_pearson_from_64_players",
             "error_grows_while_r2_stays", "reference_settles_with_resolution", "shapley_values_approach_density"}},
           {"nobodys_pde",
            {"integrated_gradients_negative_r2", "regression_msr_wins_at_32_players",
             "regression_msr_loses_from_64_players", "best_in_r2_and_pearson_from_64_players",
             "error_grows_while_r2_stays", "reference_settles_with_resolution", "shapley_values_approach_density",
             "consistent_across_resolutions", "regression_msr_column", "operator_shap_column",
             "integrated_gradients_column"}}}) {
    runs::Run run = run_of(SyntheticRun::full().results());
    run.pde = pde;
    for (runs::AttributionRow& row : run.results.attributions) row.pde = pde;
    std::set<std::string> excluded;
    for (const reporting::Claim& claim : reporting::claims::all()) {
      if (!claim.applies(run)) excluded.insert(std::string(claim.id));
    }
    EXPECT_EQ(expected, excluded) << pde;
    for (const std::string& id : excluded) {
      EXPECT_EQ(reporting::Verdict::not_testable, judge_one(id, run).verdict) << id;
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
    const reporting::Judgement judgement = reporting::judge(claim, theirs);
    if (claim.source == "paper" && !claim.always) {
      EXPECT_EQ(reporting::Verdict::not_testable, judgement.verdict) << claim.id;
      EXPECT_NE(std::string::npos, judgement.evidence.find("imported from PDEBench, layout tensor: a.hdf5"))
          << claim.id;
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
  change_rows(results, "operator_shap", [](runs::AttributionRow& row) { row.nrmse = Measured::of(0.071); });
  change_rows(results, regression_msr, [](runs::AttributionRow& row) {
    row.nrmse = Measured::of(0.073 + (row.sample % 2 == 0 ? 0.02 : -0.02) + 1e-4 * static_cast<double>(row.sample));
  });
  const reporting::Judgement judgement = judge_one("regression_msr_wins_at_32_players", results);
  EXPECT_EQ(reporting::Verdict::undecided, judgement.verdict) << judgement.evidence;
  EXPECT_LT(judgement.interval->first, 1);
  EXPECT_GT(judgement.interval->second, 1);
}

TEST(Claims, AreUndecidedWhereTheReferenceCannotTell) {
  // All inputs alike, so that nothing but the reference's error is uncertain: .0127 against .0126.
  runs::Results results = SyntheticRun::full().results();
  add_regression_msr(results);
  set_nrmse(results, regression_msr, [](int) { return 0.0127; });
  set_nrmse(results, "operator_shap", [](int) { return 0.0126; });
  for (runs::AttributionRow& row : results.attributions) row.reference_error = Measured::of(0.0126);
  EXPECT_EQ(reporting::Verdict::undecided, judge_one("regression_msr_wins_at_32_players", results).verdict);
  for (runs::AttributionRow& row : results.attributions) row.reference_error = Measured::of(0);
  EXPECT_EQ(reporting::Verdict::not_reproduced, judge_one("regression_msr_wins_at_32_players", results).verdict);
}

TEST(Claims, AboutBudgetsAreUndecidedByCurvesThatBeginTooLate) {
  // All methods are as good at their first budget, at n = 16 and at n = 1024. What they need may be less at both, so
  // the first budget at n = 1024 being ten times that at n = 16 says nothing.
  runs::Results results = SyntheticRun::full().results();
  set_nrmse(results, "operator_shap", [](int) { return 20.0; });
  const reporting::Judgement judgement = judge_one("classical_methods_need_more_at_many_players", results);
  EXPECT_EQ(reporting::Verdict::undecided, judgement.verdict) << judgement.evidence;
  EXPECT_EQ(0, judgement.interval->first);
}

TEST(Claims, AboutClassicalMethodsAreNotDecidedByOrderingsInPairs) {
  runs::Results results = SyntheticRun::full().results();
  claim_examples().at("classical_methods_need_more_at_many_players").supports(results);
  set_nrmse(results, "permutation_antithetic", [](int) { return 1e-3; });
  for (runs::AttributionRow& row : results.attributions) row.reference_error = Measured::of(0);
  EXPECT_EQ(reporting::Verdict::reproduced, judge_one("classical_methods_need_more_at_many_players", results).verdict);
  EXPECT_EQ(reporting::Verdict::reproduced, judge_one("antithetic_pair_beats_explainer", results).verdict);
}

TEST(Claims, AboutQualityCountComparableCells) {
  // Worse by less than the tolerance at half of the n, better at the others.
  runs::Results results = SyntheticRun::full().results();
  set_nrmse(results, "integrated_gradients", [](int players) { return players < 128 ? 0.10 : 0.9; });
  set_nrmse(results, "operator_shap", [](int players) { return players < 128 ? 0.12 : 0.2; });
  for (runs::AttributionRow& row : results.attributions) row.reference_error = Measured::of(0);
  const reporting::Judgement judgement = judge_one("quality_against_integrated_gradients", results);
  EXPECT_EQ(reporting::Verdict::reproduced, judgement.verdict) << judgement.evidence;
}

TEST(Claims, AboutAmortisationAreJudgedAtTheNOfTheFigureAndByMethodsThatAreAsGood) {
  runs::Results results = SyntheticRun::full().results();
  set_nrmse(results, "permutation", [](int) { return 7.0; });
  add_rows_like(results, "integrated_gradients", [](runs::AttributionRow& row) {
    row.method = "mean_field";
    row.nrmse = Measured::of(0.001);
    return true;
  });
  const runs::Run run = run_of(results);
  const auto pays = reporting::amortisation(reporting::Scoreboard(run));
  ASSERT_TRUE(pays);
  EXPECT_EQ(reporting::Discretisation::line(512), pays->on);
  for (const reporting::TunedMethod& method : pays->methods)
    EXPECT_EQ(method.reached, method.break_even.has_value()) << method.method;
  const reporting::Judgement judgement = judge_one("training_is_amortised", run);
  EXPECT_NE(std::string::npos, judgement.evidence.find("Not as good at any budget run: Permutation"))
      << judgement.evidence;
  EXPECT_NE(std::string::npos, judgement.evidence.find("Mean field")) << judgement.evidence;
}

TEST(Claims, AboutPairingLeaveOutWhereMostInputsAreUndefined) {
  runs::Results results = SyntheticRun().results();
  EXPECT_EQ(std::string::npos, judge_one("pairing_matters", results).evidence.find("left out"));
  change_rows(results, "kernel_shap_paired", [](runs::AttributionRow& row) {
    if (row.players != 64) return;
    row.nrmse = row.sample < 5 ? Measured::undefined("rank=62") : Measured::of(50);  // what is left is worse
  });
  const reporting::Judgement judgement = judge_one("pairing_matters", results);
  EXPECT_EQ(reporting::Verdict::reproduced, judgement.verdict) << judgement.evidence;
  EXPECT_NE(std::string::npos, judgement.evidence.find("3 of 8 inputs are defined")) << judgement.evidence;
}

TEST(Claims, AboutFallingErrorsAreNotFooledByTheReference) {
  // The mean field falls like 1/n, but the references are known to .004 only: what is measured levels off.
  runs::Results results = SyntheticRun::full().results();
  add_mean_field(results, [](int players) { return std::hypot(0.9 / players, 0.004); });
  for (runs::AttributionRow& row : results.attributions) row.reference_error = Measured::of(0.004);
  const reporting::Judgement judgement = judge_one("mean_field_error_falls", results);
  EXPECT_EQ(reporting::Verdict::reproduced, judgement.verdict) << judgement.evidence;
}

TEST(Contradictions, AreRowsWithLessErrorAndLessExplained) {
  const auto cell = [](const char* method, const char* metric, double median) {
    return reporting::PaperCell{.pde = "burgers1d",
                                .players = 32,
                                .method = method,
                                .metric = metric,
                                .quartiles = {.q25 = median, .median = median, .q75 = median, .count = 30}};
  };
  std::vector<reporting::PaperCell> cells = {cell("a", "nrmse", 0.8), cell("a", "r2", -0.1), cell("b", "nrmse", 1.4),
                                             cell("b", "r2", 0.7)};
  EXPECT_EQ(1u, reporting::contradictions(cells, "a", "b").cells.size());
  EXPECT_EQ(0u, reporting::contradictions(cells, "b", "a").cells.size());
  cells[3] = cell("b", "r2", -0.2);
  EXPECT_EQ(0u, reporting::contradictions(cells, "a", "b").cells.size());
  EXPECT_EQ(1, reporting::contradictions(cells, "a", "b").pairs);

  // Burgers 1D, n = 1024: .853 and -.081 beside 1.386 and .717 (LaTeX line 1253).
  const auto found =
      reporting::contradictions(reporting::paper_quality(), "integrated_gradients", regression_msr).cells;
  EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](const reporting::Contradictions::Row& row) {
    return row.pde == "burgers1d" && row.players == 1024 && row.tex_line == 1253;
  }));
}

TEST(Paper, SaysWhereItsSentencesAndConstantsStand) {
  for (const reporting::Claim& claim : reporting::claims::all()) {
    if (claim.source != "paper") continue;
    const reporting::PaperSentence& sentence = reporting::paper_sentence(claim.id);
    EXPECT_EQ(sentence.sentence, claim.statement);
    EXPECT_NE(std::string_view::npos, claim.where.find("LaTeX line ")) << claim.id;
  }
  EXPECT_EQ(30, reporting::paper_constant("test_inputs"));
  EXPECT_EQ(512, reporting::paper_constant("amortisation_players"));
  EXPECT_EQ("periodic 1D", reporting::paper_domain("burgers1d"));
  EXPECT_EQ("", reporting::paper_domain("nobodys_pde"));
  EXPECT_THROW(reporting::paper_constant("test_imputs"), InvalidArgument);
  EXPECT_THROW(reporting::paper_sentence("quality"), InvalidArgument);
}

TEST(Claims, ThatHoldInEveryCorrectRunAreBrokenByRowsThatContradictThem) {
  const runs::Results base = SyntheticRun().results();
  EXPECT_EQ(std::vector<std::string>{}, reporting::broken_checks(judged(base)));
  int always = 0;
  for (const reporting::Claim& claim : reporting::claims::all()) {
    if (!claim.always) continue;
    ++always;
    runs::Results results = base;
    claim_examples().at(std::string(claim.id)).contradicts(results);
    const std::vector<std::string> broken = reporting::broken_checks(judged(results));
    EXPECT_NE(broken.end(), std::find(broken.begin(), broken.end(), claim.id)) << claim.id;
  }
  EXPECT_GT(always, 0);
}

TEST(Claims, AreWrittenWithSourceStatementVerdictAndEvidence) {
  const auto run = SyntheticRun().run();
  const reporting::Scoreboard scores(run);
  const auto json = nlohmann::json::parse(reporting::claims_json(reporting::judge(scores), run));
  EXPECT_EQ("opshap.claims/1", json["schema"]);
  EXPECT_EQ("smoke", json["profile"]);
  EXPECT_EQ(reporting::claims::all().size(), json["claims"].size());
  EXPECT_EQ("burgers1d", json["pde"]);
  EXPECT_TRUE(json["commit"].is_string());
  const std::set<std::string> verdicts = {"reproduced", "not reproduced", "undecided", "not comparable",
                                          "not testable in this profile"};
  for (const auto& claim : json["claims"]) {
    for (const char* key : {"id", "source", "statement", "where", "rule", "verdict", "evidence"})
      EXPECT_TRUE(claim[key].is_string() && claim[key] != "") << claim;
    EXPECT_TRUE(verdicts.contains(claim["verdict"])) << claim;
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
    EXPECT_EQ(std::string_view::npos, claim.title.find('_')) << claim.title;
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
