// When training the explainer pays off.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reporting/amortisation.hpp"
#include "reporting/axes.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting::figures {

Figure amortisation(const Scoreboard& scores) {
  const std::string title = "Amortisation";
  const auto pays = reporting::amortisation(scores);
  if (!pays || pays->methods.empty())
    return missing(title, "needs budget curves and the training row of the explainer");
  const MethodStyle explainer = style_of(scores.methods_with_access("amortised").front());
  const auto training = static_cast<double>(pays->training_evaluations);
  Figure figure{.title = title};
  figure.numbers = {
      .name = "amortisation",
      .caption = fmt::format("Backbone evaluations at n = {}, methods tuned to the median NRMSE {} of {}.",
                             pays->on.label(), show(pays->explainer_nrmse), explainer.label),
      .columns = {{"method"},
                  {"training evaluations", true},
                  {"evaluations a sample", true},
                  {"NRMSE", true},
                  {"as good as " + explainer.label},
                  {"break-even at samples", true}}};
  figure.numbers.add({explainer.label, std::to_string(pays->training_evaluations), digits(pays->explainer_evaluations),
                      digits(pays->explainer_nrmse), "itself", "none"});
  figure.legend.push_back({.label = explainer.label + ", with training", .color = explainer.color});

  LogRange samples, evaluations;
  for (const double count : {1.0, 100.0}) samples.include(count);
  evaluations.include(training);
  std::string plots = fmt::format("{} + {} * x with lines lw 2.4 lc rgb '{}'", digits(training),
                                  digits(pays->explainer_evaluations), explainer.color);
  std::string break_even, words;
  const MethodStyles styles(scores.methods());
  for (const TunedMethod& method : pays->methods) {
    const MethodStyle style = styles.of(method.method);
    figure.numbers.add({style.label, "0", digits(method.evaluations), digits(method.nrmse),
                        method.reached ? "yes" : "no, largest budget run",
                        method.break_even ? fmt::format("{:.0f}", std::ceil(*method.break_even)) : "none"});
    plots += fmt::format(", {} * x with lines lw 1.8 {} lc rgb '{}'", digits(method.evaluations),
                         dash_style(style.dash), style.color);
    figure.legend.push_back(
        {.label = style.label + (method.reached ? "" : " (at least)"), .color = style.color, .dash = style.dash});
    evaluations.include(method.evaluations);
    if (!method.break_even) continue;
    words += fmt::format("{}{} after {} samples{}", words.empty() ? "" : "; ", style.label,
                         show_count(std::ceil(*method.break_even)),
                         method.reached ? "" : " or fewer (its largest budget does not reach the error)");
    samples.include(4 * *method.break_even);
    if (*method.break_even > 1)
      break_even += fmt::format("{} {}\n", digits(*method.break_even), digits(*method.break_even * method.evaluations));
  }
  for (const TunedMethod& method : pays->methods) evaluations.include(method.evaluations * samples.high());
  if (!break_even.empty()) {
    plots += ", $even with points pt 7 ps 0.8 lc rgb 'black'";
    figure.legend.push_back({.label = "break-even", .color = "#000000", .dash = "0,40", .marker = 7});
  }
  words =
      words.empty() ? "No sampling method costs more than " + explainer.label : "Training pays off against " + words;
  figure.panels.push_back(
      {.id = "amortisation",
       .title = "n = " + pays->on.label(),
       .description = words + ".",
       .script = (break_even.empty() ? "" : "$even << EOD\n" + break_even + "EOD\n") + log_axis('x', samples) +
                 log_axis('y', evaluations) +
                 "set xlabel 'explained samples'\nset ylabel 'backbone evaluations'\nset samples 60\nplot " + plots +
                 "\n"});
  figure.finding = fmt::format(
      "Training took {} backbone evaluations, an explanation then {}. Each sampling method has the smallest budget run "
      "at which its median NRMSE at n = {} is not above the {} of {}. {}.",
      show_count(training), show_count(pays->explainer_evaluations), pays->on.label(), show(pays->explainer_nrmse),
      explainer.label, words);
  return figure;
}

}  // namespace opshap::reporting::figures
