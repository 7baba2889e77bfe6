#include "cli/held_out_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/globals.hpp"
#include "methods/method.hpp"
#include "reporting/table.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::cli {

namespace {

using statistics::quartiles;

constexpr const char* all_zero = "the Shapley values of all held-out inputs are 0";

Measured mean_field_error(const evaluation::HeldOut& held_out, std::size_t place) {
  const auto found = held_out.errors_at(place, *methods::resolve("mean_field"));
  if (!found) return Measured::undefined("the operator has no mean field");
  if (found->nrmse.empty()) return Measured::undefined(all_zero);
  return Measured::of(found->median());
}

}  // namespace

FieldBatch test_inputs(const data::Dataset& data, int most) {
  std::vector<std::int64_t> tests = data.indices(data::Split::test);
  tests.resize(std::min(tests.size(), static_cast<std::size_t>(most)));
  FieldBatch inputs =
      FieldBatch::zeros(data.inputs.domain, static_cast<std::int64_t>(tests.size()), data.inputs.channels);
  for (std::size_t i = 0; i < tests.size(); ++i)
    std::ranges::copy(data.inputs.field(tests[i]), inputs.field(static_cast<std::int64_t>(i)).begin());
  return inputs;
}

std::vector<HeldOutScore> held_out_scores(const evaluation::HeldOutPlan& plan, const methods::Method& explainer) {
  const evaluation::HeldOut held_out(plan);
  std::vector<HeldOutScore> all;
  for (std::size_t place = 0; place < plan.resolutions.size(); ++place) {
    auto errors = held_out.errors_at(place, explainer);
    HeldOutScore score{.errors = *std::move(errors), .interval = {}, .mean_field = mean_field_error(held_out, place)};
    if (score.any()) score.interval = score.errors.interval(plan.seed);
    all.push_back(std::move(score));
  }
  return all;
}

nlohmann::ordered_json json_of(const std::vector<HeldOutScore>& scores) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const HeldOutScore& score : scores) {
    nlohmann::ordered_json row = {{"shape", score.errors.shape},
                                  {"players", score.errors.players},
                                  {"inputs", score.errors.nrmse.size()},
                                  {"left_out", score.errors.left_out}};
    if (score.any()) {
      row["nrmse"] = score.errors.median();
      row["interval"] = {score.interval.low, score.interval.high};
      row["reference_error"] = quartiles(score.errors.reference_errors).median;
      row["seconds"] = quartiles(score.errors.seconds).median;
    } else {
      row["nrmse"] = json_number(Measured::undefined(all_zero));
      row["interval"] = row["reference_error"] = row["seconds"] = nullptr;
    }
    row["mean_field_nrmse"] = json_number(score.mean_field);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string in_words(const std::vector<HeldOutScore>& scores, const std::string& at) {
  reporting::Table table{.name = "held_out",
                         .caption = "Median NRMSE on held-out inputs " + at +
                                    ", with the interval in which it lies when inputs are drawn anew (95 %), against "
                                    "certified references. The mean field is a method that needs no training.",
                         .columns = {{"n", true},
                                     {"inputs", true},
                                     {"NRMSE", true},
                                     {"95 %"},
                                     {"mean field's", true},
                                     {"reference's error", true},
                                     {"an explanation", true}},
                         .rows = {}};
  bool nearer = false;
  for (const HeldOutScore& score : scores) {
    const std::string inputs = score.errors.left_out == 0 ? std::to_string(score.inputs())
                                                          : fmt::format("{} of {} (the values of the others are 0)",
                                                                        score.errors.nrmse.size(), score.inputs());
    const std::string mean_field = score.mean_field.value ? reporting::show(*score.mean_field.value) : "-";
    if (!score.any()) {
      table.add({std::to_string(score.errors.players), inputs, "undefined", "-", mean_field, "-", "-"});
      continue;
    }
    nearer = nearer || (score.mean_field.value && *score.mean_field.value < score.errors.median());
    table.add({std::to_string(score.errors.players), inputs, reporting::show(score.errors.median()),
               fmt::format("{} to {}", reporting::show(score.interval.low), reporting::show(score.interval.high)),
               mean_field, reporting::show(quartiles(score.errors.reference_errors).median),
               reporting::show_seconds(quartiles(score.errors.seconds).median)});
  }
  std::string text = table.markdown();
  if (nearer) text += "\nThe mean field is nearer. `opshap attribute --method mean_field` needs no explainer.\n";
  return text;
}

}  // namespace opshap::cli
