#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/estimator.hpp"
#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::estimators {

/// Which orderings are averaged before errors are taken: an ordering alone, or together with its reverse.
enum class OrderingUnit { single, with_reverse };

/// Fills `ordering` with the index-th ordering of the players.
using OrderingSource = std::function<void(std::int64_t index, std::span<int> ordering)>;

/// The index-th ordering is drawn from the index-th stream of `rng`: a larger sample begins with the smaller one.
OrderingSource random_orderings(const Rng& rng);

/// The mean of the marginal contributions v(P ∪ i) − v(P), P the players before i, over `units` orderings (or pairs).
///
/// Asks the game for 2 coalitions and n−1 for each ordering, in batches of thousands. Standard errors are over units
/// and are there when units >= 2. Efficiency holds for every ordering, since the contributions telescope. n >= 2.
/// Source: Castro, Gómez, Tejada (2009), ApproShapley; pairs: Mitchell, Cooper, Frank, Holmes (2022).
Attribution mean_marginal_contributions(CountedGame& game, OrderingUnit unit, std::int64_t units,
                                        const OrderingSource& source);

}  // namespace opshap::estimators
