#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "estimators/coalition_sampler.hpp"

namespace opshap {

/// A group of players with a coefficient of its own, each player once.
using Term = std::vector<int>;

/// When a term counts for a coalition.
enum class TermBasis {
  contained,   ///< T ⊆ S: unanimity games
  odd_common,  ///< |S∩T| odd: the Walsh functions χ_T(S) = (−1)^|S∩T| up to 1 − 2x; for pairs, |T| odd
};

/// Coefficients b_T of the terms that fit the targets best in weighted least squares, with Σ_T b_T = gain.
///
/// A term that counts is a member: the sample is written over again as one of coalitions of terms, and solved by KernelRegression.
/// `targets` as sample_targets gives them, [m]. Cost: that of KernelRegression for terms.size() players.
/// Throws InvalidArgument when the sample does not tell the terms apart, naming its rank; `who` starts the message.
std::vector<double> fit_terms(const CoalitionSample& sample, std::vector<double> targets, double gain,
                              std::span<const Term> terms, TermBasis basis, std::string_view who);

/// Σ_{T∋i} b_T/|T|, [players]: the Shapley values of Σ_T b_T·(T counts), in either basis.
///
/// The multiples of a Walsh function with |T| even are left out by both bases: their Shapley values are 0.
std::vector<double> shapley_values_of_terms(int players, std::span<const Term> terms,
                                            std::span<const double> coefficients);

}  // namespace opshap
