// The paper's figure of bars and a line: do discrete Shapley values times n approach the explainer's density?

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "reporting/figures.hpp"

namespace opshap::reporting::figures {

namespace {

/// The resolutions shown: those nearest to the paper's, among those with values of the explainer and the reference.
std::vector<int> shown_resolutions(const Scoreboard& scores) {
  std::vector<int> stored;
  for (const int players : scores.resolutions()) {
    if (typical_sample(scores, players)) stored.push_back(players);
  }
  std::vector<int> shown;
  for (const int wanted : {32, 128}) {
    const auto nearest = std::min_element(stored.begin(), stored.end(), [wanted](int a, int b) {
      return std::abs(std::log(a / static_cast<double>(wanted))) < std::abs(std::log(b / static_cast<double>(wanted)));
    });
    if (nearest != stored.end()) shown.push_back(*nearest);
  }
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  return shown;
}

std::string substitution(const std::vector<int>& shown) {
  if (shown == std::vector<int>{32, 128}) return "";
  return fmt::format(" The paper shows n = 32 and 128; this run has n = {} instead.", fmt::join(shown, " and "));
}

}  // namespace

Figure shapley_and_density(const Scoreboard& scores) {
  const std::string title = "Shapley values and the explainer's density";
  const std::vector<int> shown = shown_resolutions(scores);
  if (shown.empty()) return missing(title, "no stored values of both the reference and OperatorSHAP");
  const std::int64_t sample = *typical_sample(scores, shown.back());
  Figure figure{.title = title, .finding = {}, .panels = {}, .legend = {}, .numbers = {}, .missing = {}};
  figure.legend = {{.label = "reference × n", .color = "#0072B2", .dash = {}, .bar = true},
                   {.label = "its standard error", .color = "#000000", .dash = {}},
                   {.label = "OperatorSHAP", .color = "#D55E00", .dash = {}}};
  figure.numbers = {.name = "shapley_and_density",
                    .caption = "Values times n at each player's position, with the standard error of the reference.",
                    .columns = {{"n", true},
                                {"position", true},
                                {"reference", true},
                                {"standard error", true},
                                {"OperatorSHAP", true}},
                    .rows = {}};
  std::string errors;
  for (const int players : shown) {
    const ValuesRow* reference = scores.values(players, sample, "reference");
    const ValuesRow* explainer = scores.values(players, sample, "operator_shap");
    if (reference == nullptr || explainer == nullptr) continue;
    std::string data;
    double difference = 0, size = 0;
    for (int i = 0; i < players; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double error = reference->standard_errors.empty() ? 0 : players * reference->standard_errors[at];
      const double position = i / static_cast<double>(players), bar = players * reference->values[at],
                   line = players * explainer->values[at];
      data += fmt::format("{} {} {} {}\n", digits(position), digits(bar), digits(error), digits(line));
      figure.numbers.add({std::to_string(players), digits(position), digits(bar), digits(error), digits(line)});
      difference = std::hypot(difference, bar - line);
      size = std::hypot(size, bar);
    }
    errors +=
        fmt::format("{}{} at n = {}", errors.empty() ? "" : ", ", show(size > 0 ? difference / size : 0), players);
    figure.panels.push_back(
        {.id = fmt::format("shapley-and-density-{}", players),
         .title = fmt::format("n = {}", players),
         .description = fmt::format(
             "Bars: reference Shapley values times n of input {} at {} players. Line: density of OperatorSHAP.", sample,
             players),
         .script =
             fmt::format("set xlabel 'x'\nset ylabel 'attribution density'\nset xrange [{}:{}]\nset xzeroaxis lw 0.8 "
                         "lc rgb 'black'\n$data << EOD\n{}EOD\n"
                         "plot $data using 1:2:({}) with boxes fs transparent solid 0.45 noborder lc rgb '#0072B2', "
                         "$data using 1:($2-$3):(0):(2*$3) with vectors nohead lw 1.2 lc rgb 'black', $data using 1:4 "
                         "with lines lw "
                         "2.2 lc rgb '#D55E00'\n",
                         digits(-0.5 / players), digits(1 - 0.5 / players), data, digits(0.85 / players))});
  }
  figure.finding = fmt::format(
      "Input {}, the one with the explainer's median error. Bars are the reference's Shapley values times n, the line "
      "is OperatorSHAP's density; its NRMSE here is {}.{}",
      sample, errors, substitution(shown));
  return figure;
}

}  // namespace opshap::reporting::figures
