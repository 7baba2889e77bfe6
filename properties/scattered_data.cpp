// Data sets at scattered points of their grid, and resolutions of grids and meshes.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.hpp"
#include "core/scenario.hpp"
#include "data/verify.hpp"

namespace opshap {
namespace {

constexpr int side = 16;

/// Field k is 100 k + x + 2 y in channel 0 and −1 in channel 1; its target is twice channel 0.
data::Dataset numbered(int samples) {
  data::Dataset data;
  data.pde = data.content_hash = "numbered";
  data.inputs = FieldBatch::zeros(Domain::unit({side, side}), samples, 2);
  data.targets = FieldBatch::zeros(data.inputs.domain, samples, 1);
  data.resolutions = {4, 8};
  for (int sample = 0; sample < samples; ++sample) {
    const auto points = static_cast<std::size_t>(data.inputs.domain.points());
    for (std::size_t point = 0; point < points; ++point) {
      const std::vector<double> at = data.inputs.domain.position(static_cast<std::int64_t>(point));
      data.inputs.field(sample)[point] = 100 * sample + at[0] + 2 * at[1];
      data.inputs.field(sample)[points + point] = -1;
      data.targets.field(sample)[point] = 2 * data.inputs.field(sample)[point];
    }
    data.split.push_back(data::Split::train);
    data.resolution_slot.push_back(static_cast<std::uint8_t>(sample % 2));
  }
  return data;
}

TEST(ScatteredData, HaveTheValuesOfTheGridAtPointsOfTheGrid) {
  constexpr int points = 60;
  const data::Dataset set = data::scattered(numbered(3), points);
  ASSERT_FALSE(set.inputs.domain.is_grid());
  ASSERT_EQ(points, set.inputs.domain.points());
  EXPECT_EQ(set.inputs.domain, set.targets.domain);
  EXPECT_EQ((std::vector<Resolution>{points}), set.resolutions);
  std::set<std::vector<double>> places;
  for (std::size_t point = 0; point < points; ++point) {
    const std::vector<double> at = set.inputs.domain.position(static_cast<std::int64_t>(point));
    EXPECT_TRUE(places.insert(at).second) << "point " << point << " twice";
    for (int sample = 0; sample < 3; ++sample) {
      EXPECT_EQ(100 * sample + at[0] + 2 * at[1], set.inputs.field(sample)[point]);
      EXPECT_EQ(-1, set.inputs.field(sample)[points + point]) << "channel 1";
      EXPECT_EQ(2 * set.inputs.field(sample)[point], set.targets.field(sample)[point]);
    }
  }
  EXPECT_EQ(0, *std::ranges::max_element(set.resolution_slot));
}

TEST(ScatteredData, AreTheSamePointsForEverySetOnAGridAndTellTheirNumber) {
  const data::Dataset one = data::scattered(numbered(1), 60), other = data::scattered(numbered(5), 60);
  EXPECT_EQ(one.inputs.domain, other.inputs.domain);
  EXPECT_NE(numbered(1).content_hash, one.content_hash);
  EXPECT_NE(data::scattered(numbered(1), 61).content_hash, one.content_hash);
}

TEST(ScatteredData, AreRefusedWhereThePointsAreTooManyOrTooFew) {
  EXPECT_NO_THROW(data::scattered(numbered(1), side * side));
  EXPECT_THROW(data::scattered(numbered(1), side * side + 1), InvalidArgument);
  EXPECT_THROW(data::scattered(numbered(1), 3), InvalidArgument);
}

TEST(Resolutions, OfAGridAreStridesAndAMeshHasItsOwnAlone) {
  const FieldBatch fields = numbered(1).inputs, mesh = data::scattered(numbered(1), 60).inputs;
  EXPECT_EQ((std::vector<int>{4, 4}), shape_of(at_resolution(fields.domain, 4)));
  EXPECT_EQ(strided(fields, {4, 4}).values, at_resolution(fields, 4).values);
  EXPECT_EQ((std::vector<int>{60}), shape_of(mesh.domain));
  EXPECT_EQ(mesh.values, at_resolution(mesh, 60).values);
  EXPECT_THROW(at_resolution(mesh.domain, 30), InvalidArgument);
  EXPECT_THROW(at_resolution(mesh, 30), InvalidArgument);
  const ScenarioRule rule{.players = ScenarioRule::Players::blocks, .blocks = 4};
  EXPECT_EQ(4, scenario_at(rule, mesh, 60).partition.players);
  EXPECT_EQ(16, scenario_at(rule, fields, 4).input.domain.points());
  EXPECT_THROW(scenario_at(rule, mesh, 4), InvalidArgument);
}

}  // namespace
}  // namespace opshap
