#include "data/scattered.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/domain.hpp"
#include "core/error.hpp"
#include "core/rng.hpp"

namespace opshap::data {

namespace {

/// Numbers of the drawn points of a grid, ascending.
std::vector<int> drawn_points(const Domain& grid, int points) {
  std::vector<int> all(static_cast<std::size_t>(grid.points()));
  std::iota(all.begin(), all.end(), 0);
  Rng(0, "scattered points").shuffle(all);
  all.resize(static_cast<std::size_t>(points));
  std::ranges::sort(all);
  return all;
}

Domain cloud_of(const Domain& grid, const std::vector<int>& points) {
  std::vector<double> positions;
  for (const int point : points) {
    for (const double coordinate : grid.position(point)) positions.push_back(coordinate);
  }
  return Domain::mesh(point_cloud(grid.dimension(), std::move(positions)));
}

FieldBatch taken(const FieldBatch& fields, const std::vector<int>& points, const Domain& cloud) {
  FieldBatch some = FieldBatch::zeros(cloud, fields.batch, fields.channels);
  const auto all = static_cast<std::size_t>(fields.domain.points());
  for (std::size_t i = 0; i < some.values.size(); ++i)
    some.values[i] = fields.values[i / points.size() * all + static_cast<std::size_t>(points[i % points.size()])];
  return some;
}

}  // namespace

Dataset scattered(Dataset data, int points) {
  const Domain grid = data.inputs.domain;
  require(grid == data.targets.domain, "scattered data: pde=", data.pde, ", targets=", data.targets.domain.describe(),
          " (the inputs are on ", grid.describe(), "). Use a data set with both on one grid.");
  require(points >= 4 && points <= grid.points(), "scattered data: pde=", data.pde, ", points=", points,
          " (its grid has ", grid.points(), ", and a cloud needs 4). Give a number between.");
  const std::vector<int> drawn = drawn_points(grid, points);
  const Domain cloud = cloud_of(grid, drawn);
  data.inputs = taken(data.inputs, drawn, cloud);
  data.targets = taken(data.targets, drawn, cloud);
  data.resolutions = {points};
  std::ranges::fill(data.resolution_slot, std::uint8_t{0});
  data.content_hash += message(" at ", points, " scattered points");
  return data;
}

}  // namespace opshap::data
