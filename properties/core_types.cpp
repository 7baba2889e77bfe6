// The vocabulary: random streams, coalitions, partitions, the counted game, files. What is explained: values at
// queries, means over regions, weighted sums of an output's numbers. Fields on grids that the data were not made for:
// exact for what a grid can hold, and the same where points coincide.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/checksum.hpp"
#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "core/explainer.hpp"
#include "core/field.hpp"
#include "core/game.hpp"
#include "core/names.hpp"
#include "core/operator.hpp"
#include "core/rng.hpp"
#include "core/scenario.hpp"
#include "core/threads.hpp"
#include "support/for_all.hpp"
#include "support/function_game.hpp"
#include "support/operator_inputs.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

/// v(S) = |S|², counting how many coalitions it was asked for.
FunctionGame squared_size(int players, int& asked) {
  return {players, [&asked](const Coalitions& coalitions, std::size_t row) {
            ++asked;
            return std::pow(coalitions.cardinality(row), 2);
          }};
}

TEST(Rng, MatchesThePublishedPhiloxVectors) {
  // Random123's known answers for philox4x32-10 with zero key and counter: 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
  // The key is (seed, crc32c(domain) + seed/2^32); the empty domain has checksum 0.
  Rng rng(0, "", 0, 0);
  for (const std::uint32_t known : {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}) EXPECT_EQ(known, rng.bits32());
}

TEST(Rng, StreamsOfDifferentNamesDiffer) {
  std::set<std::uint64_t> first;
  for (std::uint32_t stream = 0; stream < 64; ++stream) {
    const std::uint64_t seed = stream / 16, item = stream % 4;
    const std::uint32_t purpose = stream / 4 % 4;
    first.insert(Rng(seed, "a", purpose, item).bits64());
    first.insert(Rng(seed + (std::uint64_t{1} << 32), "a", purpose, item).bits64());
    first.insert(Rng(seed, "b", purpose, item).bits64());
  }
  EXPECT_EQ(3u * 64u, first.size());
}

TEST(Rng, AStreamStartsFromItsBeginningHoweverMuchItsParentHasDrawn) {
  Rng parent(7, "test");
  const std::uint64_t expected = parent.stream(3, 5).bits64();
  parent.normal();
  EXPECT_EQ(expected, parent.stream(3, 5).bits64());
}

TEST(Rng, MomentsOfUniformAndNormalNumbers) {
  Rng rng(1, "moments");
  constexpr int draws = 200000;
  double uniform_sum = 0, normal_sum = 0, normal_squares = 0;
  for (int i = 0; i < draws; ++i) {
    uniform_sum += rng.uniform();
    const double normal = rng.normal();
    normal_sum += normal;
    normal_squares += normal * normal;
  }
  const double five_sigma = 5 / std::sqrt(draws);
  EXPECT_NEAR(0.5, uniform_sum / draws, five_sigma * std::sqrt(1.0 / 12));
  EXPECT_NEAR(0, normal_sum / draws, five_sigma);
  EXPECT_NEAR(1, normal_squares / draws, five_sigma * std::sqrt(2.0));
}

// The instruction and the tables take eight bytes at a time from where the bytes begin, so all lengths and alignments
// are tried. Vectors of zeros and of ones: RFC 3720, B.4.
TEST(Checksum, Crc32cHasItsKnownAnswersWithTheInstructionAndWithout) {
  const auto by_tables = [](std::string_view text) { return crc32c_by_tables(std::as_bytes(std::span(text))); };
  for (const auto& [text, sum] : {std::pair(std::string("123456789"), 0xe3069283u),
                                  {std::string(), 0u},
                                  {std::string(32, '\0'), 0x8a9136aau},
                                  {std::string(32, '\xff'), 0x62a8ab43u}}) {
    EXPECT_EQ(sum, crc32c(text));
    EXPECT_EQ(sum, by_tables(text));
  }
  Rng rng(test_seed());
  std::string bytes(300, '\0');
  for (char& byte : bytes) byte = static_cast<char>(rng.below(256));
  for (std::size_t start = 0; start < 9; ++start) {
    for (std::size_t size = 0; start + size <= bytes.size(); ++size) {
      const std::string_view part = std::string_view(bytes).substr(start, size);
      ASSERT_EQ(crc32c(part), by_tables(part)) << start << ", " << size << "; " << replay();
    }
  }
}

TEST(Coalitions, KeepTheBitsBeyondTheLastPlayerZero) {
  for (const int players : {1, 2, 63, 64, 65, 128, 1000}) {
    Coalitions coalitions(players);
    coalitions.append_grand();
    coalitions.append_complement(coalitions.row(0));
    coalitions.append_complement(coalitions.row(1));
    EXPECT_EQ(players, coalitions.cardinality(0)) << players;
    EXPECT_EQ(0, coalitions.cardinality(1)) << players;
    EXPECT_TRUE(std::ranges::equal(coalitions.row(0), coalitions.row(2))) << players;
  }
}

TEST(Coalitions, RefuseImpossibleNumbersOfPlayers) {
  EXPECT_THROW(Coalitions(0), InvalidArgument);
  EXPECT_THROW(Coalitions(Coalitions::max_players + 1), InvalidArgument);
  EXPECT_NO_THROW(Coalitions(Coalitions::max_players));
}

TEST(CountedGame, EvaluatesEachCoalitionOnce) {
  int asked = 0;
  const FunctionGame game = squared_size(10, asked);
  CountedGame counted(game, {4});
  Coalitions coalitions(10, 1);
  coalitions.append_grand();
  coalitions.append_grand();
  for (int time = 0; time < 2; ++time) EXPECT_EQ((std::vector<double>{0, 100, 100}), counted.values(coalitions));
  EXPECT_EQ(2, asked);
  EXPECT_EQ(2, counted.distinct());
  EXPECT_EQ(6, counted.evaluations());
}

TEST(CountedGame, RefusesMoreDistinctCoalitionsThanTheBudget) {
  int asked = 0;
  const FunctionGame game = squared_size(4, asked);
  CountedGame counted(game, {5});
  EXPECT_THROW(counted.values(Coalitions::enumerate(4, 0, 6)), std::logic_error);
  EXPECT_NO_THROW(counted.values(Coalitions::enumerate(4, 0, 5)));
}

TEST(CountedGame, NamesTheCoalitionWithoutAFiniteValue) {
  const FunctionGame game(3, [](const Coalitions& coalitions, std::size_t row) {
    const bool broken = coalitions.contains(row, 2) && coalitions.cardinality(row) == 2;
    return broken ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  });
  CountedGame counted(game, {8});
  EXPECT_TRUE(has(refusal<NumericalError>([&] { counted.values(Coalitions::enumerate(3, 0, 8)); }), "v({0, 2})=nan"));
}

TEST(Games, CoalitionsOfAnotherNumberOfPlayersAreRefused) {
  int asked = 0;
  const FunctionGame game = squared_size(200, asked);
  EXPECT_THROW(game.values(Coalitions(64, 1)), InvalidArgument);
  EXPECT_THROW(game.values(Coalitions(201, 1)), InvalidArgument);
  EXPECT_EQ(0, asked) << "the game itself was asked";
  Coalitions same(200);
  same.append_grand();
  EXPECT_EQ(std::vector<double>{40000}, game.values(same));
  EXPECT_EQ("game: coalitions of players=64 (the game has 200 players). Make the batch with Coalitions(200).",
            refusal<InvalidArgument>([&] { CountedGame(game, {2}).values(Coalitions(64, 1)); }));
}

TEST(Partition, BlocksFollowTheirDefinition) {
  EXPECT_EQ((std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}), Partition::blocks(Domain::unit({8}), 4).player_of);
  const Partition square = Partition::blocks(Domain::unit({4, 4}), 4);
  EXPECT_EQ((std::vector<int>{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}), square.player_of);
  EXPECT_DOUBLE_EQ(1.0, std::accumulate(square.volumes.begin(), square.volumes.end(), 0.0));
  EXPECT_EQ((std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2}), Partition::blocks(Domain::unit({8}), 3).player_of)
      << "floor(3x/8)";
  EXPECT_EQ(16, Partition::blocks(Domain::unit({127}), 16).players);
  EXPECT_THROW(Partition::blocks(Domain::unit({8}), 9), InvalidArgument);
  EXPECT_THROW(Partition::blocks(Domain::unit({8, 8}), 8), InvalidArgument);
}

TEST(Partition, RefusesLabelsWithGaps) {
  EXPECT_THROW(Partition::from_labels(Domain::unit({3}), {0, 2, 2}), InvalidArgument);
  EXPECT_THROW(Partition::from_labels(Domain::unit({3}), {0, -1, 1}), InvalidArgument);
  EXPECT_THROW(Partition::from_labels(Domain::unit({3}), {0, 1}), InvalidArgument);
}

TEST(CellValues, AddUpToTheTotalAndShareTheGapByVolume) {
  const Domain domain = Domain::unit({4});
  const Partition partition = Partition::from_labels(domain, {0, 1, 1, 1});
  const std::vector<double> density = {4, 0, 0, 0};  // integrates to 1, all of it in player 0
  const std::vector<double> values = cell_values(density, domain, partition, 0.5, 3.5);
  EXPECT_DOUBLE_EQ(1 + 2 * 0.25, values[0]);
  EXPECT_DOUBLE_EQ(0 + 2 * 0.75, values[1]);
}

TEST(Strided, TakesEveryNthPointFromTheFirst) {
  FieldBatch fields = FieldBatch::zeros(Domain::unit({4, 4}), 1, 1);
  std::iota(fields.values.begin(), fields.values.end(), 0.0);
  EXPECT_EQ((std::vector<double>{0, 2, 8, 10}), strided(fields, {2, 2}).values);
  EXPECT_THROW(strided(fields, {3, 2}), InvalidArgument);
}

TEST(ParallelFor, KeepsNestedWorkOnTheThreadsThatAreBusyAlready) {
  set_threads(2);
  std::atomic<int> now{0}, most{0}, done{0};
  parallel_for(4, [&](std::size_t) {
    parallel_for(4, [&](std::size_t) {
      const int running = ++now;
      for (int seen = most; seen < running && !most.compare_exchange_weak(seen, running);) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      --now;
      ++done;
    });
  });
  EXPECT_EQ(16, done);
  EXPECT_LE(most, 2);
}

TEST(ParallelFor, DoesEveryTaskOnceAndPassesOnTheFirstFailure) {
  for (const int count : {1, 2, 7}) {
    set_threads(count);
    std::vector<int> done(1000, 0);
    parallel_for(done.size(), [&](std::size_t i) { ++done[i]; });
    EXPECT_EQ(std::vector<int>(1000, 1), done);
    EXPECT_THROW(parallel_for(100, [](std::size_t i) { require(i != 50, "task: i=", i, " (planted). None."); }),
                 InvalidArgument);
  }
}

TEST(Ahead, ThrowsWhatItsWorkThrowsAndAsksItToStopWhereNobodyWaits) {
  int done = 0;
  Ahead good([&done](const std::stop_token&) { done = 7; });
  good.wait();
  EXPECT_EQ(7, done);
  Ahead bad([](const std::stop_token&) { require(false, "work: number=7 (planted). None."); });
  EXPECT_THROW(bad.wait(), InvalidArgument);
  bool asked = false;
  {
    const Ahead left([&asked](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
      asked = true;
    });
  }
  EXPECT_TRUE(asked);
}

TEST(Progress, TakesWhatAnEarlierSittingDidOutOfTheRate) {
  testing::internal::CaptureStderr();
  {
    Progress progress("work", 100, "items");
    progress.skip(90);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    progress.advance(1);
  }
  const std::string line = testing::internal::GetCapturedStderr();
  double rate = 0;
  ASSERT_EQ(1, std::sscanf(line.c_str(), "work 91/100 items, %lf/s", &rate)) << line;
  EXPECT_LE(rate, 1 / 0.020);  // one item in at least 20 ms; all 91 would be 4550 a second
}

TEST(Progress, SaysMoreWhenVerboseAndNothingWhenQuiet) {
  const auto lines = [](Verbosity verbosity) {
    set_verbosity(verbosity);
    testing::internal::CaptureStderr();
    {
      Progress progress("work", 1000, "items");
      for (int i = 0; i < 1000; ++i) progress.advance();
    }
    const std::string text = testing::internal::GetCapturedStderr();
    set_verbosity(Verbosity::normal);
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(0, lines(Verbosity::quiet));
  EXPECT_EQ(10, lines(Verbosity::normal));
  EXPECT_EQ(100, lines(Verbosity::verbose));
}

TEST(Names, FindTheNearestRegisteredOne) {
  EXPECT_EQ("kernel_shap", nearest_name("kernelshap", {"exact", "permutation", "kernel_shap"}));
  EXPECT_EQ("", nearest_name("x", {}));
}

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
  for (const auto& weights : {std::vector<double>(8, 0.0), std::vector<double>(7, 1.0), std::vector<double>{}})
    EXPECT_NE("", refusal([&] { Readout::of_weights(weights, 4); }));
  EXPECT_NE("", refusal([] { Readout(std::vector<Readout::Term>{}); }));
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_TRUE(has(refusal([&] { Readout::of_weights(std::vector{1, bad}, 2); }), "point 1"));
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
    EXPECT_TRUE(has(refusal([&] { parse_region("test: --target", text); }), "test: --target="));
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
  const std::vector<double> wanted = {0.125, 0.25, 0.25, 0.25, 0.125};
  EXPECT_EQ("", mismatch(wanted, weights_of(mean("mean:0..5", Domain::grid({Axis::nodes(5)}))), rounding(10, 1)));
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
  EXPECT_TRUE(has(refusal([&] { mean("mean:5..17", line); }), "0..15"));
  EXPECT_TRUE(has(refusal([&] { mean("mean:-1..3", line); }), "0..15"));
  EXPECT_TRUE(has(refusal([&] { mean("mean:1..3", plane); }), "1 ranges"));
  EXPECT_TRUE(has(refusal([&] { mean("mean:1..3,1..2", line); }), "2 ranges"));
  EXPECT_TRUE(has(refusal([&] { mean("mean:0.01..0.02@x", line); }), "no point"));
}

TEST(Scenarios, ExplainARegionOrWeights) {
  const FieldBatch field = FieldBatch::zeros(Domain::unit({8}), 1, 1);
  ScenarioRule rule{.query = ScenarioRule::Where::region, .target = "mean:0.25..0.5@x", .channel = 1};
  rule.region = *parse_region("test", rule.target);
  EXPECT_EQ((std::vector<std::int64_t>{2, 3}), points_of(make_scenario(rule, field).readout));
  EXPECT_EQ((std::vector<std::int64_t>{1}), points_of(make_scenario(rule, field, {4}).readout));
  EXPECT_TRUE(has(rule.describe(), "query: target mean:0.25..0.5@x, channel 1"));
  rule.query = ScenarioRule::Where::weights;
  rule.weights = std::vector<double>(16, 1.0);
  EXPECT_EQ(16u, make_scenario(rule, field).readout.terms().size());
  rule.weights.pop_back();
  EXPECT_THROW(make_scenario(rule, field), InvalidArgument);
}

/// Sums of waves of at most `highest` periods on each axis.
class Waves {
 public:
  Waves(int dimension, std::uint64_t highest, std::uint64_t seed) {
    Rng rng(seed, "waves");
    for (int wave = 0; wave < 6; ++wave) {
      Term term{.amplitude = rng.normal(), .phase = 6 * rng.uniform()};
      for (int axis = 0; axis < dimension; ++axis) term.periods.push_back(rng.below(highest + 1));
      terms_.push_back(std::move(term));
    }
  }

  FieldBatch on(const Domain& domain) const {
    FieldBatch field = FieldBatch::zeros(domain, 1, 1);
    for (std::int64_t point = 0; point < domain.points(); ++point) {
      const std::vector<double> position = domain.position(point);
      for (const Term& term : terms_) {
        double angle = term.phase;
        for (std::size_t axis = 0; axis < position.size(); ++axis)
          angle += 2 * std::numbers::pi * static_cast<double>(term.periods[axis]) *
                   (position[axis] - domain.axes()[axis].origin) / domain.axes()[axis].extent;
        field.values[static_cast<std::size_t>(point)] += term.amplitude * std::cos(angle);
      }
    }
    return field;
  }

 private:
  struct Term {
    double amplitude = 0, phase = 0;
    std::vector<std::uint64_t> periods = {};
  };
  std::vector<Term> terms_;
};

/// A value is a sum of as many products as an axis has points, each with a weight of order 1 from an angle with a few
/// roundings, once for each axis.
Tolerance rounding_on(const Domain& from, double scale) {
  double points = 0;
  for (const int axis : from.shape()) points += axis;
  return rounding(64 * points, scale);
}

Domain ring_or_torus(int dimension, int points, bool cells) {
  std::vector<Axis> axes;
  for (int axis = 0; axis < dimension; ++axis)
    axes.push_back(cells ? Axis::cells(points + axis, 2.5, -1, true) : Axis::ring(points + axis, 2.5, -1));
  return Domain::grid(std::move(axes));
}

TEST(Interpolation, IsExactForWavesThatTheOldGridHolds) {
  for_all([] {
    const int dimension = *rc::gen::inRange(1, 3), points = *rc::gen::inRange(5, 20);
    const Domain from = ring_or_torus(dimension, points, *rc::gen::arbitrary<bool>());
    const Waves waves(dimension, static_cast<std::uint64_t>(points - 1) / 2, *rc::gen::arbitrary<std::uint64_t>());
    std::vector<int> shape;
    for (int axis = 0; axis < dimension; ++axis) shape.push_back(*rc::gen::inRange(1, 40));
    const FieldBatch found = interpolated(waves.on(from), shape);
    RC_ASSERT(found.domain.shape() == shape);
    RC_ASSERT(mismatch(waves.on(found.domain).values, found.values, rounding_on(from, 6 * 4)) == "");
  });
}

TEST(Interpolation, AgreesWithStridesWhereTheyExist) {
  for_all([] {
    const int points = 4 * *rc::gen::inRange(1, 12);
    Rng rng(*rc::gen::arbitrary<std::uint64_t>(), "field");
    const FieldBatch field = random_field(Domain::unit({points, points}), 3, rng, 2);
    const std::vector<int> shape = {points / 2, points / 4};
    const FieldBatch strides = strided(field, shape), found = interpolated(field, shape);
    RC_ASSERT(found.domain == strides.domain);
    RC_ASSERT(mismatch(strides.values, found.values, rounding_on(field.domain, 6)) == "");
  });
}

TEST(Interpolation, IsExactForCubicsOnAxesThatAreNotPeriodic) {
  for_all([] {
    const int points = *rc::gen::inRange(4, 20), wanted = *rc::gen::inRange(2, 40);
    const bool cells = *rc::gen::arbitrary<bool>();
    const Axis axis = cells ? Axis::cells(points, 2, -1) : Axis::closed(points, 2, -1);
    const auto cubic_on = [](const Domain& domain) {
      FieldBatch field = FieldBatch::zeros(domain, 1, 1);
      for (std::int64_t point = 0; point < domain.points(); ++point) {
        const double x = domain.position(point)[0], y = domain.position(point)[1];
        field.values[static_cast<std::size_t>(point)] = 1 + x * (2 - x * (3 - 4 * x)) + std::cos(y);
      }
      return field;
    };
    const FieldBatch field = cubic_on(Domain::grid({axis, Axis::ring(8, 2 * std::numbers::pi)})),
                     found = interpolated(field, {wanted, 5});
    RC_ASSERT(found.domain.axes()[0] == axis.resampled(wanted));
    // The largest value is 11. Beyond the outermost middle of a cell, by half a cell at the most, the four weights add
    // up to 4.25 in absolute value.
    RC_ASSERT(mismatch(cubic_on(found.domain).values, found.values, rounding_on(field.domain, 11 * 4.25)) == "");
  });
}

TEST(Interpolation, RefusesAnotherNumberOfAxes) {
  EXPECT_THROW(interpolated(FieldBatch::zeros(Domain::unit({8}), 1, 1), {7, 7}), InvalidArgument);
  EXPECT_THROW(interpolated(FieldBatch::zeros(Domain::unit({8}), 1, 1), {0}), InvalidArgument);
}

}  // namespace
}  // namespace opshap
