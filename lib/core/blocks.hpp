#pragma once

#include <cstdint>
#include <vector>

#include "core/mesh.hpp"

namespace opshap {

/// How many blocks each axis is cut into: all of them in one dimension, their square root in two. Throws
/// InvalidArgument for less than one, and in two dimensions for a number that is no square.
int blocks_per_axis(int dimension, int blocks);

/// The blocks of a mesh that hold points; each of them is a player.
///
/// The bounding box is cut into m equal parts along each axis. With x and y on [0, 1] in that box, a point is in block
/// m·⌊m·y⌋ + ⌊m·x⌋ of m², in one dimension in block ⌊m·x⌋ of m; the far border belongs to the last one. A block without
/// a point could change no value and does not play, so there may be fewer players than blocks.
struct MeshBlocks {
  int count = 0;                        ///< of all blocks
  std::vector<int> of_player;           ///< [players]: the block of each, ascending
  std::vector<std::int64_t> player_of;  ///< [points]
};

/// Throws as blocks_per_axis().
MeshBlocks mesh_blocks(const Mesh& mesh, int blocks);

}  // namespace opshap
