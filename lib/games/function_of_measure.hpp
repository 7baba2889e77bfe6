#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/game.hpp"
#include "games/measure.hpp"

namespace opshap::games {

/// What is used of a function f: R → R in a game v = f∘μ.
struct ScalarFunction {
  std::function<double(double)> value;
  std::function<double(double)> slope;  ///< f', almost everywhere
  bool absolutely_continuous =
      true;  ///< f is the integral of its slope: then f∘μ is in pNA (Aumann and Shapley 1974, theorem C)
  bool smooth_at_ends = true;  ///< near 0 and μ(Ω)
};

/// v(S) = f(μ(S)) for one measure μ; the Shapley values are what `shapley_values` finds, since they depend on f.
///
/// The extension is f(Σ a_i μ_i), with gradient μ_i f'(tL) on the diagonal, L = μ(Ω); a jump of f is invisible to it.
/// The Aumann–Shapley value is μ_i (f(L) − f(0))/L, and the discretisation error μ_i (M₂/L − μ_i) C/L with M₂ = Σ μ_j²
/// and C = ½(f'(0) + f'(L)) − (f(L) − f(0))/L, the error of the trapezoidal rule on f'. Uniform cells have none, by
/// symmetry.
std::unique_ptr<SolvedGame> function_of_measure(Measure measure, ScalarFunction f,
                                                std::function<std::vector<double>()> shapley_values);

}  // namespace opshap::games
