#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/domain.hpp"
#include "core/measured.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"
#include "data/dataset.hpp"
#include "evaluation/contest.hpp"
#include "methods/method.hpp"
#include "runs/part.hpp"
#include "runs/results.hpp"

namespace opshap::evaluation {

/// One set of error-against-budget curves: every sampling method at every budget on the first `inputs` test inputs.
struct BudgetCurve {
  int players = 16;
  std::vector<std::int64_t> budgets;
  int inputs = 4;
};

/// What is evaluated, and how well the reference must be known.
struct EvaluationSettings {
  ScenarioRule scenario;  ///< how an input at a resolution becomes a game
  std::vector<Resolution> resolutions;
  /// Those that no training input had. Inputs come there by interpolated(). Only trained explainers and
  /// the uniform attribution are scored.
  std::vector<Resolution> unseen;
  int inputs = 30;  ///< test inputs
  std::vector<std::string>
      methods;  ///< registry names of estimators; the explainer and the uniform attribution are always there
  std::int64_t minimum_budget = 1024;  ///< sampling methods get max(2n, this), as the paper's table
  std::int64_t faithfulness_coalitions = 10000;
  int exact_players = 16;         ///< up to here the reference is exact
  double reference_error = 0.01;  ///< else certified_reference() runs until ‖se‖₂/‖φ‖₂ is at most this …
  /// … or so many forward equivalents are spent (or the fewest it can do with); the error reached is stored and shown
  std::int64_t reference_budget = 16384;
  std::vector<BudgetCurve> curves;
};

/// |φ_own|/‖φ‖₂ of Shapley values [n], where "own" is the player that holds the query's point, or those that hold the
/// points of a target: the NRMSE of an answer that is right but for a 0 there. Undefined where all values are 0.
///
/// As cells become finer the values of the other players vanish, and what an operator does point by point stays with
/// this one. A density without an atom cannot say it.
Measured own_share(std::span<const double> values, const Scenario& scenario);

/// How many players change anything (opshap::active_players). The others have the value 0 in every game of this input.
int count_active_players(const Scenario& scenario);

/// How far a baseline is from the data, channel by channel: the largest |baseline − mean|/standard deviation over the
/// points, with mean and deviation of all values of the inputs in this channel. A channel that does not vary has 0.
///
/// A hidden cell of a channel that is far from the data is a field that the operator has never seen; then a game is
/// more about this than about the input. One scenario at the least, all of them with the same number of channels.
std::vector<double> baseline_distances(std::span<const Scenario> scenarios);

/// How far an answer depends on the grid: the relative distance ‖d − d'‖₂/‖d'‖₂ of two densities of one field, on a
/// grid and on a finer one that has its points, at the points of the former.
///
/// The explained point is left out where there is one, and so is a constant, which the normalisation to v(N) − v(∅)
/// sets. 0 where the answer does not depend on the grid, and undefined where the finer density alone is constant.
/// `readout` is of the coarse grid. Throws InvalidArgument unless the sizes fit and the finer grid has the points of
/// the coarse one.
Measured drift(std::span<const double> density, const Domain& domain, std::span<const double> finer,
               const Domain& finer_domain, const Readout& readout);

/// What is to be scored against what.
struct Evaluation {
  const Operator& backbone;
  Contestants explainers;  ///< trained for this backbone
  const data::Dataset& data;
  EvaluationSettings settings;
  std::uint64_t seed = 42;
  /// What decides the rows, as text. Units of a stopped evaluation with another one are not taken over.
  std::string identity = {};
};

/// The programs among the methods of the settings, by name, with their checksums. A run with another version of one of
/// them is another run.
std::map<std::string, std::string> programs(const EvaluationSettings& settings);

/// How good the backbone is on the test inputs, a row for each resolution.
std::vector<runs::OperatorRow> backbone_errors(const Evaluation& evaluation);

/// Scores the explainers, the uniform attribution and every method of the settings on the first test inputs, at every
/// resolution, and writes results.jsonl, attributions.jsonl and fields.jsonl into `run` (layout:
/// reporting/results.hpp). The scenario rule of the settings says who plays, what hides a player and which output is
/// explained.
///
/// One (resolution, input) is a unit: its rows go into a file of their own in run/units, in one step, and units already
/// there are skipped, so an evaluation that was stopped or killed resumes. The files above grow by whole resolutions:
/// what `opshap report` sees of an unfinished evaluation has all its inputs. When all are done run/units goes, and
/// nothing is evaluated again. A method that cannot work at a budget (a rank-deficient design, say) keeps its row, with
/// the reason in place of the scores. The coalitions of R² are drawn once per (resolution, input) and shared by all
/// methods; no method sees them.
///
/// A part (runs/part.hpp), whose `run` is its own folder, does every part.of-th unit and leaves them in run/units, for
/// runs::merge_parts(). The rows are the same for any number of parts, but for times.
void evaluate(const Evaluation& evaluation, const std::filesystem::path& run, const runs::Part& part = {});

}  // namespace opshap::evaluation
