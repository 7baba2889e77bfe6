#include "core/partition.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/coalitions.hpp"
#include "core/error.hpp"

namespace opshap {

Partition Partition::one_player_per_point(const Domain& domain) {
  std::vector<std::int64_t> labels(static_cast<std::size_t>(domain.points()));
  for (std::size_t point = 0; point < labels.size(); ++point) labels[point] = static_cast<std::int64_t>(point);
  return from_labels(domain, labels);
}

Partition Partition::blocks(const Domain& domain, int players) {
  require(players >= 1, "partition: players=", players, " (needs at least one). Give a positive number of players.");
  int per_axis = players;
  if (domain.dimension() == 2) {
    per_axis = static_cast<int>(std::lround(std::sqrt(players)));
    require(per_axis * per_axis == players, "partition: players=", players,
            " (a square grid of blocks needs a square number). Use 4, 16, 64, ...");
  }
  for (const int points : domain.shape) {
    require(points % per_axis == 0, "partition: players=", players, " (", points,
            " points on an axis do not divide into ", per_axis, " equal blocks). Choose a divisor.");
  }
  const int columns = domain.shape.back();
  std::vector<std::int64_t> labels(static_cast<std::size_t>(domain.points()));
  for (std::size_t point = 0; point < labels.size(); ++point) {
    const int column = static_cast<int>(point) % columns;
    const int column_block = column / (columns / per_axis);
    if (domain.dimension() == 1) {
      labels[point] = column_block;
    } else {
      const int row = static_cast<int>(point) / columns;
      labels[point] = row / (domain.shape[0] / per_axis) * per_axis + column_block;
    }
  }
  return from_labels(domain, labels);
}

Partition Partition::from_labels(const Domain& domain, const std::vector<std::int64_t>& labels) {
  require(static_cast<std::int64_t>(labels.size()) == domain.points(), "partition: labels=", labels.size(),
          " (the grid has ", domain.points(), " points). Give one label per point.");
  const std::int64_t top = *std::max_element(labels.begin(), labels.end());
  const std::int64_t bottom = *std::min_element(labels.begin(), labels.end());
  require(bottom >= 0, "partition: label=", bottom, " (players are numbered from 0). Relabel the points.");
  require(top < Coalitions::max_players, "partition: label=", top, " (at most ", Coalitions::max_players,
          " players). Group more points.");
  Partition partition;
  partition.players = static_cast<int>(top) + 1;
  partition.volumes.assign(static_cast<std::size_t>(partition.players), 0.0);
  for (const std::int64_t label : labels) {
    partition.player_of.push_back(static_cast<int>(label));
    partition.volumes[static_cast<std::size_t>(label)] += domain.cell_volume();
  }
  for (std::size_t player = 0; player < partition.volumes.size(); ++player) {
    require(partition.volumes[player] > 0, "partition: player=", player,
            " (owns no grid point, so its value is 0 by definition). Number the players without gaps.");
  }
  return partition;
}

}  // namespace opshap
