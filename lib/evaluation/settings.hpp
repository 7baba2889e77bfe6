#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/scenario.hpp"

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

}  // namespace opshap::evaluation
