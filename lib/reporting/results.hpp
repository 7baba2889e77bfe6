#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/measured.hpp"

namespace opshap::reporting {

/// A run folder: everything `opshap report` needs, and everything it writes.
///
///   manifest.json       what ran: command, profile and its resolved configuration, seed, commit, environment, departures from the paper, stage times
///   results.jsonl       one row an attribution or operator error (below); metrics only
///   training.jsonl      one row a training
///   attributions.jsonl  the attributions themselves, so that metrics can be recomputed
///   fields.jsonl        inputs, solutions and predictions that figures show
///   log.jsonl           when each stage began and ended
///   report.html claims.json figures/ tables/   written by `opshap report` from the files above alone
///
/// Each line of a .jsonl file is one JSON object with a "schema" key ("opshap.<row>/1").

/// One attribution of one input by one method, scored (schema opshap.attribution/1).
struct AttributionRow {
  std::string pde;          ///< "burgers1d"
  int players = 0;          ///< n, also the resolution in 1D
  std::int64_t sample = 0;  ///< index in the data set
  std::string
      method;  ///< registry name, or "operator_shap", "uniform" (the constant attribution (v(N)−v(∅))·volume share)
  std::string access;                  ///< "values", "gradient", "amortised", "none"
  std::optional<std::int64_t> budget;  ///< distinct coalitions allowed, where the method has a budget
  std::int64_t distinct = 0, evaluations = 0, gradients = 0;
  std::uint64_t seed = 0;
  double game_seconds = 0, estimator_seconds = 0;  ///< wall time
  Measured pearson, nrmse, r2, efficiency_gap;     ///< efficiency_gap = |Σφ − Δ| / max(|Δ|, ‖φ‖₁)
  std::string reference;                           ///< "exact", "certified", or "permutation_antithetic"
  double reference_error = 0;  ///< standard error of the reference, ‖se‖₂/‖φ_ref‖₂; 0 for exact
  std::int64_t reference_evaluations = 0;
};

/// The attribution behind a row, keyed by (pde, players, sample, method, budget) (schema opshap.values/1).
/// The reference itself is stored with method "reference".
struct ValuesRow {
  std::string pde;
  int players = 0;
  std::int64_t sample = 0;
  std::string method;
  std::optional<std::int64_t> budget;
  double empty = 0, grand = 0;
  std::vector<double> values;
  std::vector<double> standard_errors;  ///< [] where the method has none
};

/// How good the backbone is at one resolution (schema opshap.operator/1).
struct OperatorRow {
  std::string pde;
  int points = 0;                       ///< per axis
  std::vector<double> relative_errors;  ///< ‖prediction − solution‖₂/‖solution‖₂, one per test input
};

/// What training cost (schema opshap.training/1).
struct TrainingRow {
  std::string pde;
  std::string stage;  ///< "backbone" or "explainer"
  std::int64_t epochs = 0, best_epoch = 0;
  double best_validation = 0;
  std::int64_t operator_evaluations =
      0;  ///< forward passes of the backbone spent on coalition values; 0 for the backbone itself
  double seconds = 0;
};

/// One test input on its grid with its solution and the backbone's prediction (schema opshap.fields/1).
struct FieldsRow {
  std::string pde;
  std::int64_t sample = 0;
  std::vector<double> x, input, solution, prediction;
};

struct Results {
  std::vector<AttributionRow> attributions;
  std::vector<ValuesRow> values;
  std::vector<OperatorRow> operators;
  std::vector<TrainingRow> training;
  std::vector<FieldsRow> fields;
};

/// One line of JSON without the newline. Throws NumericalError for a number that is not finite: JSON has none.
std::string to_json_line(const AttributionRow& row);
std::string to_json_line(const ValuesRow& row);
std::string to_json_line(const OperatorRow& row);
std::string to_json_line(const TrainingRow& row);
std::string to_json_line(const FieldsRow& row);

/// The score of a row by a metric's registry name ("pearson", "nrmse", "r2", "efficiency_gap"). Throws InvalidArgument
/// for another name.
const Measured& score(const AttributionRow& row, std::string_view metric);

/// Reads results.jsonl, training.jsonl, attributions.jsonl and fields.jsonl of a run folder (files that are not there
/// are empty; any row may be in any of them). Rows that repeat a key keep the last one, in the place of the first.
/// Throws DataError naming file and line for a line it cannot read.
Results read_results(const std::filesystem::path& run);

}  // namespace opshap::reporting
