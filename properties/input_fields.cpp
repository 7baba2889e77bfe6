// Arrays that users give for operators: which shapes are fields, and what is said about the others.

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "cli/operator_game.hpp"
#include "core/error.hpp"

namespace opshap {
namespace {

std::vector<double> counting(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

TEST(InputFields, TakeTheChannelAxisOrLeaveItOut) {
  struct Case {
    std::vector<std::int64_t> shape;
    int dimension, channels;
    std::vector<int> grid;
  };
  for (const Case& known : {Case{{6}, 1, 1, {6}}, Case{{1, 6}, 1, 1, {6}}, Case{{2, 6}, 1, 2, {6}},
                            Case{{3, 4}, 2, 1, {3, 4}}, Case{{1, 3, 4}, 2, 1, {3, 4}}, Case{{2, 3, 4}, 2, 2, {3, 4}}}) {
    const auto count = static_cast<std::size_t>(
        std::accumulate(known.shape.begin(), known.shape.end(), std::int64_t{1}, std::multiplies<>()));
    const FieldBatch field = cli::input_field(known.shape, counting(count), known.dimension, known.channels, "test");
    EXPECT_EQ(known.grid, field.domain.shape());
    EXPECT_EQ(known.channels, field.channels);
    EXPECT_EQ(1, field.batch);
    EXPECT_EQ(counting(count), field.values);
  }
}

TEST(InputFields, RefuseShapesTheOperatorDoesNotTake) {
  EXPECT_THROW(cli::input_field({2, 6}, counting(12), 1, 1, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_field({6}, counting(6), 1, 2, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_field({6}, counting(6), 2, 1, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_field({}, counting(1), 1, 1, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_field({0}, {}, 1, 1, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_field({std::int64_t{1} << 40}, {}, 1, 1, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_field({6}, counting(5), 1, 1, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_field({1}, {std::numeric_limits<double>::quiet_NaN()}, 1, 1, "test"), DataError);
}

TEST(InputFields, OnAMeshThereIsAValueForEachPoint) {
  const Domain mesh = Domain::mesh(Mesh::of_points(2, {0, 0, 1, 0, 0, 1}, {1, 1, 1}));
  struct Case {
    std::vector<std::int64_t> shape;
    int channels, batch;
  };
  for (const Case& known : {Case{{3}, 1, 1}, Case{{1, 3}, 1, 1}, Case{{2, 3}, 2, 1}, Case{{4, 2, 3}, 2, 4}}) {
    const auto count = static_cast<std::size_t>(3 * known.channels * known.batch);
    const FieldBatch fields =
        cli::on_mesh(cli::input_fields(known.shape, counting(count), 1, known.channels, "test"), mesh, "test");
    EXPECT_EQ(mesh, fields.domain);
    EXPECT_EQ(known.batch, fields.batch);
    EXPECT_EQ(known.channels, fields.channels);
    EXPECT_EQ(counting(count), fields.values);
  }
  EXPECT_THROW(cli::on_mesh(cli::input_field({4}, counting(4), 1, 1, "test"), mesh, "test"), InvalidArgument);
}

TEST(InputFields, LabelsHaveTheDomainsShape) {
  const Domain mesh = Domain::mesh(Mesh::of_points(2, {0, 0, 1, 0, 0, 1}, {1, 2, 4}));
  EXPECT_EQ((std::vector<double>{5, 2}), cli::input_partition({3}, {0, 1, 0}, mesh, "test").volumes);
  EXPECT_THROW(cli::input_partition({1, 3}, {0, 1, 0}, mesh, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_partition({3}, {0, 2, 0}, mesh, "test"), InvalidArgument);
  const Domain domain = Domain::unit({2, 2});
  EXPECT_EQ(2, cli::input_partition({2, 2}, {0, 1, 1, 0}, domain, "test").players);
  EXPECT_THROW(cli::input_partition({4}, {0, 1, 1, 0}, domain, "test"), InvalidArgument);
  EXPECT_THROW(cli::input_partition({2, 2}, {0, 2, 2, 0}, domain, "test"), InvalidArgument);
}

}  // namespace
}  // namespace opshap
