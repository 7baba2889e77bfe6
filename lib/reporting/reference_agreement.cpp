#include "reporting/reference_agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "core/error.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

double change_of(const Measured& then, const Measured& now) {
  if (!then.value || !now.value) return then.value == now.value ? 0 : infinite;
  if (*then.value == *now.value) return 0;
  return *then.value == 0 ? infinite : std::abs(*now.value - *then.value) / std::abs(*then.value);
}

/// Which input a row is about.
using Input = std::tuple<std::vector<int>, int, std::int64_t>;

Input input_of(const runs::AttributionRow& row) { return {row.shape, row.players, row.sample}; }

bool is_uniform(const runs::AttributionRow& row) { return row.method == "uniform"; }

std::string input_in_words(const Input& input) {
  return fmt::format("n = {}, input {}", runs::shape_in_words(std::get<0>(input)), std::get<2>(input));
}

std::string count_of(std::size_t number, const char* one, const char* many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

/// What is shown of the inputs of one grid.
struct Grid {
  std::size_t inputs = 0, agree = 0;
  std::int64_t evaluations_then = 0, evaluations_now = 0;
  double error_difference = 0, uniform_difference = 0;

  void add(const ReferenceAgreement& input) {
    ++inputs;
    agree += input.agrees();
    evaluations_then += input.evaluations_then;
    evaluations_now += input.evaluations_now;
    error_difference = std::max(error_difference, input.error_difference);
    uniform_difference = std::max(uniform_difference, input.uniform_difference);
  }
};

std::string shown(double difference) {
  return std::isinf(difference) ? "defined in one of the two" : fmt::format("{:.2g}", difference);
}

}  // namespace

bool ReferenceAgreement::agrees() const {
  constexpr double third_digit = 5e-4;  // half a unit of the third digit of 1, the largest change it hides
  return kind_then == kind_now && evaluations_then == evaluations_now && error_difference <= third_digit &&
         uniform_difference <= third_digit;
}

std::vector<ReferenceAgreement> agreement_of_references(const runs::Results& then, const runs::Results& now) {
  std::map<Input, const runs::AttributionRow*> before;
  for (const runs::AttributionRow& row : then.attributions) {
    if (is_uniform(row)) before.emplace(input_of(row), &row);
  }
  std::vector<ReferenceAgreement> agreement;
  for (const runs::AttributionRow& row : now.attributions) {
    if (!is_uniform(row)) continue;
    const auto found = before.find(input_of(row));
    require<DataError>(found != before.end(), "references: ", input_in_words(input_of(row)),
                       " (the rows of the run have no uniform attribution of it). Give the rows of the whole run.");
    const runs::AttributionRow& old = *found->second;
    agreement.push_back({.shape = row.shape,
                         .players = row.players,
                         .sample = row.sample,
                         .kind_then = old.reference,
                         .kind_now = row.reference,
                         .evaluations_then = old.reference_evaluations,
                         .evaluations_now = row.reference_evaluations,
                         .error_difference = change_of(old.reference_error, row.reference_error),
                         .uniform_difference = change_of(old.scores["nrmse"], row.scores["nrmse"])});
    before.erase(found);
  }
  require<DataError>(before.empty(), "references: ", before.empty() ? "" : input_in_words(before.begin()->first),
                     " (is in the rows of the run, and no reference of it was computed). Finish the computation.");
  return agreement;
}

double largest_difference_of_backbones(const std::vector<runs::OperatorRow>& then,
                                       const std::vector<runs::OperatorRow>& now) {
  double largest = 0;
  require<DataError>(then.size() == now.size(), "references: grids=", now.size(), " (the run has ", then.size(),
                     "). Give the settings of the run.");
  for (const runs::OperatorRow& row : now) {
    const auto found = std::ranges::find(then, row.shape, &runs::OperatorRow::shape);
    require<DataError>(found != then.end() && found->relative_errors.size() == row.relative_errors.size(),
                       "references: n = ", runs::shape_in_words(row.shape), ", inputs=", row.relative_errors.size(),
                       " (the run has another number there). Give the settings of the run.");
    for (std::size_t place = 0; place < row.relative_errors.size(); ++place)
      largest = std::max(largest, change_of(found->relative_errors[place], row.relative_errors[place]));
  }
  return largest;
}

Evidence evidence_of_references(const std::vector<ReferenceAgreement>& agreement, double backbone_difference,
                                const std::string& subject) {
  std::map<std::pair<int, std::vector<int>>, Grid> grids;
  Grid all;
  Table differing{.name = "differences",
                  .caption = "Inputs whose reference is not that of the run in the digits that reports show.",
                  .columns = {{"n"},
                              {"input", true},
                              {"kind then"},
                              {"kind now"},
                              {"evaluations then", true},
                              {"evaluations now", true},
                              {"its error differs by", true},
                              {"the uniform NRMSE differs by", true}}};
  for (const ReferenceAgreement& input : agreement) {
    all.add(input);
    grids[{input.players, input.shape}].add(input);
    if (input.agrees()) continue;
    differing.add({runs::shape_in_words(input.shape), fmt::format("{}", input.sample), input.kind_then, input.kind_now,
                   fmt::format("{}", input.evaluations_then), fmt::format("{}", input.evaluations_now),
                   shown(input.error_difference), shown(input.uniform_difference)});
  }
  Table table{.name = "grids",
              .caption =
                  "References by grid: how many agree, the forward evaluations of all, and the largest relative "
                  "differences of their own error and of the uniform attribution's NRMSE against them.",
              .columns = {{"n"},
                          {"inputs", true},
                          {"agree", true},
                          {"evaluations then", true},
                          {"evaluations now", true},
                          {"their error differs by", true},
                          {"the uniform NRMSE differs by", true}}};
  for (const auto& [on, grid] : grids)
    table.add({runs::shape_in_words(on.second), fmt::format("{}", grid.inputs), fmt::format("{}", grid.agree),
               fmt::format("{}", grid.evaluations_then), fmt::format("{}", grid.evaluations_now),
               shown(grid.error_difference), shown(grid.uniform_difference)});
  Evidence evidence{
      .name = "references",
      .title = "References of a run, computed again",
      .finding = fmt::format(
          "{}. {} agree with the rows of the run: the same kind, the same number of evaluations, and the same three "
          "digits of the reference's own error and of the uniform attribution's NRMSE against it. {} not. The "
          "backbone's relative errors differ from those of the run by at most {} of themselves. On another processor "
          "the last digits of a prediction differ, and with them the place where a reference has reached its error.",
          subject, fmt::format("{} of {} references", all.agree, all.inputs),
          count_of(all.inputs - all.agree, "does", "do"), shown(backbone_difference)),
      .studies = {},
      .tables = {std::move(table)}};
  if (!differing.rows.empty()) evidence.tables.push_back(std::move(differing));
  return evidence;
}

}  // namespace opshap::reporting
