#include "core/partition.hpp"

#include <algorithm>
#include <cstddef>

#include "core/blocks.hpp"
#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "core/grading.hpp"

namespace opshap {

Partition Partition::one_player_per_point(const Domain& domain) {
  std::vector<std::int64_t> labels(static_cast<std::size_t>(domain.points()));
  for (std::size_t point = 0; point < labels.size(); ++point) labels[point] = static_cast<std::int64_t>(point);
  return from_labels(domain, labels);
}

namespace {

/// Products of the axes' blocks, numbered row-major. block_of(axis, index) is non-decreasing in the index.
template <typename BlockOf>
std::vector<std::int64_t> block_labels(const Domain& domain, int per_axis, const BlockOf& block_of) {
  std::vector<std::int64_t> labels(static_cast<std::size_t>(domain.points()));
  const int columns = domain.shape().back();
  for (std::size_t point = 0; point < labels.size(); ++point) {
    const int column = static_cast<int>(point) % columns, row = static_cast<int>(point) / columns;
    labels[point] =
        domain.dimension() == 1 ? block_of(0, column) : std::int64_t{block_of(0, row)} * per_axis + block_of(1, column);
  }
  return labels;
}

}  // namespace

Partition Partition::blocks(const Domain& domain, int players) {
  if (!domain.is_grid()) return from_labels(domain, mesh_blocks(domain.as_mesh(), players).player_of);
  const int per_axis = blocks_per_axis(domain.dimension(), players);
  for (const int points : domain.shape()) {
    require(points >= per_axis, "partition: players=", players, " (an axis of ", points, " points has no ", per_axis,
            " blocks). Use fewer players, or a finer grid.");
  }
  return from_labels(domain, block_labels(domain, per_axis, [&](std::size_t axis, int index) {
                       return static_cast<int>(std::int64_t{index} * per_axis / domain.shape()[axis]);
                     }));
}

Partition Partition::graded(const Domain& domain, int players, double ratio) {
  const int per_axis = blocks_per_axis(domain.dimension(), players);
  const Grading grading(ratio);
  // The middle of a point's own cell, whatever the centring: then no point is on the border of a block of equal blocks.
  const auto block_of = [&](std::size_t axis, int index) {
    return static_cast<int>(per_axis * grading((index + 0.5) / domain.shape()[axis]));
  };
  for (std::size_t axis = 0; axis < domain.shape().size(); ++axis) {
    int next = 0;
    for (int index = 0; index < domain.shape()[axis]; ++index) {
      require(block_of(axis, index) <= next, "partition: players=", players, " (block ", next, " of axis ", axis,
              " is so narrow at ratio ", ratio, " that none of the ", domain.shape()[axis],
              " points is in it). Use fewer players, a ratio nearer to 1, or a finer grid.");
      if (block_of(axis, index) == next) ++next;
    }
    require(next == per_axis, "partition: players=", players, " (block ", next, " of axis ", axis, " at ratio ", ratio,
            " has none of the ", domain.shape()[axis],
            " points). Use fewer players, a ratio nearer to 1, or a finer grid.");
  }
  return from_labels(domain, block_labels(domain, per_axis, block_of));
}

Partition Partition::from_labels(const Domain& domain, const std::vector<std::int64_t>& labels) {
  require(static_cast<std::int64_t>(labels.size()) == domain.points(), "partition: labels=", labels.size(),
          " (the domain has ", domain.points(), " points). Give one label per point.");
  const std::int64_t top = *std::max_element(labels.begin(), labels.end());
  const std::int64_t bottom = *std::min_element(labels.begin(), labels.end());
  require(bottom >= 0, "partition: label=", bottom, " (players are numbered from 0). Relabel the points.");
  require(top < Coalitions::max_players, "partition: label=", top, " (at most ", Coalitions::max_players,
          " players). Group more points.");
  Partition partition;
  partition.players = static_cast<int>(top) + 1;
  partition.volumes.assign(static_cast<std::size_t>(partition.players), 0.0);
  for (std::int64_t point = 0; point < domain.points(); ++point) {
    const std::int64_t label = labels[static_cast<std::size_t>(point)];
    partition.player_of.push_back(static_cast<int>(label));
    partition.volumes[static_cast<std::size_t>(label)] += domain.volume(point);
  }
  for (std::size_t player = 0; player < partition.volumes.size(); ++player) {
    require(partition.volumes[player] > 0, "partition: player=", player,
            " (owns no point, so its value is 0 by definition). Number the players without gaps.");
  }
  return partition;
}

}  // namespace opshap
