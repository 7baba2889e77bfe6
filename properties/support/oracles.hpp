#pragma once

#include <vector>

#include "support/generators.hpp"

namespace opshap {

/// φ_i = Σ_{S∌i} s!(n−1−s)!/n! (v(S∪i) − v(S)), as written by Shapley (1953). O(n 2^n).
std::vector<double> textbook_shapley_values(const Table& table);

/// The mean marginal contribution over all n! orderings. n <= 7.
std::vector<double> shapley_values_by_orderings(const Table& table);

/// Σ_{T∋i} c_T/|T| with the Möbius coefficients c (Harsanyi's dividends). Cancellation grows like 2^n.
std::vector<double> shapley_values_by_dividends(const Table& table);

/// The Shapley kernel of all coalitions of a size together, 1/(s(n−s)).
double kernel(int players, int size);

/// 1 + 1/2 + … + 1/n.
double harmonic_number(int n);

/// C(n, k), exact for n <= 40: rounded from logarithms of the gamma function.
double binomial(int n, int k);

}  // namespace opshap
