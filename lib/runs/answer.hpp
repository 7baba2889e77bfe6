#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "metrics/scores.hpp"

namespace opshap::runs {

/// What one method answered to one question: who was asked, what the answer cost, and how right it is. Rows of
/// evaluations and of comparisons have it in common.
struct Answer {
  /// Registry name of an estimator; or "operator_shap", "uniform" (the constant attribution (v(N)−v(∅))·volume share),
  /// "peer:NAME".
  std::string method;
  std::optional<std::string> explainer;  ///< the name of its weights, where the method is a trained explainer
  std::string access;                    ///< "values", "gradient", "amortised", "none"
  std::optional<std::int64_t> budget;    ///< distinct coalitions allowed; none for methods without a budget
  std::uint64_t seed = 0;                ///< 0 where the method draws nothing
  std::int64_t distinct = 0, evaluations = 0, gradients = 0;
  double game_seconds = 0;       ///< wall time inside the game
  double estimator_seconds = 0;  ///< wall time of sampling and solving
  metrics::Scores scores;        ///< or why there are none
};

}  // namespace opshap::runs
