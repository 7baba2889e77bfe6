// When training the explainer pays off.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reporting/amortisation.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"

namespace opshap::figures {

Figure amortisation(const Scoreboard& scores) {
  const std::string title = "Amortisation";
  const auto pays = opshap::amortisation(scores);
  if (!pays || pays->methods.empty())
    return missing(title, "needs budget curves and the training row of the explainer");
  Figure figure{.title = title, .finding = {}, .panels = {}, .numbers = {}, .missing = {}};
  figure.numbers = {
      .name = "amortisation",
      .caption = fmt::format("Backbone evaluations at n = {}, methods tuned to OperatorSHAP's median NRMSE {}.",
                             pays->players, show(pays->explainer_nrmse)),
      .columns = {{"method"},
                  {"training evaluations", true},
                  {"evaluations a sample", true},
                  {"NRMSE", true},
                  {"as good as OperatorSHAP"},
                  {"break-even at samples", true}},
      .rows = {}};
  figure.numbers.add({"OperatorSHAP", std::to_string(pays->training_evaluations), digits(pays->explainer_evaluations),
                      digits(pays->explainer_nrmse), "itself", "none"});
  double last = 100;
  std::string words;
  for (const TunedMethod& method : pays->methods) {
    figure.numbers.add({style_of(method.method).label, "0", digits(method.evaluations), digits(method.nrmse),
                        method.reached ? "yes" : "no, largest budget run",
                        method.break_even ? fmt::format("{:.0f}", std::ceil(*method.break_even)) : "none"});
    if (!method.break_even) continue;
    last = std::max(last, 10 * *method.break_even);
    words += fmt::format("{}{} after {} samples{}", words.empty() ? "" : "; ", style_of(method.method).label,
                         show_count(std::ceil(*method.break_even)),
                         method.reached ? "" : " at most (it does not reach the error within the budgets run)");
  }
  std::string plots =
      fmt::format("{} + {} * x with lines lw 2.2 lc rgb '#D55E00' title 'OperatorSHAP, with training'",
                  digits(static_cast<double>(pays->training_evaluations)), digits(pays->explainer_evaluations));
  std::string markers;
  for (const TunedMethod& method : pays->methods) {
    const MethodStyle style = style_of(method.method);
    plots +=
        fmt::format(", {} * x with lines lw 1.8 dt {} lc rgb '{}' title {}", digits(method.evaluations), style.dash,
                    style.color, quote_for_gnuplot(style.label + (method.reached ? "" : " (at least)")));
    if (method.break_even && *method.break_even > 1) {
      markers += fmt::format("{} {}\n", digits(*method.break_even), digits(*method.break_even * method.evaluations));
    }
  }
  if (!markers.empty()) plots += ", $even with points pt 7 ps 0.8 lc rgb 'black' title 'break-even'";
  figure.panels.push_back(
      {.id = "amortisation",
       .title = fmt::format("Backbone evaluations against explained samples, n = {}", pays->players),
       .description = words.empty() ? "No sampling method costs more than OperatorSHAP."
                                    : "Training pays off against " + words + ".",
       .script = fmt::format("{}set title 'n = {}'\nset logscale xy\nset xrange [1:{}]\nset format x '10^{{%L}}'\nset "
                             "format y '10^{{%L}}'\nset xlabel 'explained samples'\n"
                             "set ylabel 'backbone evaluations'\nset samples 60\nplot {}\n",
                             markers.empty() ? "" : "$even << EOD\n" + markers + "EOD\n", pays->players, digits(last),
                             plots)});
  figure.finding = fmt::format(
      "Training took {} backbone evaluations, an explanation then {}. Each sampling method has the smallest budget at "
      "which its median NRMSE at n = {} is not above OperatorSHAP's {}. {}.",
      show_count(static_cast<double>(pays->training_evaluations)), show_count(pays->explainer_evaluations),
      pays->players, show(pays->explainer_nrmse),
      words.empty() ? "No sampling method costs more than OperatorSHAP" : "Training pays off against " + words);
  return figure;
}

}  // namespace opshap::figures
