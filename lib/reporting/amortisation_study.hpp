#pragma once

#include <string>
#include <vector>

#include "reporting/evidence.hpp"
#include "runs/held_out_rows.hpp"

namespace opshap::reporting {

/// What a study of training targets found, from its rows: the error of each recipe against what its training cost in
/// evaluations of the operator and in time (medians over the seeds, with bands from the least to the largest), its
/// error against the resolution, and the error of all methods against the time of an explanation, without training and
/// with a share of it.
///
/// `subject` says of which operator, in words. Throws InvalidArgument where no row is one of an explainer.
std::vector<Evidence> amortisation_study(const std::vector<runs::HeldOutRow>& rows, const std::string& subject);

}  // namespace opshap::reporting
