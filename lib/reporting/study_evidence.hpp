#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reporting/evidence.hpp"
#include "runs/results.hpp"

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

/// One test input's reference in the rows of a run, and the one that was computed again with the run's seed.
struct ReferenceAgreement {
  std::vector<int> shape;  ///< points per axis
  int players = 0;
  std::int64_t sample = 0;
  std::string kind_then, kind_now;  ///< AttributionRow::reference
  std::int64_t evaluations_then = 0, evaluations_now = 0;
  /// |now − then| / then of the reference's own relative error; 0 where both are 0 or undefined, infinite where one is.
  double error_difference = 0;
  /// The same of the uniform attribution's NRMSE against the reference, which depends on every one of its values.
  double uniform_difference = 0;

  /// The same kind and the same evaluations, and the other two agree in the three digits that reports show.
  bool agrees() const;
};

/// The agreement of all inputs in the order of the rows `now`, by the rows of the uniform attribution, which every run
/// has. Throws DataError for an input that one of the two does not have.
std::vector<ReferenceAgreement> agreement_of_references(const runs::Results& then, const runs::Results& now);

/// The largest |now − then| / then of the backbone's relative errors over all grids and test inputs: whether the
/// operator and the data set are those of the run. 0 where both are 0 or undefined, infinite where one is. Throws
/// DataError when the grids or the numbers of inputs differ.
double largest_difference_of_backbones(const std::vector<runs::OperatorRow>& then,
                                       const std::vector<runs::OperatorRow>& now);

/// The agreement in words and by grid, with every input that does not agree.
Evidence evidence_of_references(const std::vector<ReferenceAgreement>& agreement, double backbone_difference,
                                const std::string& subject);

}  // namespace opshap::reporting
