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
  /// Forward equivalents of the game: an evaluation is 1, a reverse pass Extension::pass_cost().
  std::int64_t max_evaluations = std::int64_t{1} << 20;
  int exact_players = 16;  ///< up to here all coalitions are enumerated; at most 24
};

/// Which method makes references, by number. Whatever is computed from references of another one is other work
/// (runs::Units). 1: the regression began anew at each step, and there was no witness.
inline constexpr int reference_recipe = 2;

/// estimators::paired_regression().
const Estimator& reference_regression();
/// diagonal_second_order with at most eight nodes.
const Estimator& reference_witness();

/// The estimators that make a reference, by what they do in it.
struct ReferenceEstimators {
  /// Without bias, with standard errors.
  const Estimator& orderings = estimators::find("permutation_antithetic");
  /// Of games of values alone: without bias, and linear in the game.
  const Estimator& regression = reference_regression();
  /// Of games with slopes: without bias, with standard errors.
  const Estimator& two_level = estimators::find("two_level");
  /// Of games with slopes: with Attribution::second_order.
  const Estimator& slopes_witness = reference_witness();
  /// Of games of values alone, where the two estimates do not agree.
  const Estimator& values_witness = estimators::find("odd_shap");
};

/// One of the estimates that a reference is made from.
struct ReferenceEstimate {
  std::string method;  ///< registry name
  Attribution attribution;
};

/// A third estimate, which is no part of the values: it has a bias that nobody knows.
struct Witness {
  std::string method;  ///< registry name
  Attribution attribution;
  /// What its values may be off by, relative to their norm, as the method says; none where it says nothing.
  std::optional<double> error_bar = std::nullopt;
  double distance = 0;  ///< ‖its values − the reference's‖₂
  /// The distance is at most three times the error bar and the reference's standard errors together. Without an error
  /// bar: its values are at most half as far from the reference's as from those of the estimate that is not trusted.
  bool agrees = false;
};

/// What attributions are compared with, and how well it is known itself.
struct CertifiedReference {
  /// "exact"; "certified": two independent estimates agree, and this is their mean weighted by 1/variance; else the
  /// name of an estimate: they do not agree, so one of them is wrong. The first one is trusted, or the second one where
  /// the witness's values are at most half as far from it as from the first.
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
  /// The two estimates, orderings first; none for "exact". Their `evaluations` count the same. The attribution's are
  /// those of the two, of the witness, and of an estimate that was left behind.
  std::vector<ReferenceEstimate> estimates = {};
  /// None for "exact", where nobody was asked, and where the method has no answer.
  std::optional<Witness> witness = std::nullopt;
};

/// The fewest forward equivalents that give two estimates with standard errors.
std::int64_t minimum_reference_evaluations(const Game& game);

/// Exact Shapley values for few players, else two independent estimates with growing budgets until the error of their
/// weighted mean is what was asked for or the next step would exceed max_evaluations. Both are without bias at every
/// budget and pooled over the steps.
///
/// One estimate is by antithetic permutations. The other one is the two-level estimator where the game has slopes, and
/// paired regression where it has values alone. The two share no code between the game and the result, and so check
/// each other. Regression works on the game less the reference of the step before, which takes its bias away
/// (estimators::paired_regression()). Which estimate is better depends on the game. On the cells of a neural operator
/// it is mostly orderings up to 50 players, and the two-level estimator beyond. Of games of values alone it is mostly
/// regression, by up to six times, and orderings where few players make a large difference. Both begin with the same
/// budget, and with four pairs of orderings at the least. Then the one with the smaller product of variance and cost
/// grows, and the other one is kept at a quarter of its cost. Where that are orderings though the game has slopes, and
/// they have to grow by more than four times what the two-level estimator has cost, the slopes tell too little: that
/// estimate is left behind, and the game is one of values alone from there on. What it has cost stays part of the cost.
///
/// So the check is weaker than the reference. With errors in d directions at the least it sees a wrong estimate every
/// other time when that is off by √(F − 1) times the two standard errors together, F the 1 − 10⁻⁴ quantile of Fisher's
/// law: about 1.2 of them for d = 40, 2 for d = 10, and 6 for a single direction. For many players the standard error
/// of four pairs is nearly all of it.
///
/// A game with slopes gets a witness too where its cost is at most a quarter of what is left after the first step:
/// `diagonal_second_order` with up to eight nodes, which shares no estimate with the two. Where it agrees with the
/// reference and its own error bar is at most the error that is asked for, the check is as strong as it has to be and
/// grows no further. A game of values alone gets `odd_shap` as a witness where the two estimates do not agree, to tell
/// which one is right. Its budget is that of the first step of the two.
///
/// Enumeration is used for up to 24 players when it is cheaper than the next step. Memory: that of attribute() for the
/// largest step. A reference for 2^k times the game is 2^k times the reference for the game (core/game.hpp). Throws
/// InvalidArgument when max_evaluations is below minimum_reference_evaluations().
CertifiedReference certified_reference(const Game& game, const ReferenceSettings& settings, std::uint64_t seed,
                                       const ReferenceEstimators& estimators = {});

}  // namespace opshap::evaluation
