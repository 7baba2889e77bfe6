#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace opshap::operators {

/// For each of M places the numbers of the points near it, as compressed rows.
struct NeighbourLists {
  std::vector<std::int64_t> splits = {0};  ///< [M + 1]: row i is indices splits[i]..splits[i + 1] − 1
  std::vector<std::int64_t> indices;       ///< [edges], ascending in each row

  std::int64_t rows() const { return static_cast<std::int64_t>(splits.size()) - 1; }
  std::int64_t edges() const { return static_cast<std::int64_t>(indices.size()); }

  bool operator==(const NeighbourLists&) const = default;
};

/// The points [N, 2] within `radius` of each place [M, 2], the distance of exactly `radius` included. Distances are
/// computed in double from the differences of coordinates, so none is lost to cancellation. The points are sorted into
/// square cells of the radius first, and a place looks into the nine cells around it.
/// Cost: N + the points in nine cells for each place. Throws InvalidArgument unless the radius is positive and finite.
NeighbourLists neighbours_within(std::span<const double> points, std::span<const double> places, double radius);

/// Lists from elsewhere, for `places` places and `points` points. Throws InvalidArgument unless there are so many rows,
/// the splits ascend from 0 to the number of edges, and the indices of a row ascend and are points.
NeighbourLists neighbours_given(NeighbourLists lists, std::int64_t places, std::int64_t points);

}  // namespace opshap::operators
