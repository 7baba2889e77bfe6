// One input, what the backbone makes of it, and which parts of it matter.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reporting/figures.hpp"

namespace opshap::reporting::figures {

namespace {

const FieldsRow* fields_of(const Scoreboard& scores, std::int64_t sample, std::size_t points) {
  const FieldsRow* best = nullptr;
  for (const FieldsRow& row : scores.run().results.fields) {
    if (row.pde != scores.run().pde || row.sample != sample) continue;
    if (row.x.size() == points) return &row;
    if (best == nullptr || row.x.size() > best->x.size()) best = &row;
  }
  return best;
}

}  // namespace

Figure example(const Scoreboard& scores) {
  const std::string title = "One input and its attribution";
  for (auto players = scores.resolutions().rbegin(); players != scores.resolutions().rend(); ++players) {
    if (*players > 128 && players + 1 != scores.resolutions().rend()) continue;  // finer bars cannot be told apart
    const auto sample = typical_sample(scores, *players);
    const FieldsRow* fields = sample ? fields_of(scores, *sample, static_cast<std::size_t>(*players)) : nullptr;
    if (fields == nullptr) continue;
    const ValuesRow* reference = scores.values(*players, *sample, "reference");
    const ValuesRow* explainer = scores.values(*players, *sample, "operator_shap");
    const ValuesRow* gradients = scores.values(*players, *sample, "integrated_gradients");
    Figure figure{.title = title, .finding = {}, .panels = {}, .legend = {}, .numbers = {}, .missing = {}};
    figure.numbers = {.name = "example",
                      .caption = "Fields on their grid, attributions times n.",
                      .columns = {{"x", true}, {"input", true}, {"solution", true}, {"prediction", true}},
                      .rows = {}};
    std::string field_data, value_data;
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < fields->x.size(); ++i) {
      field_data += fmt::format("{} {} {} {}\n", digits(fields->x[i]), digits(fields->input[i]),
                                digits(fields->solution[i]), digits(fields->prediction[i]));
      figure.numbers.add(
          {digits(fields->x[i]), digits(fields->input[i]), digits(fields->solution[i]), digits(fields->prediction[i])});
      difference = std::hypot(difference, fields->prediction[i] - fields->solution[i]);
      size = std::hypot(size, fields->solution[i]);
    }
    const double n = *players;
    for (int i = 0; i < *players; ++i) {
      const auto at = static_cast<std::size_t>(i);
      value_data +=
          fmt::format("{} {} {} {}\n", digits(i / n), digits(n * reference->values[at]),
                      digits(n * explainer->values[at]), digits(gradients == nullptr ? 0 : n * gradients->values[at]));
    }
    const std::string query =
        "set arrow from 0.5, graph 0 to 0.5, graph 1 nohead dt 3 lw 1 lc rgb '#808080'\nset xlabel 'x'\nset xrange "
        "[0:1]\n";
    figure.panels.push_back(
        {.id = "example-fields",
         .title = "fields",
         .description = fmt::format(
             "Input {} with its solution and the backbone's prediction; the dotted line is the query point.", *sample),
         .script = query + "set ylabel 'u'\n$data << EOD\n" + field_data +
                   "EOD\nplot $data using 1:2 with lines lw 1.6 dt (6,3) lc rgb 'black', $data using 1:3 with lines lw "
                   "2.6 lc rgb '#56B4E9', "
                   "$data using 1:4 with lines lw 1.8 dt (2,3) lc rgb '#0072B2'\n"});
    figure.panels.push_back(
        {.id = "example-attribution",
         .title = fmt::format("attribution, n = {}", *players),
         .description = fmt::format(
             "Reference, OperatorSHAP and integrated gradients times n for input {} at {} players.", *sample, *players),
         .script = query + "set ylabel 'attribution density'\nset xzeroaxis lw 0.8 lc rgb 'black'\n$data << EOD\n" +
                   value_data +
                   "EOD\nplot $data using 1:2 with histeps lw 1.8 lc rgb '#009E73', $data using 1:3 with lines lw 2.2 "
                   "lc rgb '#D55E00'" +
                   (gradients == nullptr ? "" : ", $data using 1:4 with lines lw 1.6 dt (8,3,2,3) lc rgb '#E69F00'") +
                   "\n"});
    figure.legend = {{.label = "input", .color = "#000000", .dash = "6,3"},
                     {.label = "solution", .color = "#56B4E9", .dash = {}},
                     {.label = "prediction", .color = "#0072B2", .dash = "2,3"},
                     {.label = "reference × n", .color = "#009E73", .dash = {}},
                     {.label = "OperatorSHAP", .color = "#D55E00", .dash = {}}};
    if (gradients != nullptr)
      figure.legend.push_back({.label = "Integrated gradients", .color = "#E69F00", .dash = "8,3,2,3"});
    figure.finding = fmt::format(
        "Input {} at n = {}, the one with OperatorSHAP's median error. The dotted line is the query point x = 1/2 "
        "whose predicted value is explained. The prediction's relative error is {}.",
        *sample, *players, show(size > 0 ? difference / size : 0));
    return figure;
  }
  return missing(title, "no stored fields and values of the same input");
}

}  // namespace opshap::reporting::figures
