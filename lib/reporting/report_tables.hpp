#pragma once

#include <vector>

#include "metrics/registry.hpp"
#include "reporting/comparison.hpp"
#include "reporting/scoreboard.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting::tables {

/// One row a cell of the paper: n, metric, method, paper, ours, difference of the medians, verdict.
Table paper_comparison(const std::vector<Comparison>& comparisons);
/// Every method at the budget of the tables, all metrics.
Table methods(const Scoreboard& scores);
/// The same and the efficiency gap at every budget as bare numbers, one row a metric: for programs.
Table quality(const Scoreboard& scores);
/// The backbone's relative error at every resolution.
Table backbone(const Scoreboard& scores);
/// Inputs on which the backbone or a trained explainer is far worse than on the others, with the cause as far as the
/// rows hold it.
Table outliers(const Scoreboard& scores);
/// What the reference is at every n, what it cost and how well it is known.
Table reference(const Scoreboard& scores);
/// The NRMSE of every method without what the reference's own error adds to it.
Table net_of_the_reference(const Scoreboard& scores);
/// How far the trained explainers' answers depend on the grid; without rows where the run has none.
Table drift(const Scoreboard& scores);
/// Players that change anything, and how far the baseline is from the data; without rows for runs of before.
Table games(const Scoreboard& scores);
/// Evaluations, reverse passes and wall time of one attribution.
Table cost(const Scoreboard& scores);
/// What was trained, at what cost.
Table training(const Scoreboard& scores);

/// Runs on several problems, in the order of display.
using Problems = std::vector<const Scoreboard*>;

/// The median over the test inputs of every method on every grid on which one that samples coalitions was run: a row a
/// problem and grid, a column a method.
Table medians(const Problems& problems, const metrics::Metric& metric);
/// The wall time of every stage, a row a problem.
Table stages(const Problems& problems);

}  // namespace opshap::reporting::tables
