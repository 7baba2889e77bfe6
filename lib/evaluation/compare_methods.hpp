#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/estimator.hpp"
#include "core/game.hpp"
#include "evaluation/certified_reference.hpp"
#include "reporting/method_rows.hpp"

namespace opshap::evaluation {

/// What attributions of one game are compared with.
struct Truth {
  std::string method;          ///< "closed form", or that of certified_reference()
  std::vector<double> values;  ///< [n]
  double error = 0;            ///< ‖standard errors‖₂/‖values‖₂; 0 for "closed form" and "exact"
  double rounding = 0;         ///< the NRMSE that rounding alone may make of a right attribution
};

/// The game's own closed form, else certified_reference().
Truth truth_of(const Game& game, const ReferenceSettings& settings, std::uint64_t seed);

/// One game, and who is to be compared on it.
struct ComparisonPlan {
  const Game& game;
  std::string name;           ///< of the game, for the rows
  int interaction_order = 0;  ///< no interaction of the game involves more players; 0 when no bound is known
  std::vector<std::string> methods;
  std::vector<std::int64_t> budgets;
  int repeats = 10;
  std::uint64_t seed = 42;
  bool minimum_norm = false;  ///< least-squares methods answer samples of too low a rank with minimum-norm solutions
};

/// Whether the method promises to be exact on games whose interactions involve at most so many players; 0: no bound is known.
bool promises_exactness(const Guarantees& guarantees, int interaction_order);

/// Runs every method at every budget `repeats` times (methods that do not use a budget once, the others with a seed for each run) and hands each row to `store`.
///
/// Runs are one after the other, so that times can be compared. A method that cannot work at a budget keeps its rows, with the reason in place of the
/// scores. Rows in `done` are left out: a comparison that was stopped goes on where it was. Throws InvalidArgument for an unknown method before any run.
void compare_methods(const ComparisonPlan& plan, const Truth& truth, const std::vector<reporting::MethodRow>& done,
                     const std::function<void(const reporting::MethodRow&)>& store);

}  // namespace opshap::evaluation
