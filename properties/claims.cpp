// Every claim's verdict follows the rows: for each there is a run that supports it, one that contradicts it, and one that cannot tell.

#include "reporting/claims.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "reporting/amortisation.hpp"
#include "support/synthetic_run.hpp"

namespace opshap {
namespace {

using Change = void (*)(reporting::Results&);

const std::string regression_msr = "regression_msr_shapiq_1_6";

/// Changes the rows of one method; `change` gets the row.
template <typename ChangeRow>
void change_rows(reporting::Results& results, const std::string& method, const ChangeRow& change) {
  for (reporting::AttributionRow& row : results.attributions) {
    if (row.method == method) change(row);
  }
}

void set_nrmse(reporting::Results& results, const std::string& method, double (*of_players)(int)) {
  change_rows(results, method,
              [of_players](reporting::AttributionRow& row) { row.nrmse = Measured::of(of_players(row.players)); });
}

void scale_seconds(reporting::Results& results, const std::string& method, double factor) {
  change_rows(results, method, [factor](reporting::AttributionRow& row) {
    row.game_seconds *= factor;
    row.estimator_seconds *= factor;
  });
}

/// Rows of RegressionMSR at the budget of the tables, with the NRMSE the paper has at n = 32 and a bad one above.
void add_regression_msr(reporting::Results& results) {
  std::vector<reporting::AttributionRow> added;
  change_rows(results, "kernel_shap", [&added](const reporting::AttributionRow& row) {
    if (row.budget != std::max<std::int64_t>(2 * row.players, 1024)) return;
    added.push_back(row);
    added.back().method = regression_msr;
    added.back().nrmse = Measured::of(row.players <= 32 ? 0.05 : 1.1);
    added.back().pearson = Measured::of(row.players <= 32 ? 0.999 : 0.3);
    added.back().r2 = Measured::of(row.players <= 32 ? 0.9 : 0.5);
  });
  results.attributions.insert(results.attributions.end(), added.begin(), added.end());
}

void as_it_is(reporting::Results&) {}

struct Example {
  Change supports = as_it_is, contradicts = as_it_is;
};

const std::map<std::string, Example>& examples() {
  static const std::map<std::string, Example> all = {
      {"quality_against_integrated_gradients",
       {as_it_is,
        [](reporting::Results& results) {
          change_rows(results, "operator_shap", [](reporting::AttributionRow& row) {
            row.nrmse = row.r2 = row.pearson = Measured::of(row.players < 512 ? -1 : 9);
          });
          set_nrmse(results, "operator_shap", [](int) { return 9.0; });
        }}},
      {"quality_against_regression_msr",
       {add_regression_msr,
        [](reporting::Results& results) {
          add_regression_msr(results);
          change_rows(results, regression_msr, [](reporting::AttributionRow& row) {
            row.nrmse = Measured::of(0.01);
            row.pearson = row.r2 = Measured::of(0.9999);
          });
        }}},
      {"consistent_across_resolutions",
       {[](reporting::Results& results) {
          change_rows(results, "operator_shap",
                      [](reporting::AttributionRow& row) { row.pearson = Measured::of(0.95); });
        },
        [](reporting::Results& results) {
          change_rows(results, "operator_shap", [](reporting::AttributionRow& row) {
            row.pearson = Measured::of(row.players == 512 ? 0.8 : 0.95);
          });
        }}},
      {"one_model_for_all_resolutions",
       {as_it_is,
        [](reporting::Results& results) {
          set_nrmse(results, "uniform", [](int players) { return players == 256 ? 0.01 : 1.0; });
        }}},
      {"classical_methods_win_at_few_players",
       {as_it_is,
        [](reporting::Results& results) {
          set_nrmse(results, "operator_shap", [](int players) { return players == 16 ? 1e-6 : 0.3; });
        }}},
      {"classical_methods_need_more_at_many_players",
       {as_it_is,
        [](reporting::Results& results) {
          set_nrmse(results, "operator_shap", [](int players) { return players == 16 ? 0.02 : 0.5; });
        }}},
      {"integrated_gradients_negative_r2",
       {as_it_is,
        [](reporting::Results& results) {
          change_rows(results, "integrated_gradients",
                      [](reporting::AttributionRow& row) { row.r2 = Measured::of(row.players == 64 ? 0.2 : -0.1); });
        }}},
      {"regression_msr_wins_at_32_players",
       {add_regression_msr,
        [](reporting::Results& results) {
          add_regression_msr(results);
          set_nrmse(results, regression_msr, [](int) { return 5.0; });
        }}},
      {"regression_msr_loses_from_64_players",
       {add_regression_msr,
        [](reporting::Results& results) {
          add_regression_msr(results);
          set_nrmse(results, regression_msr, [](int players) { return players == 128 ? 0.001 : 5.0; });
        }}},
      {"regression_msr_better_than_kernel_shap",
       {[](reporting::Results& results) {
          add_regression_msr(results);
          set_nrmse(results, regression_msr, [](int) { return 1e-3; });
        },
        [](reporting::Results& results) {
          add_regression_msr(results);
          set_nrmse(results, regression_msr, [](int) { return 9.0; });
        }}},
      {"faster_than_baselines",
       {[](reporting::Results& results) {  // most inputs refused, which takes no time
          change_rows(results, "kernel_shap", [](reporting::AttributionRow& row) {
            if (row.sample == 0) return;
            row.distinct = row.evaluations = 0;
            row.game_seconds = row.estimator_seconds = 0;
          });
        },
        [](reporting::Results& results) { scale_seconds(results, "integrated_gradients", 0.03); }}},
      {"orders_of_magnitude_faster",
       {[](reporting::Results& results) { scale_seconds(results, "operator_shap", 0.1); },
        [](reporting::Results& results) { scale_seconds(results, "permutation", 0.1); }}},
      {"training_is_amortised",
       {as_it_is,
        [](reporting::Results& results) {
          change_rows(results, "operator_shap", [](reporting::AttributionRow& row) { row.distinct = 1000; });
        }}},
      {"shapley_values_approach_density",
       {[](reporting::Results& results) {
          for (reporting::ValuesRow& row : results.values) {
            if (row.method == "operator_shap" && row.players == 128)
              row.values = synthetic::shapley_values(row.players, row.sample);
          }
        },
        as_it_is}},
      {"normalisation_is_exact",
       {as_it_is,
        [](reporting::Results& results) {
          change_rows(results, "operator_shap", [](reporting::AttributionRow& row) {
            row.efficiency_gap = Measured::of(row.sample == 3 ? 1e-9 : 0);
          });
        }}},
      {"exact_reference_at_16_players",
       {as_it_is,
        [](reporting::Results& results) {
          for (reporting::AttributionRow& row : results.attributions) {
            if (row.sample == 2) row.reference = "permutation_antithetic";
          }
        }}},
      {"efficiency_at_rounding_level",
       {as_it_is,
        [](reporting::Results& results) {
          change_rows(results, "kernel_shap", [](reporting::AttributionRow& row) {
            row.efficiency_gap = Measured::of(row.sample == 1 ? 1e-6 : 0);
          });
        }}},
      {"explainer_beats_uniform",
       {as_it_is,
        [](reporting::Results& results) {
          set_nrmse(results, "uniform", [](int players) { return players == 64 ? 0.05 : 1.0; });
        }}},
      {"integrated_gradients_error_stays",
       {as_it_is,
        [](reporting::Results& results) {
          set_nrmse(results, "integrated_gradients", [](int players) { return 400.0 / players; });
        }}},
      {"reference_better_known_than_explainer",
       {as_it_is,
        [](reporting::Results& results) {
          for (reporting::AttributionRow& row : results.attributions) {
            if (row.players == 512) row.reference_error = 0.4;
          }
        }}},
      {"permutation_error_rate",
       {as_it_is,
        [](reporting::Results& results) {
          change_rows(results, "permutation", [](reporting::AttributionRow& row) {
            row.nrmse = Measured::of(0.5 + 1e-3 * std::sqrt(static_cast<double>(*row.budget)));
          });
        }}},
      {"pairing_matters",
       {as_it_is,
        [](reporting::Results& results) {
          set_nrmse(results, "kernel_shap_paired", [](int players) { return players == 16 ? 3.0 : 0.01; });
        }}},
      {"reference_settles_with_resolution",
       {as_it_is,
        [](reporting::Results& results) {
          for (reporting::ValuesRow& row : results.values) {
            if (row.method == "reference" && row.players == 1024) row.values[7] += 3;
          }
        }}},
  };
  return all;
}

std::vector<reporting::JudgedClaim> judged(const reporting::Results& results) {
  reporting::Run run;
  run.pde = "burgers1d";
  run.results = results;
  return reporting::judge(reporting::Scoreboard(run));
}

reporting::Judgement judge_one(const std::string& id, const reporting::Results& results) {
  for (const reporting::JudgedClaim& claim : judged(results)) {
    if (claim.claim.id == id) return claim.judgement;
  }
  return {};
}

TEST(Claims, EachHasAnExample) {
  std::set<std::string> ids;
  for (const reporting::Claim& claim : reporting::claims::all()) {
    EXPECT_TRUE(ids.insert(std::string(claim.id)).second) << claim.id;
    EXPECT_TRUE(examples().contains(std::string(claim.id))) << claim.id;
    EXPECT_FALSE(claim.statement.empty() || claim.where.empty() || claim.rule.empty()) << claim.id;
    EXPECT_TRUE(claim.source == "paper" || claim.source == "opshap") << claim.id;
  }
  EXPECT_EQ(examples().size(), ids.size());
}

TEST(Claims, AreReproducedByRowsThatSupportThem) {
  const reporting::Results base = SyntheticRun::full().results();
  for (const auto& [id, example] : examples()) {
    reporting::Results results = base;
    example.supports(results);
    const reporting::Judgement judgement = judge_one(id, results);
    EXPECT_EQ("reproduced", to_string(judgement.verdict)) << id << ": " << judgement.evidence;
    EXPECT_FALSE(judgement.evidence.empty()) << id;
  }
}

TEST(Claims, AreNotReproducedByRowsThatContradictThem) {
  const reporting::Results base = SyntheticRun::full().results();
  for (const auto& [id, example] : examples()) {
    reporting::Results results = base;
    example.contradicts(results);
    const reporting::Judgement judgement = judge_one(id, results);
    EXPECT_EQ("not reproduced", to_string(judgement.verdict)) << id << ": " << judgement.evidence;
  }
}

TEST(Claims, AreNotTestableByRowsThatCannotTell) {
  reporting::Results results;  // one failed attribution at one n: nothing is known of anybody's quality
  reporting::AttributionRow row;
  row.pde = "burgers1d";
  row.players = 24;
  row.method = "stratified";
  row.access = "values";
  row.budget = 100;
  row.pearson = row.nrmse = row.r2 = row.efficiency_gap = Measured::undefined("budget too small");
  row.reference = "permutation_antithetic";
  row.reference_error = 0.01;
  results.attributions.push_back(row);
  for (const auto& [id, example] : examples()) {
    const reporting::Judgement judgement = judge_one(id, results);
    EXPECT_EQ("not testable in this profile", to_string(judgement.verdict)) << id << ": " << judgement.evidence;
    EXPECT_FALSE(judgement.evidence.empty()) << id;
  }
}

TEST(Claims, OfManyPlayersAreLeftOpenByASmallRun) {
  const reporting::Results results = SyntheticRun().results();
  for (const char* id : {"classical_methods_need_more_at_many_players", "training_is_amortised",
                         "one_model_for_all_resolutions", "shapley_values_approach_density"}) {
    EXPECT_EQ(reporting::Verdict::not_testable, judge_one(id, results).verdict) << id;
  }
  for (const char* id : {"quality_against_regression_msr", "regression_msr_better_than_kernel_shap"}) {
    EXPECT_EQ("regression_msr_shapiq_1_6 not run", judge_one(id, results).evidence) << id;
  }
}

TEST(Claims, OfThePapersBaselinesLeaveOutTheMeanField) {
  reporting::Results results = SyntheticRun::full().results();
  examples().at("orders_of_magnitude_faster").supports(results);
  std::vector<reporting::AttributionRow> added;
  change_rows(results, "operator_shap", [&added](reporting::AttributionRow row) {
    row.method = "mean_field";
    added.push_back(row);
  });
  results.attributions.insert(results.attributions.end(), added.begin(), added.end());
  const reporting::Judgement judgement = judge_one("orders_of_magnitude_faster", results);
  EXPECT_EQ(reporting::Verdict::reproduced, judgement.verdict) << judgement.evidence;
}

TEST(Claims, AboutPairingSayOnHowManyInputsTheyRest) {
  reporting::Results results = SyntheticRun().results();
  EXPECT_EQ(std::string::npos, judge_one("pairing_matters", results).evidence.find("undefined"));
  change_rows(results, "kernel_shap_paired", [](reporting::AttributionRow& row) {
    if (row.players == 64 && row.sample < 3) row.nrmse = Measured::undefined("rank=62");
  });
  const std::string evidence = judge_one("pairing_matters", results).evidence;
  EXPECT_NE(std::string::npos, evidence.find("(3 of 8 undefined) paired")) << evidence;
}

TEST(Claims, ThatHoldInEveryCorrectRunAreBrokenByRowsThatContradictThem) {
  const reporting::Results base = SyntheticRun().results();
  EXPECT_EQ(std::vector<std::string>{}, reporting::broken_checks(judged(base)));
  int always = 0;
  for (const reporting::Claim& claim : reporting::claims::all()) {
    if (!claim.always) continue;
    ++always;
    reporting::Results results = base;
    examples().at(std::string(claim.id)).contradicts(results);
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
    EXPECT_TRUE(interval.is_null() || (interval.size() == 2 && interval[0] <= interval[1])) << claim;
  }
}

TEST(Amortisation, BreaksEvenWhereTheEvaluationsAreEqual) {
  const auto run = SyntheticRun().run();
  const reporting::Scoreboard scores(run);
  const auto pays = reporting::amortisation(scores);
  ASSERT_TRUE(pays);
  EXPECT_EQ(64, pays->players);
  EXPECT_EQ(215040, pays->training_evaluations);
  ASSERT_FALSE(pays->methods.empty());
  for (const reporting::TunedMethod& method : pays->methods) {
    ASSERT_TRUE(method.break_even) << method.method;
    const double explainer =
        static_cast<double>(pays->training_evaluations) + pays->explainer_evaluations * *method.break_even;
    EXPECT_NEAR(explainer, method.evaluations * *method.break_even, 1e-9 * explainer) << method.method;
    EXPECT_EQ(method.reached, method.nrmse <= pays->explainer_nrmse) << method.method;
  }
}

}  // namespace
}  // namespace opshap
