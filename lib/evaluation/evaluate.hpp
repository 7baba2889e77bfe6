#pragma once

#include <cstdint>
#include <filesystem>

#include "core/explainer.hpp"
#include "core/operator.hpp"
#include "data/dataset.hpp"
#include "evaluation/settings.hpp"

namespace opshap::evaluation {

/// What is to be scored against what.
struct Evaluation {
  const Operator& backbone;
  const Explainer& explainer;
  const data::Dataset& data;
  EvaluationSettings settings;
  std::uint64_t seed = 42;
};

/// Scores the explainer, the uniform attribution and every method of the settings on the first test inputs, at every resolution, and writes
/// results.jsonl, attributions.jsonl and fields.jsonl into `run` (layout: reporting/results.hpp). Players are the grid points, the baseline is zero, the
/// query is the centre of the domain.
///
/// One (resolution, input) is a unit: its rows go into a file of their own in run/units, in one step, and units already there are skipped, so an evaluation
/// that was stopped or killed resumes. The files above grow by whole resolutions: what `opshap report` sees of an unfinished evaluation has all its inputs.
/// When all are done run/units goes, and nothing is evaluated again. A method that cannot work at a budget (a rank-deficient design, say) keeps its row, with the reason in place of the scores.
/// The coalitions of R² are drawn once per (resolution, input) and shared by all methods; no method sees them.
void evaluate(const Evaluation& evaluation, const std::filesystem::path& run);

}  // namespace opshap::evaluation
