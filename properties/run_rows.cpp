// Rows survive their files, also those of before; what cannot be a row is named.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "core/error.hpp"
#include "core/file.hpp"
#include "runs/results.hpp"
#include "runs/run.hpp"
#include "support/run_folder.hpp"
#include "support/synthetic_run.hpp"

namespace opshap {
namespace {

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
  row.scores["pearson"] = Measured::of(1.0 / 3);
  row.scores["nrmse"] = Measured::of(0.25);
  row.scores["r2"] = Measured::undefined("v is the same on all coalitions");
  row.scores["efficiency_gap"] = Measured::of(1e-17);
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

TEST_F(RunFolder, RowsComeBackAsTheyWere) {
  runs::Results results = SyntheticRun().results();
  runs::AttributionRow extra = some_row();
  extra.sample = 99;
  extra.shape = {8, 4};
  extra.explainer = "wide";
  extra.own_share = 0.125;
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
  EXPECT_EQ(some_row().scores["r2"], back.attributions.back().scores["r2"]);
  EXPECT_EQ(1.0 / 3, back.attributions.back().scores["pearson"].value);
  EXPECT_EQ((std::vector<int>{8, 4}), back.attributions.back().shape);
  EXPECT_EQ("wide", back.attributions.back().explainer);
  EXPECT_EQ(0.125, back.attributions.back().own_share);
  EXPECT_EQ(two_channels_on_a_plane().input_channels, back.fields.back().input_channels);
  EXPECT_EQ(two_channels_on_a_plane().query, back.fields.back().query);
  EXPECT_EQ(2, back.fields.back().players());
}

// A run folder of the time when there were one channel, one axis and one explainer.
TEST_F(RunFolder, RowsOfBeforeHaveTheShapeOfTheirPlayers) {
  write_file(folder_ / "results.jsonl", std::regex_replace(without_checksum(runs::to_json_line(some_row())),
                                                           std::regex("\"shape\":\\[32\\],"), "") +
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
  const std::string row = without_checksum(runs::to_json_line(some_row())),
                    fields = without_checksum(runs::to_json_line(two_channels_on_a_plane()));
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
  again.scores["nrmse"] = Measured::of(0.5);
  write_file(folder_ / "results.jsonl",
             runs::to_json_line(first) + "\n" + runs::to_json_line(other) + "\n" + runs::to_json_line(again) + "\n");
  const runs::Results back = runs::read_results(folder_);
  ASSERT_EQ(2u, back.attributions.size());
  EXPECT_EQ(0.5, back.attributions[0].scores["nrmse"].value);
  EXPECT_FALSE(back.attributions[1].budget);
}

TEST_F(RunFolder, LinesThatCannotBeReadAreNamed) {
  const std::string good = without_checksum(runs::to_json_line(some_row()));
  const std::map<std::string, std::string> broken = {
      {"{\"schema\":\"opshap.attr", "row: json ("},
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
  row.scores["nrmse"] = Measured::of(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(runs::to_json_line(row), NumericalError);
  EXPECT_THROW(runs::to_json_line(runs::ValuesRow{.pde = "p",
                                                  .players = 1,
                                                  .method = "m",
                                                  .budget = std::nullopt,
                                                  .values = {std::numeric_limits<double>::infinity()},
                                                  .standard_errors = {}}),
               NumericalError);
}

TEST_F(RunFolder, ARowOfWhichOneBitHasChangedIsNamed) {
  const std::string good = runs::to_json_line(some_row());
  EXPECT_TRUE(std::regex_search(good, std::regex(",\"crc32c\":\"[0-9a-f]{8}\"\\}$"))) << good;
  int unseen = 0;
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string line = good;
    line[bit / 8] = static_cast<char>(line[bit / 8] ^ (1 << bit % 8));
    write_file(folder_ / "results.jsonl", good + "\n" + line + "\n");
    try {
      runs::read_results(folder_);
      ++unseen;
    } catch (const DataError& error) {
      EXPECT_NE(std::string::npos, std::string(error.what()).find("results.jsonl:")) << error.what();
    }
  }
  // Of the name of the checksum itself: then it is a row of before, which has none. The sum in the manifest sees it.
  EXPECT_LE(unseen, 8 * static_cast<int>(std::string(",'crc32c':'01234567'}").size()));
}

TEST_F(RunFolder, SittingsOfPartsStandAmongThoseOfTheRunInTheOrderOfTime) {
  nlohmann::ordered_json manifest = SyntheticRun().manifest();
  manifest["resumed"] = {{{"time", "2026-01-05T00:00:00Z"}, {"commit", "b"}}};
  manifest["load"] = {{"wall_seconds", 10}, {"cpu_seconds", 15}, {"other_cpu_seconds", 4}, {"processors", 2}};
  manifest["parts"] = {{{"index", 0},
                        {"of", 2},
                        {"started", "2026-01-04T00:00:00Z"},
                        {"commit", "a"},
                        {"environment", {{"gpu", "one"}}},
                        {"resumed", {{{"time", "2026-01-06T00:00:00Z"}, {"commit", "a"}}}}}};
  write_run(folder_, SyntheticRun().results(), manifest);
  const std::vector<runs::Sitting> sittings = runs::read_run(folder_).sittings;
  ASSERT_EQ(4u, sittings.size());
  EXPECT_TRUE(std::ranges::is_sorted(sittings, {}, &runs::Sitting::time));
  EXPECT_EQ(0.2, sittings[0].others_share());
  EXPECT_EQ("one", sittings[1].value("gpu"));
  EXPECT_FALSE(sittings[1].others_share());
  EXPECT_EQ("2", sittings[2].value("threads")) << "without an environment of its own it is that of the first";
  EXPECT_EQ("one", sittings[3].value("gpu"));
}

TEST_F(RunFolder, ARunWhoseManifestAndRowsDisagreeIsNamed) {
  const runs::Results results = SyntheticRun().results();
  const nlohmann::ordered_json manifest = SyntheticRun().manifest();
  write_run(folder_, results, manifest);
  EXPECT_NO_THROW(runs::read_run(folder_));
  const auto refusal = [&](const std::string& text) {
    write_file(folder_ / "manifest.json", text);
    try {
      runs::read_run(folder_);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("was read");
  };
  const auto changed = [&](const char* key, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json json = manifest;
    json[key] = value;
    return refusal(json.dump());
  };
  EXPECT_NE(std::string::npos, changed("pde", "heat2d").find("pde=heat2d")) << changed("pde", "heat2d");
  for (const char* key :
       {"schema", "profile", "pde", "seed", "command", "commit", "seconds", "settings", "resumed", "departures", "data",
        "comparable_with_paper", "started", "dirty", "environment", "rows", "load", "parts", "left_out"}) {
    for (const nlohmann::ordered_json& value :
         {nlohmann::ordered_json(0.5), nlohmann::ordered_json::array({nlohmann::ordered_json::array()}),
          nlohmann::ordered_json{{"x", {{"y", "z"}}}}})
      EXPECT_NE("", changed(key, value)) << key;
  }
  std::string deep = "{\"schema\":\"opshap.manifest/1\",\"settings\":";
  for (int depth = 0; depth < 200000; ++depth) deep += '[';
  EXPECT_NE(std::string::npos, refusal(deep).find("depth=")) << refusal(deep).substr(0, 300);
}

}  // namespace
}  // namespace opshap
