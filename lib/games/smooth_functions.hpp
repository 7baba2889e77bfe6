#pragma once

#include <complex>
#include <memory>
#include <utility>
#include <vector>

#include "core/game.hpp"
#include "games/measure.hpp"

namespace opshap::games {

/// v(S) = Σ_r μ_r(S) ν_r(S) = ∬_{S×S} κ for the kernel κ = Σ_r μ_r ⊗ ν_r: μ₁μ₂, the square (L 1_S h)(x*)² of a linear
/// operator, its energy ∫(L 1_S h)².
///
/// φ_k = ½ Σ_r (μ_r(B_k) ν_r(Ω) + ν_r(B_k) μ_r(Ω)), and so are the Aumann–Shapley value and integrated gradients with
/// one node: no interaction involves more than two players, so nothing depends on the refinement. Throws
/// InvalidArgument for no terms, or measures of different cells.
std::unique_ptr<SolvedGame> bilinear_game(std::vector<std::pair<Measure, Measure>> terms);

inline constexpr int max_product_factors = 8;

/// v(S) = Π_l μ_l(S) for m measures of the same cells.
///
/// Shapley values from the mixed moments of the measures of a random coalition without k, integrated by a
/// Gauss–Legendre rule that is exact for them (Owen 1972). Cost: O(n 3^m m). Interactions of up to m players.
/// Aumann–Shapley value (1/m) Σ_l μ_l(B_k) Π_{l'≠l} μ_l'(Ω), equal to the Shapley value for m <= 2. Throws
/// InvalidArgument unless 1 <= m <= 8 and all measures have equally many cells.
std::unique_ptr<SolvedGame> product_of_measures(std::vector<Measure> factors);

inline constexpr int max_polynomial_degree = 30;

/// v(S) = Σ_p c_p μ(S)^p: powers of a measure, and with c = (0, 1, 0, c₃) the cubic functional ℓ + c₃ℓ³ of a linear
/// operator, ℓ(S) = (L 1_S h)(x*).
///
/// Shapley values from the moments of Σ_{j≠k} μ_j Bernoulli(t), integrated over t by a Gauss–Legendre rule that is
/// exact for their degree (the multilinear extension, Owen 1972); for μ³: μ_k(L² + (M₂ − Lμ_k)/2). Cost: O(n p³) for
/// degree p. Interactions of up to p players. Throws InvalidArgument for no coefficient, more than 31, or one that is
/// not finite.
std::unique_ptr<SolvedGame> polynomial_of_measure(const Measure& measure, std::vector<double> coefficients);

/// v(S) = Re e^{cμ(S)} − 1: growth for a real rate c, cos μ − 1 for c = i, and Π_{k∈S} (1+α_k) − 1 for μ_k =
/// log(1+α_k), c = 1.
///
/// φ_k = Re α_k ∫₀¹ Π_{j≠k} (1 + tα_j) dt with α_k = e^{cμ_k} − 1, by a Gauss–Legendre rule that is exact for the
/// polynomial or whose error is below rounding. Cost: O(n) per node, at most n/2 nodes. Interactions of all orders.
/// Throws InvalidArgument unless the rate is finite and Σ|α_k| <= 200, which keeps the values far from overflow.
std::unique_ptr<SolvedGame> exponential_of_measure(const Measure& measure, std::complex<double> rate);

}  // namespace opshap::games
