#pragma once

#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/measured.hpp"
#include "data/dataset.hpp"
#include "evaluation/held_out.hpp"

namespace opshap::cli {

/// What a training ends with, at one resolution: the error of the explainer, and that of the mean field beside it,
/// which needs no training.
struct HeldOutScore {
  evaluation::HeldOutErrors errors;  ///< empty where the Shapley values of all inputs are 0
  statistics::Interval interval;     ///< of the median
  /// Median NRMSE of the method mean_field on the same inputs; undefined with the reason where there is none.
  Measured mean_field;

  bool any() const { return !errors.nrmse.empty(); }
  int inputs() const { return static_cast<int>(errors.nrmse.size()) + errors.left_out; }
};

/// The test inputs of a data set, or the first `most` of them.
FieldBatch test_inputs(const data::Dataset& data, int most = std::numeric_limits<int>::max());

/// One score for each resolution of the plan. Throws as evaluation::HeldOut.
std::vector<HeldOutScore> held_out_scores(const evaluation::HeldOutPlan& plan, const methods::Method& explainer);

/// Rows {"shape","players","inputs","left_out","nrmse","interval","reference_error","seconds","mean_field_nrmse"}. What
/// is undefined is null, with its reason beside it.
nlohmann::ordered_json json_of(const std::vector<HeldOutScore>& scores);

/// The same as a table, and a sentence where the mean field is nearer. `at` says where the queries are.
std::string in_words(const std::vector<HeldOutScore>& scores, const std::string& at);

}  // namespace opshap::cli
