#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reporting/claims.hpp"
#include "reporting/comparison.hpp"
#include "reporting/page_parts.hpp"
#include "reporting/scoreboard.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

/// One run among those of several problems.
struct Chapter {
  std::unique_ptr<runs::Run> run;  ///< what `scores` refers to
  std::unique_ptr<Scoreboard> scores;
  std::vector<JudgedClaim> claims;
  std::vector<Comparison> comparisons;
  DrawnFigure example;      ///< one input, its solution and its attribution
  bool page_beside = true;  ///< whether the chapter's own page is in its folder
};

/// The runs of one profile on several problems.
struct Overview {
  std::string profile;
  std::vector<Chapter> chapters;        ///< in the order of display
  std::vector<std::string> unfinished;  ///< names of folders of runs that have no attributions yet
  std::vector<Table> medians;           ///< of every method, a table a metric
  Table stages;                         ///< what the runs took
};

/// The page over all: verdicts summed and by problem, the paper's table beside ours, every method on every problem, the
/// times, an input of each problem, and what is known of the paper's data. It links each chapter's own page,
/// `<pde>/report.html`, or `<pde>/claims.json` where there is no such page.
std::string overview_page(const Overview& overview);

}  // namespace opshap::reporting
