#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace opshap {

/// How many equations of a system are independent, and how many would determine its solution.
struct MatrixRank {
  int found = 0;
  int needed = 0;
  bool operator==(const MatrixRank&) const = default;
};

/// What each player contributed, and what it cost to find out.
///
/// Values are per cell (they add up to v(N) − v(∅) where the method is efficient), never densities; a density is value
/// / volume.
struct Attribution {
  std::vector<double> values;                          ///< [n]
  std::optional<std::vector<double>> standard_errors;  ///< [n], where the method has them
  /// Independent samples that the standard errors are made of, where they may be few: orderings. 0: not counted.
  std::int64_t error_samples = 0;
  double empty = 0;  ///< v(∅)
  double grand = 0;  ///< v(N)
  /// Where the sample does not determine the values: they are the minimum-norm solution of equations of this rank.
  std::optional<MatrixRank> minimum_norm;
  bool exact = false;  ///< equal to the Shapley value up to rounding, whatever the game

  std::int64_t distinct = 0;     ///< distinct coalitions evaluated, ∅ and N among them: what a budget limits
  std::int64_t evaluations = 0;  ///< coalitions asked for, repetitions included
  std::int64_t gradients = 0;    ///< reverse passes
  double game_seconds = 0;       ///< wall time inside the game
  double estimator_seconds = 0;  ///< wall time of everything else

  /// Σ values − (v(N) − v(∅)).
  double efficiency_gap() const;
};

}  // namespace opshap
