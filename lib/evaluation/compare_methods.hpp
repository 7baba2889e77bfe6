#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/estimator.hpp"
#include "core/game.hpp"
#include "core/scenario.hpp"
#include "evaluation/certified_reference.hpp"
#include "evaluation/contest.hpp"
#include "methods/method.hpp"
#include "runs/part.hpp"
#include "runs/results.hpp"

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
  Contestants methods;
  std::vector<std::int64_t> budgets;
  int repeats = 10;
  std::uint64_t seed = 42;
  const Scenario* scenario = nullptr;  ///< the field behind the game; null for a game without one
};

/// Whether the method promises to be exact on games whose interactions involve at most so many players; 0: no bound is
/// known.
bool promises_exactness(const methods::Method& method, int interaction_order);

/// Runs every method at every budget `repeats` times (methods that do not use a budget once, the others with a seed for
/// each run), or a part of these runs, and hands each row to `store`. Returns all rows of the part, those in `done`
/// too, by method, budget and repeat.
///
/// Runs are one after the other, so that times can be compared. A method that cannot work at a budget keeps its rows,
/// with the reason in place of the scores, and so does a program that fails. Rows in `done` are left out: a comparison
/// that was stopped goes on where it was.
std::vector<runs::MethodRow> compare_methods(const ComparisonPlan& plan, const Truth& truth,
                                             const std::vector<runs::MethodRow>& done,
                                             const std::function<void(const runs::MethodRow&)>& store,
                                             const runs::Part& part = {});

}  // namespace opshap::evaluation
