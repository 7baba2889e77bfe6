#pragma once

#include <cstddef>
#include <cstdint>

#include "core/coalitions.hpp"
#include "core/field.hpp"
#include "core/operator.hpp"
#include "core/rng.hpp"
#include "games/partition_of_unity.hpp"

namespace opshap {

/// Fields of standard normal numbers.
FieldBatch random_field(const Domain& domain, int channels, Rng& rng, std::int64_t batch = 1);

/// Each point's player drawn independently; every player has a point.
Partition random_cells(const Domain& domain, int players, Rng& rng);

/// The empty and the grand coalition, then others with each player in or out by a fair coin.
Coalitions random_coalitions(int players, std::size_t count, Rng& rng);

/// One of the four kinds, with up to 9 masks: graded bumps, Gaussians on scattered points, smoothed random cells, or
/// random values that add up to 1.
games::PartitionOfUnity random_partition_of_unity(const Domain& domain, Rng& rng);

}  // namespace opshap
