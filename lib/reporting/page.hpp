#pragma once

#include <string>
#include <vector>

#include "reporting/claims.hpp"
#include "reporting/comparison.hpp"
#include "reporting/page_parts.hpp"
#include "reporting/scoreboard.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

/// All that a report shows, ready to be set.
struct ReportContents {
  const Scoreboard& scores;
  std::vector<JudgedClaim> claims;
  std::vector<Comparison> comparisons;
  Table methods, backbone, outliers, reference, games, net, drift, cost, training;
  std::vector<DrawnFigure> figures;
};

/// report.html: one page that needs nothing else. Every text that is not ours is escaped.
std::string page(const ReportContents& contents);

}  // namespace opshap::reporting
