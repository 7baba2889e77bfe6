#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/operator.hpp"
#include "data/dataset.hpp"
#include "evaluation/contest.hpp"
#include "evaluation/settings.hpp"
#include "methods/method.hpp"
#include "runs/part.hpp"
#include "runs/results.hpp"

namespace opshap::evaluation {

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
