#pragma once

#include <memory>
#include <vector>

#include "core/game.hpp"
#include "core/rng.hpp"
#include "games/measure.hpp"

namespace opshap::games {

inline constexpr int max_polynomial_degree = 30;

/// v(S) = Σ_p c_p μ(S)^p: powers of a measure, and with c = (0, 1, 0, c₃) the cubic functional ℓ + c₃ℓ³ of a linear
/// operator, ℓ(S) = (L 1_S h)(x*).
///
/// Shapley values from the moments of Σ_{j≠k} μ_j Bernoulli(t), integrated over t by a Gauss–Legendre rule that is
/// exact for their degree (the multilinear extension, Owen 1972); for μ³: μ_k(L² + (M₂ − Lμ_k)/2). Cost: O(n p³) for
/// degree p. Interactions of up to p players. Throws InvalidArgument for no coefficient, more than 31, or one that is
/// not finite.
std::unique_ptr<SolvedGame> polynomial_of_measure(const Measure& measure, std::vector<double> coefficients);

/// A signed measure and a polynomial of degree 3 with a constant term.
std::unique_ptr<Game> random_polynomial_of_measure(int players, Rng& rng);

}  // namespace opshap::games
