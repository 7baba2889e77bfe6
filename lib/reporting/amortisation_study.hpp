#pragma once

#include <map>
#include <string>
#include <vector>

#include "reporting/evidence.hpp"
#include "runs/held_out_rows.hpp"

namespace opshap::reporting {

/// Recipes of the same training target, by name: recipe, family. A recipe that is not in it is a family of its own.
using RecipeFamilies = std::map<std::string, std::string>;

/// What a study of training targets found, from its rows.
///
/// `amortisation`: the error of the best recipe of each family against what its training cost in evaluations of the
/// operator and in time (medians over the seeds, with bands from the least to the largest) and against the resolution,
/// with tables of all recipes. `amortisation_FAMILY`: the same for the recipes of a family that has several, with what
/// each has of the error of the family's first one, with the same seed. `explanation_time`: the error of all methods
/// against the time of an explanation, without training and with a share of it. The best recipe has the least errors in
/// the geometric mean over the sizes. Rows of runs::own_player_missed stand beside the errors of the recipes.
///
/// `subject` says of which operator, in words. Throws InvalidArgument where no row is one of an explainer.
std::vector<Evidence> amortisation_study(const std::vector<runs::HeldOutRow>& rows, const RecipeFamilies& families,
                                         const std::string& subject);

}  // namespace opshap::reporting
