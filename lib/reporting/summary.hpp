#pragma once

#include <string>
#include <vector>

#include "reporting/claims.hpp"
#include "reporting/scoreboard.hpp"

namespace opshap::reporting {

/// What the first screen of a run's page says, a sentence each, in HTML: the trained explainers, what needs no
/// training, the paper's columns, the verdicts, and what all of it rests on. A sentence that the rows have nothing for
/// is left out.
std::vector<std::string> summary(const Scoreboard& scores, const std::vector<JudgedClaim>& claims);

/// How many of some claims hold, and so on.
struct Tally {
  int reproduced = 0, not_reproduced = 0, undecided = 0;
  int better = 0;  ///< of those that are not reproduced, where the run is better than the sentence

  int judged() const { return reproduced + not_reproduced + undecided; }
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
