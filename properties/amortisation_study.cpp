// The report of a study of training targets shows the numbers of its rows.

#include "reporting/study_evidence.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.hpp"
#include "core/file.hpp"
#include "support/run_folder.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

/// Recipe `good` errs by a hundredth, `bad` by a tenth; each seed adds its number in percent of that. Halfway the error
/// is twice as large.
std::vector<runs::HeldOutRow> rows() {
  std::vector<runs::HeldOutRow> rows;
  for (const int players : {16, 64, 256}) {
    for (const std::string recipe : {"good", "bad"}) {
      const double error = recipe == "good" ? 0.01 : 0.1;
      for (const std::uint64_t seed : {0, 1, 2}) {
        for (const std::int64_t epoch : {2, 4, 0}) {
          const double here = error * (1 + 0.01 * static_cast<double>(seed)) * (epoch == 2 ? 2 : 1);
          rows.push_back({.pde = "burgers1d",
                          .method = "operator_shap",
                          .setting = recipe,
                          .seed = seed,
                          .epoch = epoch,
                          .training_evaluations = epoch == 2 ? 500 : 1000,
                          .training_seconds = epoch == 2 ? 30.0 : 60.0,
                          .shape = {players},
                          .players = players,
                          .nrmse = {here, here / 2, here * 2},
                          .seconds = {0.001, 0.002, 0.003},
                          .reference_errors = {0, 0, 0},
                          .drift = players == 256 ? std::optional<double>() : 0.25 / players});
        }
      }
    }
    rows.push_back({.pde = "burgers1d",
                    .method = "mean_field",
                    .setting = "2 nodes",
                    .shape = {players},
                    .players = players,
                    .nrmse = {0.03},
                    .seconds = {0.5},
                    .reference_errors = {0}});
  }
  return rows;
}

TEST(AmortisationStudy, HasErrorsCostsAndDriftOfEveryRecipe) {
  const auto evidence = reporting::amortisation_study(rows(), {}, "an operator");
  ASSERT_EQ(2u, evidence.size());
  const std::string text = evidence[0].markdown();
  EXPECT_EQ(1u, count(text, "| good | 1\u202f000 | 60.0 s | 0.010 [0.010, 0.010] |")) << text;
  EXPECT_EQ(1u, count(text, "| bad | 0.016 | 0.0039 |")) << text;
  EXPECT_NE(std::string::npos, evidence[0].finding.find("recipe good has the least errors"));
  const std::string csv = evidence[0].csv();
  EXPECT_EQ(3u, count(csv, "\"bad\",30,\"seconds of training\",0.202,")) << csv;
  EXPECT_EQ(3u, count(csv, "\"good\",60,\"seconds of training\",0.0101,")) << csv;
  EXPECT_EQ(2u, count(csv, ",\"n\",") / 3) << "a point a recipe and size";
  EXPECT_EQ(0u, count(csv, "evaluations of the operator")) << "labels cost the same at every epoch: stacks of points";
  EXPECT_EQ(4u, count(evidence[0].svg(), "aria-labelledby")) << "time at three sizes, and n";
}

TEST(AmortisationStudy, HasTheShareOfTheQuerysOwnCellBesideTheErrors) {
  std::vector<runs::HeldOutRow> all = rows();
  for (const int players : {16, 64, 256}) {
    all.push_back({.pde = "burgers1d",
                   .method = std::string(runs::own_player_missed),
                   .setting = "",
                   .shape = {players},
                   .players = players,
                   .nrmse = {0.9, 1.0 / players, 0.001},
                   .seconds = {},
                   .reference_errors = {0, 0, 0}});
  }
  const auto evidence = reporting::amortisation_study(all, {{"good", "same"}, {"bad", "same"}}, "an operator");
  ASSERT_EQ(3u, evidence.size());
  EXPECT_EQ(1u, count(evidence[0].markdown(), "| all right but the own cell | none | none | 0.062 | 0.016 | 0.0039 |"))
      << evidence[0].markdown();
  for (std::size_t page : {0, 1})
    EXPECT_EQ(1u, count(evidence[page].csv(), "\"all right but the own cell\",64,\"n\",0.01562,"))
        << evidence[page].csv();
  EXPECT_EQ(0u, count(evidence[2].markdown(), "own cell")) << "it is no method";
}

TEST(AmortisationStudy, SharesTheTrainingOfTheBestExplainer) {
  const auto evidence = reporting::amortisation_study(rows(), {}, "an operator");
  const std::string text = evidence[1].markdown();
  EXPECT_EQ(3u, count(text, "| explainer good | training shared by 10 | 6.0 s |")) << text;
  EXPECT_EQ(3u, count(text, "| explainer good | training not counted | 2 ms |")) << text;
  EXPECT_EQ(3u, count(text, "| Mean field | 2 nodes | 500 ms |")) << text;
}

// One size at which the other recipe is better does not decide, however large its errors are there.
TEST(AmortisationStudy, TakesForTheBestWhoseErrorsAreLeastOverAllSizes) {
  std::vector<runs::HeldOutRow> all = rows();
  for (runs::HeldOutRow& row : all)
    if (row.setting == "good" && row.players == 16) row.nrmse = {0.2};
  const auto evidence = reporting::amortisation_study(all, {}, "an operator");
  EXPECT_NE(std::string::npos, evidence[0].finding.find("recipe good has the least errors")) << evidence[0].finding;
}

// Two recipes of one target have a page of their own, and their better one stands for the target on the first page.
TEST(AmortisationStudy, ShowsRecipesByTheirTarget) {
  const auto evidence = reporting::amortisation_study(rows(), {{"good", "same"}, {"bad", "same"}}, "an operator");
  ASSERT_EQ(3u, evidence.size());
  EXPECT_EQ(0u, count(evidence[0].csv(), "\"bad\""));
  EXPECT_EQ(3u, count(evidence[0].csv(), "\"good\",60,\"seconds of training\""));
  EXPECT_EQ("amortisation_same", evidence[1].name);
  EXPECT_NE(std::string::npos, evidence[1].finding.find("bad: 0.101 at n = 16 and 0.101 at n = 256"))
      << evidence[1].finding;
  EXPECT_EQ(3u, count(evidence[1].csv(), "\"bad\",30,\"seconds of training\",0.202,"));
  EXPECT_EQ(1u, count(evidence[1].markdown(), "| bad | 10.0 [10.0, 10.0] |")) << evidence[1].markdown();
}

TEST(AmortisationStudy, NeedsAnExplainer) {
  std::vector<runs::HeldOutRow> none = rows();
  std::erase_if(none, [](const auto& row) { return row.method == "operator_shap"; });
  EXPECT_THROW(reporting::amortisation_study(none, {}, ""), InvalidArgument);
}

TEST_F(RunFolder, RowsOfHeldOutInputsComeBackAsTheyWere) {
  std::string lines;
  for (const runs::HeldOutRow& row : rows()) lines += runs::to_json_line(row) + '\n';
  write_file(folder_ / "rows.jsonl", lines + R"({"schema":"opshap.held_out/1","pde)");
  std::string again;
  for (const runs::HeldOutRow& row : runs::read_held_out_rows(folder_ / "rows.jsonl"))
    again += runs::to_json_line(row) + '\n';
  EXPECT_EQ(lines, again) << "the line that was cut short is left out";
  write_file(folder_ / "rows.jsonl", "{}\n");
  EXPECT_THROW(runs::read_held_out_rows(folder_ / "rows.jsonl"), DataError);
  EXPECT_TRUE(runs::read_held_out_rows(folder_ / "none.jsonl").empty());
}

}  // namespace
}  // namespace opshap
