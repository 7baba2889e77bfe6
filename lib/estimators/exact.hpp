#pragma once

#include <vector>

#include "core/estimator.hpp"
#include "core/game.hpp"

namespace opshap::estimators {

/// φ from the values of all 2^n coalitions, index bit i = player i.
///
/// φ_i = Δ/n + Σ_S g(S)(1[i∈S] − s/n) with Δ = v(N) − v(∅), g(S) = (v(S) − v(∅) − Δs/n)/(C(n,s)·s(n−s)/n) and g = 0 for
/// ∅ and N (the kernel form of Charnes et al. 1988). The n sums Σ_{S∋i} g(S) come from folding the table in half n
/// times: the upper half's sum belongs to the highest player. Cost: about 2·2^n additions in all, not n·2^n; one table.
/// The folds add in pairs, so rounding errors grow with n, not with 2^n.
std::vector<double> shapley_values_of_table(std::vector<double> table);

/// True when every coalition may be evaluated and there are few enough of them: then any method's best answer is the
/// exact one.
bool can_enumerate(const CountedGame& game);

/// The exact attribution by enumeration. Throws InvalidArgument for more than 24 players.
Attribution enumerate_all(CountedGame& game);

}  // namespace opshap::estimators
