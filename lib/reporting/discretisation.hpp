#pragma once

#include <compare>
#include <string>
#include <vector>

namespace opshap::reporting {

/// A grid and who plays on it. Several grids may have the same number of players: 4 × 4 points, and 8 × 8 in 16 blocks.
struct Discretisation {
  int players = 0;
  std::vector<int> shape;  ///< points per axis; empty for a grid of the paper, which states only the players

  /// The grid of one axis where each point is a player.
  static Discretisation line(int players) { return {.players = players, .shape = {players}}; }
  bool is_line() const { return *this == line(players); }
  bool every_point_plays() const;

  /// "32" of a line, else "16 (4 × 4)" or "16 (of 8 × 8 points)".
  std::string label() const;
  /// The same for the id of an element: "32", "16-of-4x4", "16-of-8x8".
  std::string id() const;

  auto operator<=>(const Discretisation&) const = default;
};

}  // namespace opshap::reporting
