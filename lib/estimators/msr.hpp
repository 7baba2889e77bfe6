#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/estimator.hpp"
#include "core/game.hpp"
#include "estimators/coalition_sampler.hpp"

namespace opshap::estimators {

/// n·Σ_rows w_S t_S (1[i∈S] − s/n), [n]: every coalition is used for every player (maximum sample reuse). Sums to 0
/// over the players.
///
/// With the values of a game as targets its mean is φ − Δ/n, by φ_i = Δ/n + n·Σ_{0<s<n} W_S v(S)(1[i∈S] − s/n),
/// whatever the sizes' law, as long as the sampler is without bias. Cost: O(m·n).
std::vector<double> reuse_sample(const CoalitionSample& sample, std::span<const double> targets);

/// The standard errors of reuse_sample for independent draws (Sampler::iid), from the spread between them, [n]. None
/// with fewer than two draws.
std::optional<std::vector<double>> reuse_errors(const CoalitionSample& sample, std::span<const double> targets);

/// What is subtracted from the values before they are averaged.
enum class Centring {
  empty_value,   ///< v(∅)
  equal_shares,  ///< v(∅) + sΔ/n, which every player has an equal part in: the mean stays, the variance falls
};

/// The attribution from budget − 2 independent draws of a size law (pairs count twice) and v(∅) and v(N). Exact where
/// all coalitions may be evaluated.
Attribution mean_over_draws(CountedGame& game, SizeMass mass, Pairing pairing, Centring centring, Rng& rng);

}  // namespace opshap::estimators
