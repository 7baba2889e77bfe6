#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/attribution.hpp"
#include "core/estimator.hpp"
#include "core/game.hpp"
#include "evaluation/cross_check.hpp"

namespace opshap::evaluation {

/// How well a reference must be known, and what it may cost.
struct ReferenceSettings {
  double relative_error = 0.01;                          ///< ‖standard errors‖₂ / ‖values‖₂
  std::int64_t max_evaluations = std::int64_t{1} << 20;  ///< of the game, those of discarded samples among them
  int exact_players = 16;                                ///< up to here all coalitions are enumerated; at most 24
};

/// What attributions are compared with, and how well it is known itself.
struct CertifiedReference {
  /// "exact"; "certified": two independent estimates agree, and this is their mean weighted by 1/variance;
  /// "permutation_antithetic": they do not agree, so one of them is wrong, and this is the one that is unbiased at
  /// every budget.
  std::string method;
  Attribution attribution;  ///< standard errors are always there, 0 for "exact"
  double error = 0;         ///< ‖standard errors‖₂ / ‖values‖₂
  double rounding = 0;      ///< what rounding alone may change a value by; in the standard errors already
  bool reached = true;      ///< the error is what was asked for, or nothing but rounding
  std::optional<CrossCheck> cross_check = std::nullopt;  ///< none for "exact"
  std::optional<Attribution> orderings = std::nullopt,
                             regression = std::nullopt;  ///< the two estimates; none for "exact"
};

/// The fewest evaluations that give two estimates with standard errors.
std::int64_t minimum_reference_evaluations(int players);

/// Exact Shapley values for few players, else antithetic permutations and paired kernel regression, run independently
/// with growing budgets until the error of their weighted mean is what was asked for or the next step would exceed
/// max_evaluations.
///
/// The two share no code between the game and the result, err in different ways (orderings: only by chance; regression:
/// also by a bias that vanishes with its budget), and so check each other. Enumeration is used for up to 24 players
/// when it is cheaper than the next step. Orderings are pooled over the steps; the regression starts anew, with half as
/// many evaluations as all orderings so far. Memory: that of attribute() for the largest step. Throws InvalidArgument
/// when max_evaluations is below minimum_reference_evaluations(), or n is beyond what the regression can solve (16384).
CertifiedReference certified_reference(const Game& game, const ReferenceSettings& settings, std::uint64_t seed);

/// The same with another second estimator, which must give standard errors.
CertifiedReference certified_reference(const Game& game, const ReferenceSettings& settings, std::uint64_t seed,
                                       const Estimator& regression);

}  // namespace opshap::evaluation
