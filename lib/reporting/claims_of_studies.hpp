#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reporting/claims.hpp"

namespace opshap::reporting {

/// What the convergence studies say of the theorems. The claims are of operators and games, not of a run, so they stand
/// beside the studies and not on the page of every run.
///
/// `folder` holds the CSV files that `tools/studies` writes. A claim whose file is not there is not testable. Throws
/// DataError for a file that is no study.
std::vector<JudgedClaim> judge_studies(const std::filesystem::path& folder);

/// The folder has the files of some study that judge_studies() reads.
bool has_studies(const std::filesystem::path& folder);

/// claims.json of the studies: as that of a run, with "profile" "studies", and "pde" and "commit" null.
std::string study_claims_json(const std::vector<JudgedClaim>& claims);

}  // namespace opshap::reporting
