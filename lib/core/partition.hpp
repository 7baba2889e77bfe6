#pragma once

#include <cstdint>
#include <vector>

#include "core/domain.hpp"

namespace opshap {

/// Which player owns each point, player_of[point] in 0..players-1, and the volume of each player's points together.
struct Partition {
  int players = 0;
  std::vector<int> player_of;   ///< [points]
  std::vector<double> volumes;  ///< [players]

  static Partition one_player_per_point(const Domain& domain);
  /// Contiguous blocks of equal size, or with one point more or less where the players do not divide the points. 1D:
  /// player of point x is ⌊x·players/n⌋; 2D: a √players × √players grid of blocks, row-major. Throws InvalidArgument
  /// where an axis has fewer points than blocks. On a mesh: the blocks of its bounding box that hold
  /// points, as mesh_blocks() numbers them; there may be fewer players than asked for.
  static Partition blocks(const Domain& domain, int players);
  /// Contiguous blocks of graded sizes: blocks() after Grading(ratio) of every axis, from wide blocks to narrow ones
  /// for ratio > 1; a ratio of 1 gives blocks(). Each block of `players` is a union of those of 2·players in 1D and of
  /// 4·players in 2D. Throws InvalidArgument when a block has no point or, in 2D, players is not a square.
  static Partition graded(const Domain& domain, int players, double ratio);
  /// From one label per point. Labels are 0..players-1 and each occurs; otherwise throws InvalidArgument.
  static Partition from_labels(const Domain& domain, const std::vector<std::int64_t>& labels);
};

}  // namespace opshap
