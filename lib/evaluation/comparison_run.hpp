#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/game.hpp"
#include "core/scenario.hpp"
#include "evaluation/certified_reference.hpp"
#include "evaluation/contest.hpp"
#include "reporting/method_comparison.hpp"
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

/// A comparison that has been run.
struct ComparisonRun {
  Truth truth;
  reporting::MethodComparison comparison;
};

/// Two games with the same one are the same game for all that a comparison is concerned with: v(∅), v(N) and some
/// others, as 8 hexadecimal digits.
std::string fingerprint(const Game& game);

/// Runs the plan, or what is left of it in `folder` (empty: nothing is stored). The folder gets truth.json,
/// results.jsonl (a row a run, written as they end), summary.md, tables/ and figures/. Truth, runs and intervals draw
/// from streams of their own of the plan's seed. `note` is added to the summary. Throws DataError for a folder with
/// broken files, and as compare_methods().
ComparisonRun run_comparison(ComparisonPlan plan, const ReferenceSettings& reference,
                             const std::filesystem::path& folder, const std::string& note);

/// What run_comparison() has left in a folder, whose rows may be packed; `seed` is that of its plan. Throws DataError
/// for a folder without truth.json or rows, and for broken ones.
ComparisonRun read_comparison(const std::filesystem::path& folder, std::uint64_t seed);

/// Runs a part of the plan, or what is left of it in its folder, which gets truth.json and results.jsonl for
/// runs::merge_parts(). Throws as run_comparison().
void run_part_of_comparison(ComparisonPlan plan, const runs::Part& part, const ReferenceSettings& reference,
                            const std::filesystem::path& folder);

}  // namespace opshap::evaluation
