// What is said of studies: the tables, numbers and figures that convergence studies leave behind, the theorems judged
// by the files of their studies, the report of a study of training targets. Pictures of an attribution: on every kind
// of domain each part is drawn once, and the numbers beside them are those of the attribution.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/scenario.hpp"
#include "reporting/claims.hpp"
#include "reporting/evidence.hpp"
#include "reporting/field_figures.hpp"
#include "reporting/report.hpp"
#include "reporting/study_evidence.hpp"
#include "support/expressions.hpp"
#include "support/run_folder.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

reporting::Evidence two_laws() {
  statistics::Study first("first, \"quoted\"", "n", "error"), second("second", "n", "error"),
      third("third", "budget", "mse");
  for (double n = 4; n <= 64; n *= 2) {
    first.add(n, 1 / n);
    second.add(n, 3 / (n * n));
    third.add(10 * n, 5 / n);
  }
  return {.name = "two_laws", .title = "Two laws", .finding = "One falls faster.", .studies = {first, second, third}};
}

class EvidenceFiles : public RunFolder {
 protected:
  void TearDown() override {
    RunFolder::TearDown();
    unsetenv("OPSHAP_REPORTS");
  }
};

TEST_F(EvidenceFiles, AreWrittenWhereTheEnvironmentSays) {
  setenv("OPSHAP_REPORTS", folder_.c_str(), 1);
  reporting::publish(two_laws());
  EXPECT_EQ(two_laws().markdown(), read_file(folder_ / "two_laws.md"));
  EXPECT_EQ(two_laws().csv(), read_file(folder_ / "two_laws.csv"));
  EXPECT_EQ(two_laws().svg(), read_file(folder_ / "two_laws.svg"));
  EXPECT_EQ(3, std::distance(std::filesystem::directory_iterator(folder_), {}));
}

TEST_F(EvidenceFiles, HaveNoFigureWhereNothingWasFitted) {
  const reporting::Evidence evidence{
      .name = "one_table",
      .title = "One table",
      .finding = "No curve.",
      .tables = {{.name = "norms", .caption = "Norms.", .columns = {{"layer"}, {"norm", true}}, .rows = {{"0", "1"}}}}};
  reporting::write(evidence, folder_);
  EXPECT_EQ(0u, count(read_file(folder_ / "one_table.md"), ".svg"));
  EXPECT_EQ("layer,norm\n0,1\n", read_file(folder_ / "one_table_norms.csv"));
  EXPECT_EQ(2, std::distance(std::filesystem::directory_iterator(folder_), {}));
}

TEST_F(EvidenceFiles, AreNotWrittenWhereTheEnvironmentSaysNothing) {
  for (const char* value : {"", static_cast<const char*>(nullptr)}) {
    value == nullptr ? unsetenv("OPSHAP_REPORTS") : setenv("OPSHAP_REPORTS", value, 1);
    reporting::publish(two_laws());
    EXPECT_FALSE(std::filesystem::exists("two_laws.md"));
  }
}

TEST_F(EvidenceFiles, InAPlaceThatCannotBeWrittenAreAnError) {
  write_file(folder_ / "file", "not a folder");
  EXPECT_THROW(reporting::write(two_laws(), folder_ / "file"), InvalidArgument);
}

TEST(Evidence, HasEveryPointInItsNumbers) {
  const std::string csv = two_laws().csv();
  EXPECT_EQ(1u + 15, count(csv, "\n"));
  EXPECT_EQ(1u, count(csv, "\"first, \"\"quoted\"\"\",8,\"n\",0.125,\"error\"\n")) << csv;
  EXPECT_EQ(1u, count(csv, "\"third\",640,\"budget\",0.07812,\"mse\"\n")) << csv;
}

TEST(Evidence, HasATableForEveryStudyAndAPanelForEveryPairOfAxes) {
  EXPECT_EQ(3u, count(two_laws().markdown(), "\n## "));
  const std::string svg = two_laws().svg();
  EXPECT_EQ(1u, count(svg, "error against n</title>"));
  EXPECT_EQ(1u, count(svg, "mse against budget</title>"));
  EXPECT_EQ(1u, count(svg, ">second</text>"));
}

TEST(Evidence, ShowsStudiesOfOneTitleAlikeInAllPanels) {
  reporting::Evidence evidence = two_laws();
  statistics::Study again("second", "budget", "mse");
  again.add(2, 3);
  evidence.studies.push_back(again);
  EXPECT_EQ(1u, count(evidence.svg(), ">second</text>"));
}

TEST(Evidence, DrawsBandsAndListsThem) {
  reporting::Evidence evidence = two_laws();
  const std::string plain = evidence.csv();
  evidence.studies.front().add(100, 0.2, 0.1, 0.4);
  EXPECT_EQ(1u, count(evidence.csv(), ",0.2,\"error\",0.1,0.4\n")) << evidence.csv();
  EXPECT_EQ(0u, count(plain, "low"));
  EXPECT_EQ(1u, count(evidence.csv(), "low,high\n"));
  EXPECT_EQ(0u, count(two_laws().svg(), "fill-opacity = '0.200000'"));
  EXPECT_EQ(2u, count(evidence.svg(), "fill-opacity = '0.200000'")) << "a polygon above the curve and one below";
  evidence.study_tables = false;
  EXPECT_EQ(0u, count(evidence.markdown(), "\n## "));
}

using reporting::Verdict;

class StudyClaims : public RunFolder {
 protected:
  /// A study with an error of effort^slope.
  static std::string study(const std::string& name, const std::string& error_name, double slope) {
    std::string text;
    for (const double effort : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0})
      text += fmt::format("\"{}\",{},\"effort\",{},\"{}\"\n", name, effort, std::pow(effort, slope), error_name);
    return text;
  }

  /// All files, with errors that fall as the theorems want them times `factor`.
  void write(double factor) const {
    const std::string heading = "study,effort,effort_name,error,error_name\n";
    write_file(folder_ / "aumann_shapley.csv", heading + study("a, game", "error of ψ_n(T)", -1 * factor) +
                                                   study("a, game", "error of 2ψ_n(T) − ψ_n/2(T)", -0.1) +
                                                   study("another", "error of ψ_n(T)", -1));
    write_file(folder_ / "frechet_remainder.csv", heading + study("FNO", "remainder / step", 1 * factor) +
                                                      study("ReLU at 0", "remainder / step", 1 - factor));
    write_file(folder_ / "frechet_continuity.csv", heading + study("FNO", "change", 1));
    write_file(folder_ / "operator_limits_slopes.csv",
               fmt::format("game,compared with,sizes,slope,standard error\n"
                           "smooth masks,\"integrated gradients, cells\",\"4, 8 to 64\",{},0.02\n"
                           "cell masks,integrated gradients,\"9, 8 to 1024\",{},0.02\n"
                           "cell masks,mean field,\"8, 8 to 1024\",{},0.03\n",
                           -0.9 * factor, factor - 1.1, -1 * factor));
    write_file(folder_ / "refinement_limits_limits.csv",
               fmt::format("game,refinement,share,limit\nairport,equal cells,{},0.8466\nsign,equal cells,13.69,14.18\n",
                           0.8466 * factor));
  }

  std::map<std::string, Verdict> verdicts() const {
    std::map<std::string, Verdict> found;
    for (const reporting::JudgedClaim& judged : reporting::judge_studies(folder_))
      found[std::string(judged.claim.id)] = judged.judgement.verdict;
    return found;
  }
};

TEST_F(StudyClaims, HoldWhereTheErrorsFallAndDoNotWhereTheyStay) {
  write(1);
  for (const auto& [id, verdict] : verdicts()) EXPECT_EQ(Verdict::reproduced, verdict) << id;
  EXPECT_EQ(7u, verdicts().size());
  write(0);
  for (const auto& [id, verdict] : verdicts()) EXPECT_EQ(Verdict::not_reproduced, verdict) << id;
}

TEST_F(StudyClaims, WithoutTheirFilesAreNotTestable) {
  EXPECT_FALSE(reporting::has_studies(folder_));
  write(1);
  EXPECT_TRUE(reporting::has_studies(folder_));
  std::filesystem::remove(folder_ / "frechet_continuity.csv");
  EXPECT_EQ(Verdict::not_testable, verdicts().at("smooth_operators_are_differentiable"));
  EXPECT_EQ(Verdict::reproduced, verdicts().at("relu_is_not_differentiable"));
}

TEST_F(StudyClaims, AreWrittenByTheReportOfTheirFolder) {
  write(1);
  EXPECT_EQ(folder_ / "claims.json", reporting::write_report(folder_).page);
  const auto json = nlohmann::json::parse(read_file(folder_ / "claims.json"));
  EXPECT_EQ("studies", json["profile"]);
  EXPECT_EQ(7u, json["claims"].size());
  for (const auto& claim : json["claims"]) {
    EXPECT_TRUE(claim["pde"].is_null());
    EXPECT_FALSE(claim["statement"].get<std::string>().empty()) << claim["id"];
    if (claim["source"] == "paper") {
      EXPECT_TRUE(has(claim["where"].get<std::string>(), "LaTeX line")) << claim["id"];
    }
  }
}

TEST_F(StudyClaims, AreRefusedForWhatIsNoStudy) {
  write(1);
  const auto refused = [this](const std::string& text, const std::string& why) {
    write_file(folder_ / "aumann_shapley.csv", text);
    EXPECT_TRUE(has(refusal<DataError>([&] { verdicts(); }), why));
  };
  const std::string heading = "study,effort,effort_name,error,error_name\n";
  refused("study,effort\n", "column=error (is not there)");
  refused(heading + "a,1,n\n", "cells=3 (the heading has 5)");
  refused(heading + "a,1,n,much,error of ψ_n(T)\n",
          "aumann_shapley.csv:2, column=error, value=much (is not a finite number)");
  refused(heading + "a,1,n,nan,error of ψ_n(T)\n", "value=nan (is not a finite number)");
}

/// Recipe `good` errs by a hundredth, `bad` by a tenth; each seed adds its number in percent of that. Halfway the error
/// is twice as large.
std::vector<runs::HeldOutRow> rows() {
  std::vector<runs::HeldOutRow> rows;
  for (const int players : {16, 64, 256}) {
    for (const std::string recipe : {"good", "bad"}) {
      const double error = recipe == "good" ? 0.01 : 0.1;
      for (const std::uint64_t seed : {0, 1, 2})
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
  EXPECT_TRUE(has(evidence[0].finding, "recipe good has the least errors"));
  const std::string csv = evidence[0].csv();
  EXPECT_EQ(3u, count(csv, "\"bad\",30,\"seconds of training\",0.202,")) << csv;
  EXPECT_EQ(3u, count(csv, "\"good\",60,\"seconds of training\",0.0101,")) << csv;
  EXPECT_EQ(2u, count(csv, ",\"n\",") / 3) << "a point a recipe and size";
  EXPECT_EQ(0u, count(csv, "evaluations of the operator")) << "labels cost the same at every epoch: stacks of points";
  EXPECT_EQ(4u, count(evidence[0].svg(), "aria-labelledby")) << "time at three sizes, and n";
}

TEST(AmortisationStudy, HasTheShareOfTheQuerysOwnCellBesideTheErrors) {
  std::vector<runs::HeldOutRow> all = rows();
  for (const int players : {16, 64, 256})
    all.push_back({.pde = "burgers1d",
                   .method = std::string(runs::own_player_missed),
                   .setting = "",
                   .shape = {players},
                   .players = players,
                   .nrmse = {0.9, 1.0 / players, 0.001},
                   .reference_errors = {0, 0, 0}});
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
  const std::string text = reporting::amortisation_study(rows(), {}, "an operator")[1].markdown();
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
  EXPECT_TRUE(has(evidence[0].finding, "recipe good has the least errors"));
}

// Two recipes of one target have a page of their own, and their better one stands for the target on the first page.
TEST(AmortisationStudy, ShowsRecipesByTheirTarget) {
  const auto evidence = reporting::amortisation_study(rows(), {{"good", "same"}, {"bad", "same"}}, "an operator");
  ASSERT_EQ(3u, evidence.size());
  EXPECT_EQ(0u, count(evidence[0].csv(), "\"bad\""));
  EXPECT_EQ(3u, count(evidence[0].csv(), "\"good\",60,\"seconds of training\""));
  EXPECT_EQ("amortisation_same", evidence[1].name);
  EXPECT_TRUE(has(evidence[1].finding, "bad: 0.101 at n = 16 and 0.101 at n = 256"));
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

/// Three rows of four points, cut into triangles.
Mesh triangulation() {
  std::vector<double> points;
  std::vector<std::int64_t> cells;
  for (std::int64_t j = 0; j < 3; ++j)
    for (std::int64_t i = 0; i < 4; ++i) {
      points.insert(points.end(), {static_cast<double>(i), 0.5 * static_cast<double>(j)});
      if (i == 3 || j == 2) continue;
      const std::int64_t corner = 4 * j + i;
      cells.insert(cells.end(), {corner, corner + 1, corner + 5, corner, corner + 5, corner + 4});
    }
  return Mesh::of_cells(2, std::move(points), std::move(cells));
}

/// A scenario with values that differ at all points; the players are `labels`.
Scenario scenario(const Domain& domain, const std::vector<std::int64_t>& labels, int channels) {
  FieldBatch field = FieldBatch::zeros(domain, 1, channels);
  for (std::size_t i = 0; i < field.values.size(); ++i) field.values[i] = std::sin(1.0 + static_cast<double>(i));
  return make_scenario({.players = ScenarioRule::Players::labels, .labels = labels}, field);
}

/// On a grid of four blocks, one for each player.
Scenario four_blocks(const Domain& grid) {
  const std::vector<std::int64_t> one_player(static_cast<std::size_t>(grid.points()), 0);
  return make_scenario({.players = ScenarioRule::Players::blocks, .blocks = 4}, scenario(grid, one_player, 1).input);
}

/// The picture of values, and of their standard errors where there are some.
std::string picture(const Scenario& asked, const std::vector<double>& values,
                    const std::optional<std::vector<double>>& errors = std::nullopt,
                    reporting::Picture format = reporting::Picture::svg) {
  return reporting::attribution_figure(asked, asked.input, "exact", values, errors, format);
}

/// How often the pattern occurs in the text.
std::size_t matches(const std::string& text, const std::string& pattern) { return found_by(pattern, text, 0).size(); }

using Corner = std::array<double, 2>;

/// What is drawn in one colour: closed lines round it.
using Shape = std::vector<std::vector<Corner>>;

/// The shapes of triangles in a panel's SVG: each line is a corner and the ways from each to the next. The boxes of the
/// colour bar are no part of them.
std::vector<Shape> shapes(const std::string& panel) {
  std::vector<Shape> shapes;
  for (const std::string& path : found_by("<path fill='#[0-9a-f]{6}' d='([Mlz0-9. -]*)'", panel)) {
    shapes.emplace_back();
    for (const std::string& line : found_by("M([l0-9. -]*)z", path)) {
      std::vector<Corner> corners = {{0, 0}};
      const std::vector<std::string> numbers = found_by("-?[0-9]*[.]?[0-9]+", line, 0);
      for (std::size_t k = 0; k + 1 < numbers.size(); k += 2)
        corners.push_back({corners.back()[0] + std::stod(numbers[k]), corners.back()[1] + std::stod(numbers[k + 1])});
      corners.erase(corners.begin());
      shapes.back().push_back(std::move(corners));
    }
  }
  return shapes;
}

double area(const Shape& shape) {
  double twice = 0;
  for (const std::vector<Corner>& line : shape)
    for (std::size_t k = 0; k < line.size(); ++k) {
      const auto& [x, y] = line[k];
      const auto& [next_x, next_y] = line[(k + 1) % line.size()];
      twice += x * next_y - y * next_x;
    }
  return twice / 2;
}

// Shapes of different colours share their corners, so rounding to tenths of a pixel leaves neither gap nor overlap.
TEST(AttributionFigures, TrianglesOfOneColourAreOneShapeAndAllOfThemCoverTheMesh) {
  const Scenario asked = scenario(Domain::mesh(triangulation()), {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}, 2);
  const std::string svg = picture(asked, {1, -2});
  const std::vector<std::string> panels = found_by("<svg x=[^]*?</svg>", svg, 0);
  ASSERT_EQ(4u, panels.size());
  for (const std::string& panel : panels) {
    SCOPED_TRACE(found_by("<title[^>]*>([^<]*)<", panel).at(0));
    double covered = 0;
    Corner low = {1e9, 1e9}, high = {0, 0};
    for (const Shape& shape : shapes(panel)) {
      EXPECT_LT(0, area(shape));
      covered += area(shape);
      for (const std::vector<Corner>& line : shape)
        for (const Corner& corner : line)
          for (std::size_t axis = 0; axis < 2; ++axis) {
            low[axis] = std::min(low[axis], corner[axis]);
            high[axis] = std::max(high[axis], corner[axis]);
          }
    }
    EXPECT_GT(high[0] - low[0], 100) << "pixels";
    EXPECT_EQ("", mismatch((high[0] - low[0]) * (high[1] - low[1]), covered, rounding(100, 1e5)));
  }

  // Columns of players are a rectangle each; between them are triangles with two corners of one and one of the other.
  const std::vector<Shape> density = shapes(panels[3]);
  std::vector<double> shares;
  for (const Shape& shape : density) shares.push_back(area(shape));
  std::ranges::sort(shares);
  ASSERT_EQ(4u, shares.size());
  // Half of a tenth of a pixel at each of up to eight corners, along lines of some 100 pixels.
  EXPECT_NEAR(shares[0], shares[1], 40);
  EXPECT_NEAR(shares[2], shares[3], 40);
  EXPECT_NEAR(2 * shares[0], shares[2], 80);
  for (const Shape& shape : density) {
    std::size_t corners = 0;
    for (const std::vector<Corner>& line : shape) corners += line.size();
    EXPECT_EQ(6u, corners) << "four triangles without what is between them, or two that meet in a point";
  }
}

TEST(AttributionFigures, ACloudIsDrawnAsDots) {
  const Domain domain = Domain::mesh(Mesh::of_points(2, {0, 0, 1, 0, 2, 1, 0, 1, 0.5, 0.7}, {1, 1, 1, 1, 1}));
  const Scenario asked = scenario(domain, {0, 1, 2, 3, 4}, 1);
  const std::string svg = picture(asked, {1, 2, 3, 4, -5});
  // Three panels of five dots each, and in each panel the ring of the query and no triangle.
  EXPECT_EQ(3u * 5u, matches(svg, "<use href='#[a-z0-9-]*gpPt6'"));
  EXPECT_TRUE(shapes(svg).empty());
}

TEST(AttributionFigures, ALineOfAnyOrderIsDrawnFromLeftToRight) {
  const Scenario asked = scenario(Domain::mesh(Mesh::of_cells(1, {3, 0, 1, 2}, {1, 2, 2, 3, 3, 0})), {0, 1, 2, 3}, 1);
  EXPECT_EQ(3u, matches(picture(asked, {1, 2, 3, 4}), "role=\"img\" aria-labelledby"));
}

TEST(AttributionFigures, TheNumbersAreThoseOfTheAttribution) {
  const Domain domain = Domain::mesh(triangulation());
  const std::vector<std::int64_t> labels = {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1};
  const Scenario asked = scenario(domain, labels, 2);
  const std::vector<double> values = {1.5, -2};
  std::istringstream lines(reporting::attribution_numbers(asked, asked.input, values, std::nullopt).csv());
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ("x,y,volume,player,input 0,input 1,output,density", line);
  std::vector<double> integrals(2, 0.0);
  for (std::size_t point = 0; point < labels.size(); ++point) {
    std::getline(lines, line);
    std::istringstream cells(line);
    std::vector<double> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(std::stod(cell));
    ASSERT_EQ(8u, row.size()) << line;
    const std::vector<double> at = domain.position(static_cast<std::int64_t>(point));
    // The numbers have seven digits.
    const Tolerance digits = rounding(1e-7 * 0x1p52, 4);
    EXPECT_EQ(
        "", mismatch({at[0], at[1], domain.volume(static_cast<std::int64_t>(point)), static_cast<double>(labels[point]),
                      asked.input.values[point], asked.input.values[point + 12], asked.input.values[point]},
                     {row.begin(), row.end() - 1}, digits));
    integrals[static_cast<std::size_t>(labels[point])] += row[2] * row[7];
  }
  EXPECT_FALSE(std::getline(lines, line)) << line;
  EXPECT_EQ("", mismatch(values, integrals, rounding(1e-7 * 0x1p52 * 12, 4)))
      << "a player's value is the integral of its density";
}

TEST(AttributionFigures, APictureIsWhatItsFormatSays) {
  const Scenario asked = four_blocks(Domain::unit({16}));
  const std::vector<double> values = {1, 2, 3, -4}, errors = {0.1, 0.2, 0.1, 0.3};
  EXPECT_TRUE(picture(asked, values, errors, reporting::Picture::pdf).starts_with("%PDF"));
  EXPECT_TRUE(picture(asked, values, errors, reporting::Picture::png).starts_with("\x89PNG"));
  EXPECT_EQ(reporting::Picture::png, reporting::picture_format(".png"));
  EXPECT_FALSE(reporting::picture_format(".gif"));
}

TEST(AttributionFigures, PlayersWithStandardErrorsHaveBars) {
  const Scenario asked = four_blocks(Domain::unit({16}));
  const std::string dot = "<use href='#[a-z0-9-]*gpPt6'";
  EXPECT_EQ(0u, matches(picture(asked, {1, 2, 3, -4}), dot));
  EXPECT_EQ(2 * 4u, matches(picture(asked, {1, 2, 3, -4}, std::vector{0.1, 0.2, 0.1, 0.3}), dot))
      << "a bar a player, whose dot gnuplot draws twice";
}

TEST(AttributionFigures, GridsAreDrawnAsBefore) {
  const std::string svg = picture(four_blocks(Domain::unit({4, 4})), {1, 2, 3, 4});
  EXPECT_EQ(3u, matches(svg, "role=\"img\" aria-labelledby"));
  EXPECT_TRUE(shapes(svg).empty());
}

}  // namespace
}  // namespace opshap
