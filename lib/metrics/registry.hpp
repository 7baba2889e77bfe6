#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/coalitions.hpp"
#include "core/estimator.hpp"
#include "core/measured.hpp"
#include "metrics/scores.hpp"

namespace opshap::metrics {

enum class Better { higher, lower };
/// What a table says of a metric over the inputs.
enum class Shown { median, largest };

/// What an attribution is scored by.
struct Scored {
  const Attribution& attribution;
  std::span<const double> reference;       ///< the reference's values
  const Coalitions* coalitions = nullptr;  ///< those that R² is measured on; nullptr: there are none
  std::span<const double> gains = {};      ///< v(S) − v(∅) on them
};

/// A score, and what it means for readers of tables.
struct Metric {
  std::string_view name;    ///< registry key and column of results.jsonl
  std::string_view symbol;  ///< heading of a table column
  std::string_view range;   ///< "[-1, 1]"
  Better better = Better::higher;
  double tolerance = 0;         ///< medians of two trainings that differ by less count as equal
  std::string_view definition;  ///< the formula in words, and when there is no value
  Measured (*score)(const Scored& scored) = nullptr;
  bool needs_coalitions = false;
  Shown shown = Shown::median;
};

/// All registered metrics, in the order of registry.def.
const std::vector<Metric>& all();
/// Throws InvalidArgument naming the nearest one.
const Metric& find(std::string_view name);

/// All of them with the NRMSE first, as tables have them.
const std::vector<Metric>& in_tables();

/// Every metric of the attribution; those that need coalitions only where there are some.
Scores score(const Scored& scored);
/// Of an attribution that is not there: why, for each metric that would have been asked.
Scores no_scores(const std::string& why, bool with_coalitions);

/// Sample correlation over the players. Undefined when either vector is constant (to rounding), so always for one
/// player. [n], [n].
Measured pearson(std::span<const double> reference, std::span<const double> estimate);

/// ‖estimate − reference‖₂ / ‖reference‖₂. Undefined for a zero reference, unless the estimate is zero too (then 0).
/// [n], [n].
Measured nrmse(std::span<const double> reference, std::span<const double> estimate);

/// 1 − Σ(g_S − Σ_{i∈S} φ_i)² / Σ(g_S − ḡ)² over given coalitions, where g_S = v(S) − v(∅). Undefined when all g_S are
/// equal (to rounding).
///
/// The paper's "faithfulness (weighted R²)": its weights are the law the coalitions are drawn from, the Shapley kernel,
/// with replacement. Whoever compares methods draws the coalitions once and shares them. Shapes: values [n], coalitions
/// [B, n], gains [B]. Cost: one pass over the members of all coalitions.
Measured weighted_r2(std::span<const double> values, const Coalitions& coalitions, std::span<const double> gains);

/// |Σφ − Δ| / max(|Δ|, ‖φ‖₁) with Δ = v(N) − v(∅); 0 when Δ and all φ are 0.
Measured efficiency_gap(const Attribution& attribution);

}  // namespace opshap::metrics
