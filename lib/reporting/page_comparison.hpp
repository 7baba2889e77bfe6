#pragma once

#include <string>
#include <vector>

#include "metrics/registry.hpp"
#include "reporting/comparison.hpp"

namespace opshap::reporting {

/// Cells of the paper beside those of a run, of one problem.
struct ComparedProblem {
  std::string heading = {};  ///< above its rows; none where the page is about one problem
  const std::vector<Comparison>& comparisons;
  bool with_verdicts = true;
};

/// One metric of the paper's table: for every problem and n the paper's cells, ours and the verdicts. A problem without
/// a cell of this metric is left out.
std::string comparison_table(const std::vector<ComparedProblem>& problems, const metrics::Metric& metric);

/// The metrics of the paper's table, errors first: R² and correlations hide them at large n.
std::vector<metrics::Metric> compared_metrics(const std::vector<Comparison>& comparisons);

}  // namespace opshap::reporting
