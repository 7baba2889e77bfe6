#pragma once

#include <string>
#include <vector>

#include "reporting/claims.hpp"

namespace opshap::reporting {

/// The claims of a run as parts of its page. Every text that is not ours is escaped.

/// The first screen in three sentences: what of the paper holds, what does not, what this suite adds.
std::string three_sentences(const std::vector<JudgedClaim>& claims);
/// How many claims have each verdict: a row for the paper's sentences, and one for our own checks.
std::string claim_counts(const std::vector<JudgedClaim>& claims);
/// Every claim with its rule, its verdict and its evidence.
std::string claims_section(const std::vector<JudgedClaim>& claims, const runs::Run& run);

}  // namespace opshap::reporting
