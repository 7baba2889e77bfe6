#include "core/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/error.hpp"

namespace opshap {

int blocks_per_axis(int dimension, int blocks) {
  require(blocks >= 1, "partition: players=", blocks, " (needs at least one). Give a positive number of players.");
  if (dimension == 1) return blocks;
  const int per_axis = static_cast<int>(std::lround(std::sqrt(blocks)));
  require(per_axis * per_axis == blocks, "partition: players=", blocks,
          " (a square grid of blocks needs a square number). Use 4, 16, 64, ...");
  return per_axis;
}

MeshBlocks mesh_blocks(const Mesh& mesh, int blocks) {
  const int per_axis = blocks_per_axis(mesh.dimension, blocks);
  std::vector<int> block_of(static_cast<std::size_t>(mesh.size()), 0);
  for (int axis = mesh.dimension - 1; axis >= 0; --axis) {
    double least = mesh.coordinate(0, axis), most = least;
    for (std::int64_t point = 1; point < mesh.size(); ++point) {
      least = std::min(least, mesh.coordinate(point, axis));
      most = std::max(most, mesh.coordinate(point, axis));
    }
    for (std::size_t point = 0; point < block_of.size(); ++point) {
      // Points of one coordinate are all on the near border.
      const double from_border = mesh.coordinate(static_cast<std::int64_t>(point), axis) - least;
      const double share = most > least ? from_border / (most - least) : 0;
      block_of[point] = per_axis * block_of[point] + std::min(static_cast<int>(per_axis * share), per_axis - 1);
    }
  }
  MeshBlocks found{.count = blocks, .of_player = block_of, .player_of = {}};
  std::ranges::sort(found.of_player);
  const auto repeated = std::ranges::unique(found.of_player);
  found.of_player.erase(repeated.begin(), repeated.end());
  for (const int block : block_of)
    found.player_of.push_back(std::ranges::lower_bound(found.of_player, block) - found.of_player.begin());
  return found;
}

}  // namespace opshap
