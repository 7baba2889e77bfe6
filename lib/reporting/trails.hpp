#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace opshap::reporting {

/// Edges, each from one point to another, joined where they meet: a trail is the points along it, and each edge is in
/// one trail once. As many trails are open as edges begin beyond those that end; all others come back to their first
/// point. The order of the edges does not matter. Cost: sorting them.
/// Source: the algorithm of Hierholzer (1873), without joining closed trails that share a point.
template <typename Point>
std::vector<std::vector<Point>> trails(const std::vector<std::pair<Point, Point>>& edges) {
  std::map<Point, std::vector<Point>> ways;
  std::map<Point, int> surplus;  // of edges that begin there
  for (const auto& [from, to] : edges) {
    ways[from].push_back(to);
    ++surplus[from];
    --surplus[to];
  }
  for (auto& [from, to] : ways) std::ranges::sort(to);
  std::vector<std::vector<Point>> trails;
  const auto follow = [&](const Point& start) {
    std::vector<Point> trail = {start};
    for (auto at = ways.find(start); at != ways.end() && !at->second.empty(); at = ways.find(trail.back())) {
      trail.push_back(at->second.back());
      at->second.pop_back();
    }
    trails.push_back(std::move(trail));
  };
  for (const auto& [point, count] : surplus)
    for (int trail = 0; trail < count; ++trail) follow(point);
  for (const auto& [point, to] : ways)
    while (!to.empty()) follow(point);
  return trails;
}

}  // namespace opshap::reporting
