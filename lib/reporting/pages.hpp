#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reporting/claims.hpp"
#include "reporting/comparison.hpp"
#include "reporting/html.hpp"
#include "reporting/page_parts.hpp"
#include "reporting/scoreboard.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

/// One run, judged: alone, or among those of several problems.
struct Chapter {
  std::unique_ptr<runs::Run> run;  ///< what `scores` refers to
  std::unique_ptr<Scoreboard> scores;
  std::vector<JudgedClaim> claims;
  std::vector<Comparison> comparisons;
  DrawnFigure example;      ///< one input, its solution and its attribution; drawn among several problems alone
  bool page_beside = true;  ///< whether the chapter's own page is in its folder
};

/// All that the report of a run shows, ready to be set.
struct ReportContents {
  const Chapter& run;
  Table methods, backbone, outliers, reference, games, net, drift, cost, training;
  std::vector<DrawnFigure> figures;
};

/// report.html: one page that needs nothing else.
std::string page(const ReportContents& contents);

/// The runs of one profile on several problems.
struct Overview {
  std::string profile;
  std::vector<Chapter> chapters;        ///< in the order of display
  std::vector<std::string> unfinished;  ///< names of folders of runs that have no attributions yet
  std::vector<Table> medians;           ///< of every method, a table a metric
  Table stages;                         ///< what the runs took
  DrawnFigure amortisation;             ///< when training pays off, a panel a problem
};

/// The page over all: verdicts summed and by problem, the paper's table beside ours, every method on every problem,
/// when training pays off, the times, an input of each problem, and what is known of the paper's data. It links each
/// chapter's own page, `<pde>/report.html`, or `<pde>/claims.json` where there is no such page.
std::string overview_page(const Overview& overview);

/// What the first screen of a run's page says, a sentence each: the trained explainers, what needs no training, the
/// paper's columns, the verdicts, and what all of it rests on. A sentence that the rows have nothing for has no words.
Pairs summary(const Scoreboard& scores, const std::vector<JudgedClaim>& claims);

/// How many of some claims hold, and so on.
struct Tally {
  int reproduced = 0, not_reproduced = 0, undecided = 0;
  int better = 0;  ///< of those that are not reproduced, where the run is better than the sentence

  int judged() const { return reproduced + not_reproduced + undecided; }
  void add(const Judgement& judgement);
};
/// Of those of one source that are counted.
Tally tally(const std::vector<JudgedClaim>& claims, std::string_view source);
/// Of the rows of the paper's table.
Tally tally_of_table_rows(const std::vector<JudgedClaim>& claims);

/// What is decided by construction, the rows of the paper's table and the checks are counted nowhere.
bool is_counted(const Claim& claim);

/// The methods that need no training and are compared with explainers everywhere: mean field, integrated gradients,
/// antithetic orderings, the constant.
const std::vector<std::string>& untrained_methods();

/// On how many of the grids some method without training has a lower median NRMSE than every trained explainer.
struct UntrainedLead {
  int ahead = 0, grids = 0;
};
UntrainedLead untrained_lead(const Scoreboard& scores);

}  // namespace opshap::reporting
