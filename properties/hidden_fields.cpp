// Who changes anything in a game, and how far what hides players is from the data.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.hpp"
#include "evaluation/evaluate.hpp"

namespace opshap {
namespace {

using evaluation::active_players;
using evaluation::baseline_distances;

Scenario scenario(std::vector<double> input, std::vector<double> baseline, int channels, int players) {
  const Domain line = Domain::grid({Axis::ring(static_cast<int>(input.size()) / channels)});
  const auto field = [&](std::vector<double> values) {
    FieldBatch batch = FieldBatch::zeros(line, 1, channels);
    batch.values = std::move(values);
    return batch;
  };
  return {.input = field(std::move(input)),
          .baseline = field(std::move(baseline)),
          .partition = Partition::blocks(line, players),
          .readout = Query{}};
}

TEST(ActivePlayers, AreThoseWhoseCellsDifferFromTheBaseline) {
  EXPECT_EQ(4, active_players(scenario({1, 2, 3, 4}, {0, 0, 0, 0}, 1, 4)));
  EXPECT_EQ(2, active_players(scenario({1, 0, 3, 0}, {0, 0, 0, 0}, 1, 4)));
  EXPECT_EQ(1, active_players(scenario({1, 5, 3, 3}, {0, 0, 3, 3 * (1 + 1e-12)}, 1, 2))) << "rounding is no difference";
  EXPECT_EQ(1, active_players(scenario({1, 1, 1, 1, 0, 0, 7, 0}, {1, 1, 1, 1, 0, 0, 0, 0}, 2, 4)))
      << "any channel will do";
  EXPECT_EQ(0, active_players(scenario({0, 0}, {0, 0}, 1, 2)));
}

TEST(BaselineDistances, AreInStandardDeviationsOfEachChannel) {
  // Channel 0 has the mean 3 and the deviation 2; channel 1 does not vary.
  const std::vector<Scenario> scenarios = {scenario({1, 1, 5, 5}, {0, 0, 5, 5}, 2, 2),
                                           scenario({5, 5, 5, 5}, {0, 0, 5, 5}, 2, 2)};
  const std::vector<double> found = baseline_distances(scenarios);
  ASSERT_EQ(2u, found.size());
  EXPECT_DOUBLE_EQ(1.5, found[0]);
  EXPECT_EQ(0, found[1]);
  // A point that shows the input hides nothing, however far it is.
  const std::vector<Scenario> shown = {scenario({1, 5}, {100, 5}, 1, 2), scenario({1, 5}, {1, 5}, 1, 2)};
  EXPECT_DOUBLE_EQ((100 - 3) / 2.0, baseline_distances(shown)[0]);
  EXPECT_EQ(0, baseline_distances(std::vector{shown[1]})[0]);
  EXPECT_THROW(baseline_distances({}), InvalidArgument);
}

}  // namespace
}  // namespace opshap
