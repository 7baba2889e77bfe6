// One input, what the backbone makes of it, and which parts of it matter.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reporting/figures.hpp"

namespace opshap::figures {

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
    Figure figure{.title = title, .finding = {}, .panels = {}, .numbers = {}, .missing = {}};
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
    const std::string query = "set arrow from 0.5, graph 0 to 0.5, graph 1 nohead dt 3 lw 1 lc rgb '#808080'\n";
    figure.panels.push_back(
        {.id = "example-fields",
         .title = "Input, solution and prediction",
         .description = fmt::format(
             "Input {} with its solution and the backbone's prediction; the dotted line is the query point.", *sample),
         .script = query + "set title 'fields'\nset xlabel 'x'\nset ylabel 'u'\nset xrange [0:1]\n$data << EOD\n" +
                   field_data +
                   "EOD\nplot $data using 1:2 with lines lw 1.6 dt 2 lc rgb 'black' title 'input', $data using 1:3 "
                   "with lines lw 2 lc rgb '#0072B2' "
                   "title 'solution', $data using 1:4 with lines lw 2 dt 4 lc rgb '#D55E00' title 'prediction'\n"});
    figure.panels.push_back(
        {.id = "example-attribution",
         .title = "Attribution",
         .description = fmt::format(
             "Reference, OperatorSHAP and integrated gradients times n for input {} at {} players.", *sample, *players),
         .script = query +
                   "set title 'attribution of the solution at the query'\nset xlabel 'x'\nset ylabel 'attribution "
                   "density'\nset xrange [0:1]\nset xzeroaxis lw 0.8 lc rgb 'black'\n$data << EOD\n" +
                   value_data +
                   "EOD\nplot $data using 1:2 with steps lw 1.8 lc rgb '#0072B2' title 'reference × n', $data using "
                   "1:3 with lines lw 2.2 lc rgb '#D55E00' title 'OperatorSHAP'" +
                   (gradients == nullptr
                        ? ""
                        : ", $data using 1:4 with lines lw 1.6 dt 4 lc rgb '#E69F00' title 'integrated gradients'") +
                   "\n"});
    figure.finding = fmt::format(
        "Input {} at n = {}, the one with OperatorSHAP's median error. The dotted line is the query point x = 1/2 "
        "whose predicted value is explained. The prediction's relative error is {}.",
        *sample, *players, show(size > 0 ? difference / size : 0));
    return figure;
  }
  return missing(title, "no stored fields and values of the same input");
}

}  // namespace opshap::figures
