#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/estimator.hpp"
#include "estimators/coalition_sampler.hpp"
#include "estimators/least_squares.hpp"

namespace opshap::estimators {

/// A group of players with a coefficient of its own, each player once.
using Term = std::vector<int>;

/// When a term counts for a coalition.
enum class TermBasis {
  contained,   ///< T ⊆ S: unanimity games
  odd_common,  ///< |S∩T| odd: the Walsh functions χ_T(S) = (−1)^|S∩T| up to 1 − 2x; for pairs, |T| odd
};

struct TermFit {
  std::vector<double> coefficients;        ///< b_T, [terms]
  std::optional<MatrixRank> minimum_norm;  ///< where the sample does not determine them
};

/// Coefficients b_T of the terms that fit the targets best in weighted least squares, with Σ_T b_T = gain.
///
/// A term that counts is a member: the sample is written over again as one of coalitions of terms, and solved by
/// KernelRegression. `targets` as sample_targets gives them, [m]. Cost: that of KernelRegression for terms.size()
/// players. A sample that does not tell the terms apart is refused with InvalidArgument, naming its rank, `who` starts
/// the message; or answered with the least Σ b_T².
TermFit fit_terms(const CoalitionSample& sample, std::vector<double> targets, double gain, std::span<const Term> terms,
                  TermBasis basis, std::string_view who, Deficiency deficiency = Deficiency::refuse);

/// Σ_{T∋i} b_T/|T|, [players]: the Shapley values of Σ_T b_T·(T counts), in either basis.
///
/// The multiples of a Walsh function with |T| even are left out by both bases: their Shapley values are 0.
std::vector<double> shapley_values_of_terms(int players, std::span<const Term> terms,
                                            std::span<const double> coefficients);

}  // namespace opshap::estimators
