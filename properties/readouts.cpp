// What is explained: values at queries, means over regions, weighted sums of an output's numbers.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

std::vector<std::int64_t> points_of(const Readout& readout) {
  std::vector<std::int64_t> points;
  for (const Readout::Term& term : readout.terms()) points.push_back(term.query.point);
  return points;
}

std::vector<double> weights_of(const Readout& readout) {
  std::vector<double> weights;
  for (const Readout::Term& term : readout.terms()) weights.push_back(term.weight);
  return weights;
}

Readout mean(const std::string& text, const Domain& domain, int channel = 0) {
  return mean_over(*parse_region("test", text), domain, channel);
}

/// What is thrown, or nothing.
template <typename Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(Readouts, AQueryIsAReadoutAndComesOutAsItIs) {
  const Readout readout = Query{.point = 3, .channel = 1};
  const std::vector<double> output = {0, 1, 2, 3, 4, 5, 6, 0.1};
  EXPECT_TRUE(readout.is_query());
  EXPECT_EQ(0.1, readout.of(output, 4));
  EXPECT_EQ(3, readout.query().point);
  EXPECT_EQ("the value at point 3, channel 1", readout.describe());
  EXPECT_FALSE(Readout({{{.point = 3}, 2}}).is_query());
  EXPECT_THROW(Readout({{{.point = 3}, 2}}).query(), std::logic_error);
}

TEST(Readouts, AWeightedSumIsThatOfItsNumbers) {
  const std::vector<double> weights = {0, 1, 0, -2, 0, 0, 0.5, 0}, output = {9, 1, 9, 3, 9, 9, 8, 9};
  const Readout readout = Readout::of_weights(weights, 4);
  EXPECT_EQ((std::vector<std::int64_t>{1, 3, 2}), points_of(readout));
  EXPECT_EQ(1, readout.terms().back().query.channel);
  EXPECT_EQ(1 - 6 + 4, readout.of(output, 4));
  EXPECT_EQ("a weighted sum of 3 numbers of the output", readout.describe());
}

TEST(Readouts, WeightsThatExplainNothingAreRefused) {
  EXPECT_NE("", refusal([] { Readout::of_weights(std::vector<double>(8, 0.0), 4); }));
  EXPECT_NE("", refusal([] { Readout::of_weights(std::vector<double>(7, 1.0), 4); }));
  EXPECT_NE("", refusal([] { Readout::of_weights(std::vector<double>{}, 4); }));
  EXPECT_NE("", refusal([] { Readout(std::vector<Readout::Term>{}); }));
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_NE(std::string::npos, refusal([&] { Readout::of_weights(std::vector{1, bad}, 2); }).find("point 1"));
}

TEST(Regions, AreReadFromTheirTexts) {
  EXPECT_FALSE(parse_region("test", "weights.npy"));
  EXPECT_EQ((Region{.by_place = false, .ranges = {{20, 40}}}), *parse_region("test", "mean:20..40"));
  EXPECT_EQ((Region{.by_place = false, .ranges = {{0, 8}, {2, 3}}}), *parse_region("test", "mean:0..8,2..3"));
  EXPECT_EQ((Region{.by_place = true, .ranges = {{0.2, 0.4}, {-1, 1e3}}}),
            *parse_region("test", "mean:0.2..0.4,-1..1e3@x"));
  EXPECT_EQ(*parse_region("test", "mean:0..0.5,0..1@x"), *parse_region("test", "mean:0..0.5@x,0..1@x"));
  for (const char* text : {"mean:", "mean:5", "mean:5..", "mean:..5", "mean:5..5", "mean:6..5", "mean:0.5..2",
                           "mean:1..2,", "mean:a..b", "mean:1..nan@x", "mean:1..inf@x", "mean:1..2@y", "mean:@x"})
    EXPECT_NE(std::string::npos, refusal([&] { parse_region("test: --target", text); }).find("test: --target="))
        << text;
}

TEST(Regions, OfIndicesHaveThePointsFromTheFirstToBelowTheSecond) {
  const Readout line = mean("mean:5..9", Domain::unit({16}), 2);
  EXPECT_EQ((std::vector<std::int64_t>{5, 6, 7, 8}), points_of(line));
  EXPECT_EQ(std::vector<double>(4, 0.25), weights_of(line));
  EXPECT_EQ(2, line.terms().front().query.channel);
  EXPECT_EQ((std::vector<std::int64_t>{2 * 5 + 1, 2 * 5 + 2, 3 * 5 + 1, 3 * 5 + 2}),
            points_of(mean("mean:2..4,1..3", Domain::unit({4, 5}))));
}

// The ends of a grid with points on them have half a cell each.
TEST(Regions, WeighTheirPointsByVolume) {
  const Domain domain = Domain::grid({Axis::nodes(5)});
  const std::vector<double> found = weights_of(mean("mean:0..5", domain));
  const std::vector<double> wanted = {0.125, 0.25, 0.25, 0.25, 0.125};
  EXPECT_EQ("", mismatch(wanted, found, rounding(10, 1)));
}

TEST(Regions, OfCoordinatesHaveThePointsThere) {
  EXPECT_EQ((std::vector<std::int64_t>{2, 3}), points_of(mean("mean:0.25..0.5@x", Domain::unit({8}))));
  EXPECT_EQ((std::vector<std::int64_t>{1 * 4 + 3, 2 * 4 + 3}),
            points_of(mean("mean:0.25..0.6,0.7..2@x", Domain::unit({4, 4}))));
  const Domain mesh = Domain::mesh(Mesh::of_points(1, {0.1, 0.9, 0.4}, {1, 2, 3}));
  const Readout near = mean("mean:0..0.5@x", mesh);
  EXPECT_EQ((std::vector<std::int64_t>{0, 2}), points_of(near));
  EXPECT_EQ("", mismatch(std::vector{0.25, 0.75}, weights_of(near), rounding(10, 1)));
  EXPECT_EQ((std::vector<std::int64_t>{1, 2}), points_of(mean("mean:1..3", mesh)));
}

TEST(Regions, ThatDoNotFitAreRefused) {
  const Domain line = Domain::unit({16}), plane = Domain::unit({4, 4});
  EXPECT_NE(std::string::npos, refusal([&] { mean("mean:5..17", line); }).find("0..15"));
  EXPECT_NE(std::string::npos, refusal([&] { mean("mean:-1..3", line); }).find("0..15"));
  EXPECT_NE(std::string::npos, refusal([&] { mean("mean:1..3", plane); }).find("1 ranges"));
  EXPECT_NE(std::string::npos, refusal([&] { mean("mean:1..3,1..2", line); }).find("2 ranges"));
  EXPECT_NE(std::string::npos, refusal([&] { mean("mean:0.01..0.02@x", line); }).find("no point"));
}

TEST(Scenarios, ExplainARegionOrWeights) {
  const FieldBatch field = FieldBatch::zeros(Domain::unit({8}), 1, 1);
  ScenarioRule rule{.query = ScenarioRule::Where::region, .target = "mean:0.25..0.5@x", .channel = 1};
  rule.region = *parse_region("test", rule.target);
  EXPECT_EQ((std::vector<std::int64_t>{2, 3}), points_of(make_scenario(rule, field).readout));
  EXPECT_EQ((std::vector<std::int64_t>{1}), points_of(make_scenario(rule, field, {4}).readout));
  EXPECT_NE(std::string::npos, rule.describe().find("query: target mean:0.25..0.5@x, channel 1"));
  rule.query = ScenarioRule::Where::weights;
  rule.weights = std::vector<double>(16, 1.0);
  EXPECT_EQ(16u, make_scenario(rule, field).readout.terms().size());
  rule.weights.pop_back();
  EXPECT_THROW(make_scenario(rule, field), InvalidArgument);
}

}  // namespace
}  // namespace opshap
