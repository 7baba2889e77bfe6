#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/measured.hpp"
#include "reporting/methods.hpp"
#include "reporting/report_tables.hpp"
#include "reporting/scoreboard.hpp"

namespace opshap::reporting::tables {

namespace {

/// An error that is so many times the median of its group is explained one by one.
constexpr double outlier = 10;

double middle_of(std::vector<double> values) { return statistics::quantile(std::move(values), 0.5); }

/// An error of one input that is far above the others of its group.
struct Outlier {
  std::string what, where;
  std::string input;  ///< its sample number, or its position among the test inputs
  double error = 0, median = 0;
  std::string cause;
};

/// Of several outliers of one input by one method the largest.
void keep_largest(std::vector<Outlier>& all, Outlier found) {
  const auto same = std::ranges::find_if(
      all, [&](const Outlier& other) { return other.what == found.what && other.input == found.input; });
  if (same == all.end()) {
    all.push_back(std::move(found));
  } else if (same->error < found.error) {
    *same = std::move(found);
  }
}

/// Why the backbone's relative error is large on the input at this place: the size of its solution, where the row has
/// it.
std::string cause_in_solutions(const runs::OperatorRow& row, std::size_t place, double error) {
  if (row.solution_norms.empty()) {
    return fmt::format("The rows do not hold the size of this solution.{}",
                       error > 1 ? " A relative error above 1 says that the difference is larger than the solution "
                                   "itself, as when the solution is near zero."
                                 : "");
  }
  const double typical = middle_of(row.solution_norms), size = row.solution_norms[place];
  return fmt::format("The solution is {} times the size of the median one; the difference is {} times that size.{}",
                     show(size / typical), show(error * size / typical),
                     size < typical / outlier ? " The target is near zero." : "");
}

/// Why a method's error is large on an input: the size of the reference, where the run stores values; else whether the
/// input is as hard for other methods.
std::string cause_in_values(const Scoreboard& scores, const Discretisation& on, const std::string& method,
                            std::int64_t sample) {
  std::vector<double> sizes;
  std::optional<double> size;
  for (const runs::AttributionRow* row : scores.references(on)) {
    const runs::ValuesRow* reference = scores.values(on, row->sample, "reference");
    if (reference == nullptr) continue;
    sizes.push_back(norm(reference->values));
    if (row->sample == sample) size = sizes.back();
  }
  if (size) {
    const double typical = middle_of(sizes);
    return fmt::format("The reference values are {} times the size of the median input's.{}", show(*size / typical),
                       *size < typical / outlier ? " The target is near zero." : "");
  }
  std::size_t others = 0, hard = 0;
  for (const std::string& other : scores.methods()) {
    const Cell* cell = scores.cell(on, other);
    if (other == method || cell == nullptr) continue;
    const auto quartiles = cell->quartiles("nrmse");
    const auto row = std::ranges::find(cell->rows, sample, &runs::AttributionRow::sample);
    if (!quartiles || row == cell->rows.end() || !(*row)->scores["nrmse"].value) continue;
    ++others;
    hard += *(*row)->scores["nrmse"].value > quartiles->q75;
  }
  return fmt::format(
      "The rows do not hold these values. {} of {} other methods have this input in their upper quarter{}.", hard,
      others, 2 * hard > others ? ", as when the target is near zero" : "");
}

}  // namespace

Table outliers(const Scoreboard& scores) {
  std::vector<Outlier> found;
  for (const runs::OperatorRow& row : scores.run().results.operators) {
    if (row.pde != scores.run().pde || row.defined_errors().empty()) continue;
    const double median = middle_of(row.defined_errors());
    const auto samples = samples_of(scores, row);
    for (std::size_t i = 0; i < row.relative_errors.size(); ++i) {
      const std::optional<double> error = row.relative_errors[i].value;
      if (!error || *error <= outlier * median) continue;
      keep_largest(found, {.what = "backbone, relative error",
                           .where = runs::shape_in_words(row.shape),
                           .input = samples ? std::to_string((*samples)[i]) : fmt::format("test input {}", i),
                           .error = *error,
                           .median = median,
                           .cause = cause_in_solutions(row, i, *error)});
    }
  }
  for (const Discretisation& on : scores.discretisations()) {
    for (const std::string& explainer : scores.methods_with_access("amortised")) {
      const Cell* cell = scores.cell(on, explainer);
      const auto quartiles = cell == nullptr ? std::nullopt : cell->quartiles("nrmse");
      if (!quartiles) continue;
      for (const runs::AttributionRow* row : cell->rows) {
        if (!row->scores["nrmse"].value || *row->scores["nrmse"].value <= outlier * quartiles->median) continue;
        keep_largest(found, {.what = style_of(explainer).label + ", NRMSE",
                             .where = on.label(),
                             .input = std::to_string(row->sample),
                             .error = *row->scores["nrmse"].value,
                             .median = quartiles->median,
                             .cause = cause_in_values(scores, on, explainer, row->sample)});
      }
    }
  }
  return table_of(
      "outliers",
      fmt::format("Errors of the backbone and of trained explainers above {:.0f} times the median of their inputs, "
                  "each input once at the n where it is worst. Medians and quartiles hardly feel them.",
                  outlier),
      found,
      {{"what", [](auto& row) { return row.what; }},
       {"n", [](auto& row) { return row.where; }, true},
       {"input", [](auto& row) { return row.input; }, true},
       {"error", [](auto& row) { return show(row.error); }, true},
       {"median", [](auto& row) { return show(row.median); }, true},
       {"cause", [](auto& row) { return row.cause; }}});
}

}  // namespace opshap::reporting::tables
