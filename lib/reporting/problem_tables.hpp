#pragma once

#include <vector>

#include "metrics/registry.hpp"
#include "reporting/scoreboard.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting::tables {

/// Runs on several problems, in the order of display.
using Problems = std::vector<const Scoreboard*>;

/// The median over the test inputs of every method on every grid on which one that samples coalitions was run: a row a
/// problem and grid, a column a method.
Table medians(const Problems& problems, const metrics::Metric& metric);
/// The wall time of every stage, a row a problem.
Table stages(const Problems& problems);

}  // namespace opshap::reporting::tables
