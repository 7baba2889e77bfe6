#pragma once

#include <memory>
#include <vector>

#include "core/game.hpp"

namespace opshap::games {

/// Where and when the solution of u_t + u u_x = ν u_xx on the whole line is read, and what it starts from.
struct BurgersProblem {
  std::vector<double> edges;    ///< [n+1], increasing; the initial field is 0 outside
  std::vector<double> heights;  ///< [n], the initial field in each cell
  double viscosity = 0.1, time = 0.5, query = 0.5;
};

/// v(S) = u(x*, t) started from the cells in S: a smooth nonlinear operator with a closed form (Hopf 1950, Cole 1951).
///
/// u(x, t) is the mean of the initial field u₀ under the density ∝ exp(−Φ(y)/2ν), Φ(y) = (x−y)²/2t + ∫_{−∞}^y u₀: an
/// integral of Gaussians over each cell. Cost: O(n) a coalition, no special functions. Gradients are of f(a) = u(x*, t)
/// started from Σ a_k height_k 1_k, analytic, O(n) a node. Throws InvalidArgument unless edges increase, there is a
/// height a cell, viscosity and time are positive and all is finite.
std::unique_ptr<Game> burgers_game(BurgersProblem problem);

}  // namespace opshap::games
