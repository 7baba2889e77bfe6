#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/estimator.hpp"
#include "core/game.hpp"
#include "core/measured.hpp"
#include "estimators/registry.hpp"
#include "evaluation/cross_check.hpp"

namespace opshap::evaluation {

/// How well a reference must be known, and what it may cost.
struct ReferenceSettings {
  double relative_error = 0.01;  ///< ‖standard errors‖₂ / ‖values‖₂
  /// Forward equivalents of the game, those of discarded samples among them: an evaluation is 1, a reverse pass
  /// Extension::pass_cost().
  std::int64_t max_evaluations = std::int64_t{1} << 20;
  int exact_players = 16;  ///< up to here all coalitions are enumerated; at most 24
};

/// The estimators that make a reference. Another one in the place of one of them must give standard errors.
struct ReferenceEstimators {
  const Estimator& orderings = estimators::find("permutation_antithetic");
  const Estimator& regression = estimators::find("kernel_shap_paired");
  const Estimator& two_level = estimators::find("two_level");
};

/// One of the estimates that a reference is made from.
struct ReferenceEstimate {
  std::string method;  ///< registry name
  Attribution attribution;
};

/// What attributions are compared with, and how well it is known itself.
struct CertifiedReference {
  /// "exact"; "certified": two independent estimates agree, and this is their mean weighted by 1/variance; else the
  /// name of the first estimate: they do not agree, so one of them is wrong, and the first one is trusted.
  std::string method;
  /// Standard errors are always there, 0 for "exact". `evaluations` counts forward equivalents, as max_evaluations.
  Attribution attribution;
  /// ‖standard errors‖₂ / ‖values‖₂; undefined where the values are all 0 up to rounding.
  Measured error = Measured::of(0);
  double rounding = 0;  ///< what rounding alone may change a value by; in the standard errors already
  /// The error is what was asked for, or undefined; and the cross-check knows how many directions the larger one of the
  /// two errors has, without which it would see nothing.
  bool reached = true;
  bool only_rounding = false;  ///< the error is that of rounding, which no further coalition makes smaller
  std::optional<CrossCheck> cross_check = std::nullopt;  ///< none for "exact"
  /// The two estimates, orderings first; none for "exact". Their `evaluations` count the same.
  std::vector<ReferenceEstimate> estimates = {};
};

/// The fewest forward equivalents that give two estimates with standard errors.
std::int64_t minimum_reference_evaluations(const Game& game);

/// Exact Shapley values for few players, else two independent estimates with growing budgets until the error of their
/// weighted mean is what was asked for or the next step would exceed max_evaluations.
///
/// A game of values alone gets antithetic permutations and paired kernel regression. The two share no code between the
/// game and the result, err in different ways (orderings: only by chance; regression: also by a bias that vanishes with
/// its budget), and so check each other. Orderings are pooled over the steps; the regression starts anew, with half as
/// many evaluations as all orderings so far.
///
/// A game with slopes gets antithetic permutations and the two-level estimator, both pooled over the steps and both
/// unbiased at every budget. If they do not agree the permutations are trusted, as no slope has a part in them. Which
/// one is better depends on the game: on the cells of a neural operator mostly orderings up to 50 players, and the
/// two-level estimator beyond. Both begin with the same budget, and with four pairs of orderings at the least. Then the
/// one with the smaller product of variance and cost grows, and the other one is kept at a quarter of its cost.
///
/// So the check is weaker than the reference. With errors in d directions at the least it sees a wrong estimate every
/// other time when that is off by √(F − 1) times the two standard errors together, F the 1 − 10⁻⁴ quantile of Fisher's
/// law: about 1.2 of them for d = 40, 2 for d = 10, and 6 for a single direction. For many players the standard error
/// of four pairs is nearly all of it. Paired regression has no part here: it has no standard errors below six
/// evaluations a player, and at six its error is several times that of four pairs, which cost eight.
///
/// Enumeration is used for up to 24 players when it is cheaper than the next step. Memory: that of attribute() for the
/// largest step. A reference for 2^k times the game is 2^k times the reference for the game (core/game.hpp). Throws
/// InvalidArgument when max_evaluations is below minimum_reference_evaluations(), or n is beyond what the regression
/// can solve where it has a part (16384).
CertifiedReference certified_reference(const Game& game, const ReferenceSettings& settings, std::uint64_t seed,
                                       const ReferenceEstimators& estimators = {});

}  // namespace opshap::evaluation
