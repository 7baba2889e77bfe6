#pragma once

#include <complex>
#include <memory>

#include "core/game.hpp"
#include "core/rng.hpp"
#include "games/measure.hpp"

namespace opshap::games {

/// v(S) = Re e^{cμ(S)} − 1: growth for a real rate c, cos μ − 1 for c = i, and Π_{k∈S} (1+α_k) − 1 for μ_k =
/// log(1+α_k), c = 1.
///
/// φ_k = Re α_k ∫₀¹ Π_{j≠k} (1 + tα_j) dt with α_k = e^{cμ_k} − 1, by a Gauss–Legendre rule that is exact for the
/// polynomial or whose error is below rounding. Cost: O(n) per node, at most n/2 nodes. Interactions of all orders.
/// Throws InvalidArgument unless the rate is finite and Σ|α_k| <= 200, which keeps the values far from overflow.
std::unique_ptr<SolvedGame> exponential_of_measure(const Measure& measure, std::complex<double> rate);

/// A signed measure of total near ½ and a complex rate.
std::unique_ptr<Game> random_exponential_of_measure(int players, Rng& rng);

}  // namespace opshap::games
