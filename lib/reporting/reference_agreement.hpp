#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reporting/evidence.hpp"
#include "runs/results.hpp"

namespace opshap::reporting {

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
