#pragma once

#include <optional>
#include <span>
#include <vector>

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

}  // namespace opshap::estimators
