// Data sets of inputs that nobody solved: of a user's own fields, and of further draws of a problem.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.hpp"
#include "data/generate.hpp"
#include "pde/registry.hpp"

namespace opshap {
namespace {

/// Field k is k everywhere.
FieldBatch numbered(std::int64_t count) {
  FieldBatch fields = FieldBatch::zeros(Domain::unit({32}), count, 1);
  for (std::int64_t index = 0; index < count; ++index)
    std::ranges::fill(fields.field(index), static_cast<double>(index));
  return fields;
}

TEST(InputsAlone, HaveTheUsualResolutionsOfTheirGrid) {
  using data::usual_resolutions;
  EXPECT_EQ((std::vector<Resolution>{16, 32, 64, 128, 256, 512, 1024}), usual_resolutions(Domain::unit({1024})));
  EXPECT_EQ((std::vector<Resolution>{24, 48, 96}), usual_resolutions(Domain::unit({96})));
  EXPECT_EQ((std::vector<Resolution>{101}), usual_resolutions(Domain::unit({101})));
  EXPECT_EQ((std::vector<Resolution>{4, 8, 16}), usual_resolutions(Domain::unit({16, 16})));
  EXPECT_EQ((std::vector<Resolution>{Resolution({4, 8}), Resolution({8, 16}), Resolution({16, 32})}),
            usual_resolutions(Domain::unit({16, 32})));
  EXPECT_EQ((std::vector<Resolution>{106, 211, 421}), usual_resolutions(Domain::grid({Axis::closed(421)})));
}

TEST(InputsAlone, AreServedAtAllResolutionsAndKeepSomeFromTheTraining) {
  const std::vector<Resolution> resolutions = {8, 16, 32};
  const data::Dataset set = data::of_inputs(numbered(30), resolutions, 100);
  const auto train = set.indices(data::Split::train), validation = set.indices(data::Split::validation),
             test = set.indices(data::Split::test);
  EXPECT_EQ(100u, train.size());
  EXPECT_EQ(3u, validation.size());
  EXPECT_EQ(3u, test.size());
  std::map<double, std::set<int>> served;
  for (const std::int64_t sample : train)
    served[set.inputs.field(sample)[0]].insert(set.resolution_slot[static_cast<std::size_t>(sample)]);
  EXPECT_EQ(24u, served.size());
  for (const auto& [field, slots] : served) EXPECT_EQ(3u, slots.size()) << "field " << field << ", four times";
  for (const auto& part : {validation, test})
    for (const std::int64_t sample : part) EXPECT_FALSE(served.contains(set.inputs.field(sample)[0]));
  EXPECT_NE(set.content_hash, data::of_inputs(numbered(31), resolutions, 100).content_hash);
  EXPECT_EQ(80u, data::of_inputs(numbered(100), resolutions, 10).indices(data::Split::train).size())
      << "each at least once";
  EXPECT_THROW(data::of_inputs(numbered(9), resolutions, 100), InvalidArgument);
}

TEST(InputsAlone, FurtherDrawsAreThoseOfALargerSetByTheirShares) {
  const auto& problem = pde::find("heat1d");
  data::Dataset set;
  set.pde = "heat1d";
  set.inputs = FieldBatch::zeros(problem.input().domain, 2, 1);
  set.split = {data::Split::train, data::Split::test};
  set.resolution_slot = {0, 1};
  set.resolutions = {16, 32};
  set.content_hash = "0";
  const data::Unlabelled wanted{.count = 40, .grid = 32, .shares = {3, 1}};
  const data::Dataset more = data::with_unlabelled(set, problem, 7, wanted);
  ASSERT_EQ(42, more.samples());
  EXPECT_EQ(41u, more.indices(data::Split::train).size());
  const FieldBatch drawn = strided(data::generated_input(problem, 7, 2 + 5), {32});
  EXPECT_TRUE(std::ranges::equal(drawn.values, more.inputs.field(2 + 5)));
  EXPECT_EQ(30, std::ranges::count(more.resolution_slot.begin() + 2, more.resolution_slot.end(), 0));
  EXPECT_NE(more.content_hash, data::with_unlabelled(set, problem, 7, {.count = 40, .grid = 32}).content_hash);
  EXPECT_THROW(data::with_unlabelled(set, problem, 7, {.count = 40, .grid = 32, .shares = {1}}), InvalidArgument);
  EXPECT_THROW(data::with_unlabelled(set, pde::find("burgers1d"), 7, wanted), InvalidArgument);
}

}  // namespace
}  // namespace opshap
