#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/domain.hpp"
#include "core/readout.hpp"

namespace opshap {

/// A box of a domain: the points whose index, or whose coordinate, is at least the first and below the second number on
/// each axis.
struct Region {
  bool by_place = false;  ///< coordinates, else indices; of a mesh the only index is the number of the point
  std::vector<std::pair<double, double>> ranges;

  bool operator==(const Region&) const = default;
};

/// The region of "mean:20..40" or "mean:20..40,0..8" (indices), "mean:0.2..0.4@x" or "mean:0..1,0..1@x" (coordinates);
/// nothing for a text that does not begin with "mean:". `who` starts the messages. Throws InvalidArgument for one that
/// does and is no region, or an empty one.
std::optional<Region> parse_region(std::string_view who, const std::string& text);

/// The mean of an output's channel over the region's points, each weighted by its volume. Throws InvalidArgument for a
/// region of another number of axes, one that leaves the grid, and one without a point.
Readout mean_over(const Region& region, const Domain& domain, int channel);

}  // namespace opshap
