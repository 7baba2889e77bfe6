// The vocabulary: random streams, coalitions, partitions, the counted game, files.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <thread>

#include "core/checksum.hpp"
#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "core/explainer.hpp"
#include "core/file.hpp"
#include "core/game.hpp"
#include "core/names.hpp"
#include "core/operator.hpp"
#include "core/rng.hpp"
#include "core/threads.hpp"

namespace opshap {
namespace {

/// v(S) = |S|², counting how many coalitions it was asked for.
class SquaredSize final : public Game {
 public:
  explicit SquaredSize(int players) : players_(players) {}
  int players() const override { return players_; }
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    asked += static_cast<int>(coalitions.size());
    std::vector<double> values;
    for (std::size_t i = 0; i < coalitions.size(); ++i) values.push_back(std::pow(coalitions.cardinality(i), 2));
    return values;
  }
  mutable int asked = 0;

 private:
  int players_;
};

TEST(Rng, MatchesThePublishedPhiloxVectors) {
  // Random123's known answers for philox4x32-10 with zero key and counter: 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
  // The key is (seed, crc32c(domain) + seed/2^32); the empty domain has checksum 0.
  Rng rng(0, "", 0, 0);
  EXPECT_EQ(0x6627e8d5u, rng.bits32());
  EXPECT_EQ(0xe169c58du, rng.bits32());
  EXPECT_EQ(0xbc57ac4cu, rng.bits32());
  EXPECT_EQ(0x9b00dbd8u, rng.bits32());
}

TEST(Rng, StreamsOfDifferentNamesDiffer) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (std::uint32_t purpose = 0; purpose < 4; ++purpose) {
      for (std::uint64_t item = 0; item < 4; ++item) {
        first.insert(Rng(seed, "a", purpose, item).bits64());
        first.insert(Rng(seed + (std::uint64_t{1} << 32), "a", purpose, item).bits64());
        first.insert(Rng(seed, "b", purpose, item).bits64());
      }
    }
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

TEST(Checksum, Crc32cHasItsKnownAnswer) { EXPECT_EQ(0xe3069283u, crc32c("123456789")); }

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
  const SquaredSize game(10);
  CountedGame counted(game, {4});
  Coalitions asked(10);
  asked.append_empty();
  asked.append_grand();
  asked.append_grand();
  EXPECT_EQ((std::vector<double>{0, 100, 100}), counted.values(asked));
  EXPECT_EQ((std::vector<double>{0, 100, 100}), counted.values(asked));
  EXPECT_EQ(2, game.asked);
  EXPECT_EQ(2, counted.distinct());
  EXPECT_EQ(6, counted.evaluations());
}

TEST(CountedGame, RefusesMoreDistinctCoalitionsThanTheBudget) {
  const SquaredSize game(4);
  CountedGame counted(game, {5});
  EXPECT_THROW(counted.values(Coalitions::enumerate(4, 0, 6)), std::logic_error);
  EXPECT_NO_THROW(counted.values(Coalitions::enumerate(4, 0, 5)));
}

TEST(CountedGame, NamesTheCoalitionWithoutAFiniteValue) {
  class Broken final : public Game {
   public:
    int players() const override { return 3; }
    std::vector<double> evaluate(const Coalitions& coalitions) const override {
      std::vector<double> values(coalitions.size(), 1.0);
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (coalitions.contains(i, 2) && coalitions.cardinality(i) == 2)
          values[i] = std::numeric_limits<double>::quiet_NaN();
      }
      return values;
    }
  };
  const Broken game;
  CountedGame counted(game, {8});
  try {
    counted.values(Coalitions::enumerate(3, 0, 8));
    FAIL() << "no exception";
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find("v({0, 2})=nan")) << error.what();
  }
}

TEST(Games, CoalitionsOfAnotherNumberOfPlayersAreRefused) {
  const SquaredSize game(200);
  Coalitions fewer(64);
  fewer.append_grand();
  Coalitions more(201);
  more.append_grand();
  EXPECT_THROW(game.values(fewer), InvalidArgument);
  EXPECT_THROW(game.values(more), InvalidArgument);
  EXPECT_EQ(0, game.asked) << "the game itself was asked";
  Coalitions same(200);
  same.append_grand();
  EXPECT_EQ(std::vector<double>{40000}, game.values(same));
  try {
    CountedGame(game, {2}).values(fewer);
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ("game: coalitions of players=64 (the game has 200 players). Make the batch with Coalitions(200).",
              std::string(error.what()));
  }
}

TEST(Partition, BlocksFollowTheirDefinition) {
  const Partition line = Partition::blocks(Domain::unit({8}), 4);
  EXPECT_EQ((std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}), line.player_of);
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

}  // namespace
}  // namespace opshap
