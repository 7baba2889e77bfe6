#include "reporting/amortisation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "reporting/axes.hpp"
#include "reporting/claims_measurement.hpp"
#include "reporting/figures.hpp"
#include "reporting/methods.hpp"
#include "reporting/paper.hpp"
#include "runs/results.hpp"

namespace opshap::reporting {

namespace {

/// A cell of a curve or of a method of gradients as an alternative to the explainer.
TunedMethod tuned(const Cell& cell, const Amortisation& pays) {
  TunedMethod method{.method = cell.method,
                     .budget = cell.budget,
                     .evaluations = cell.forward_equivalents().value(),
                     .nrmse = cell.quartiles("nrmse")->median};
  method.reached = method.nrmse <= pays.explainer().nrmse;
  const double saved = method.evaluations - pays.explainer().evaluations;
  if (saved > 0 && method.reached)
    method.break_even = static_cast<double>(pays.explainer().training_evaluations) / saved;
  return method;
}

/// The first cell of a curve that is as good as the explainer, else the last one.
const Cell& cheapest_as_good(const std::vector<Cell>& curve, double nrmse) {
  const auto first = std::find_if(curve.begin(), curve.end(),
                                  [nrmse](const Cell& cell) { return cell.quartiles("nrmse")->median <= nrmse; });
  return first == curve.end() ? curve.back() : *first;
}

/// The training of an explainer's column: "operator_shap:wide" is the one named "wide".
const runs::TrainingRow* training_of(const Scoreboard& scores, std::string_view explainer) {
  const std::size_t colon = explainer.find(':');
  const std::string_view name = colon == std::string_view::npos ? "" : explainer.substr(colon + 1);
  const runs::TrainingRow* first = nullptr;
  for (const runs::TrainingRow& row : scores.run().results.training) {
    if (row.stage != "explainer" || row.pde != scores.run().pde) continue;
    if (first == nullptr) first = &row;
    if (row.explainer.value_or("") == name) return &row;
  }
  return name.empty() ? first : nullptr;  // the only explainer has no name in its column
}

std::optional<Amortisation> amortisation_on(const Scoreboard& scores, const Discretisation& on) {
  const Cell* explainer = scores.cell(on, claims::explainer);
  const runs::TrainingRow* trained = explainer == nullptr ? nullptr : training_of(scores, explainer->method);
  const auto evaluations = explainer == nullptr ? std::nullopt : explainer->forward_equivalents();
  if (trained == nullptr || !evaluations || !explainer->quartiles("nrmse")) return std::nullopt;
  Amortisation pays{.on = on,
                    .samples = explainer->samples(),
                    .explainers = {{.method = explainer->method,
                                    .training_evaluations = trained->operator_evaluations,
                                    .evaluations = *evaluations,
                                    .nrmse = explainer->quartiles("nrmse")->median}}};
  for (const std::string& method : scores.sampling_methods()) {
    const std::vector<Cell> curve = scores.curve(on, method, 1);
    if (curve.empty()) continue;
    pays.samples = curve.front().samples();
    const auto error = explainer->restricted_to(pays.samples).quartiles("nrmse");
    if (!error) return std::nullopt;
    pays.explainers.front().nrmse = error->median;
    pays.methods.push_back(tuned(cheapest_as_good(curve, error->median), pays));
  }
  const auto on_the_same_inputs = [&](const std::string& method) -> std::optional<Cell> {
    const Cell* cell = scores.cell(on, method);
    if (cell == nullptr) return std::nullopt;
    Cell same = cell->restricted_to(pays.samples);
    if (!same.quartiles("nrmse") || !same.distinct()) return std::nullopt;
    return same;
  };
  for (const std::string& method : scores.methods_with_access("gradient"))
    if (const auto cell = on_the_same_inputs(method)) pays.of_gradients.push_back(tuned(*cell, pays));
  for (const std::string& method : scores.methods_with_access("amortised")) {
    const auto cell = method == explainer->method ? std::nullopt : on_the_same_inputs(method);
    const runs::TrainingRow* training = training_of(scores, method);
    if (!cell || training == nullptr) continue;
    pays.explainers.push_back({.method = method,
                               .training_evaluations = training->operator_evaluations,
                               .evaluations = *cell->forward_equivalents(),
                               .nrmse = cell->quartiles("nrmse")->median});
  }
  return pays;
}

/// On the line of the paper's figure where the run has it, else on the grid with the most points; methods without a
/// budget curve there at the budgets that were run. None without explainer rows or its training row.
std::optional<Amortisation> amortisation_on_the_finest_grid(const Scoreboard& scores) {
  const std::vector<Discretisation>& grids = scores.discretisations();
  const auto figure = Discretisation::line(static_cast<int>(paper_constant("amortisation_players")));
  if (std::ranges::find(grids, figure) != grids.end()) return amortisation_on(scores, figure);
  return amortisation_on(
      scores, *std::ranges::max_element(grids, {}, [](const Discretisation& on) { return runs::points_of(on.shape); }));
}

}  // namespace

std::optional<Amortisation> amortisation(const Scoreboard& scores) {
  const std::vector<Discretisation> grids = scores.discretisations_with_curves();
  if (grids.empty()) return std::nullopt;
  const auto figure = Discretisation::line(static_cast<int>(paper_constant("amortisation_players")));
  return amortisation_on(scores, std::ranges::find(grids, figure) == grids.end() ? grids.back() : figure);
}

}  // namespace opshap::reporting

namespace opshap::reporting::figures {

namespace {

/// Methods that are compared with the explainer: those that sample, then those of gradients.
std::vector<TunedMethod> alternatives(const Amortisation& pays) {
  std::vector<TunedMethod> all = pays.methods;
  all.insert(all.end(), pays.of_gradients.begin(), pays.of_gradients.end());
  return all;
}

/// Evaluations against samples: a line through the origin for each method, thin where it is not as good as the
/// explainer; for an explainer its training and a line; a dot where the lines cross.
Panel panel_of(const Amortisation& pays, const MethodStyles& styles, std::string id, std::string title,
               std::string description) {
  LogRange samples, evaluations;
  for (const double count : {1.0, 100.0}) samples.include(count);
  std::string plots, break_even;
  for (const TrainedExplainer& explainer : pays.explainers) {
    const MethodStyle style = styles.of(explainer.method);
    plots += fmt::format("{}{} + {} * x with lines lw 2.4 {} lc rgb '{}'", plots.empty() ? "" : ", ",
                         digits(static_cast<double>(explainer.training_evaluations)), digits(explainer.evaluations),
                         dash_style(style.dash), style.color);
    evaluations.include(static_cast<double>(explainer.training_evaluations));
  }
  for (const TunedMethod& method : alternatives(pays)) {
    const MethodStyle style = styles.of(method.method);
    plots += fmt::format(", {} * x with lines lw {} {} lc rgb '{}'", digits(method.evaluations),
                         method.reached ? "1.8" : "0.7", dash_style(style.dash), style.color);
    evaluations.include(method.evaluations);
    if (!method.break_even) continue;
    samples.include(4 * *method.break_even);
    if (*method.break_even > 1)
      break_even += fmt::format("{} {}\n", digits(*method.break_even), digits(*method.break_even * method.evaluations));
  }
  for (const TunedMethod& method : alternatives(pays)) evaluations.include(method.evaluations * samples.high());
  if (!break_even.empty()) plots += ", $even with points pt 7 ps 0.8 lc rgb 'black'";
  return {.id = std::move(id),
          .title = std::move(title),
          .description = std::move(description),
          .script = (break_even.empty() ? "" : "$even << EOD\n" + break_even + "EOD\n") + log_axis('x', samples) +
                    log_axis('y', evaluations) +
                    "set xlabel 'explained samples'\nset ylabel 'backbone evaluations'\nset samples 60\nplot " + plots +
                    "\n"};
}

LegendEntry entry_of(const MethodStyle& style) {
  return {.label = style.label, .color = style.color, .dash = style.dash};
}

const LegendEntry dot_of_break_even = {.label = "break-even", .color = "#000000", .marker = 7, .line = false};

bool any_break_even(const Amortisation& pays) {
  return std::ranges::any_of(alternatives(pays),
                             [](const TunedMethod& method) { return method.break_even.value_or(0) > 1; });
}

/// A row of the numbers for each explainer and each method; `place` are the cells before them.
void add_numbers(Table& table, const std::vector<std::string>& place, const Amortisation& pays) {
  const auto add = [&](std::vector<std::string> cells) {
    cells.insert(cells.begin(), place.begin(), place.end());
    table.add(std::move(cells));
  };
  for (const TrainedExplainer& explainer : pays.explainers) {
    add({style_of(explainer.method).label, std::to_string(explainer.training_evaluations),
         digits(explainer.evaluations), digits(explainer.nrmse),
         explainer.method == pays.explainer().method ? "itself"
         : explainer.nrmse <= pays.explainer().nrmse ? "yes"
                                                     : "no",
         "none"});
  }
  for (const TunedMethod& method : alternatives(pays)) {
    add({style_of(method.method).label, "0", digits(method.evaluations), digits(method.nrmse),
         method.reached  ? "yes"
         : method.budget ? "no, largest budget run"
                         : "no",
         method.break_even ? fmt::format("{:.0f}", std::ceil(*method.break_even)) : "none"});
  }
}

std::vector<Column> columns_after(std::vector<Column> place, const std::string& explainer) {
  place.insert(place.end(), {{"method"},
                             {"training evaluations", true},
                             {"evaluations a sample", true},
                             {"NRMSE", true},
                             {"as good as " + explainer},
                             {"break-even at samples", true}});
  return place;
}

/// What both figures' captions say of their lines.
constexpr const char* const how_to_read =
    "Lines through the origin are methods without training. Each sampling method has the smallest budget run at which "
    "its median NRMSE is not above the explainer's. Methods of gradients have no budget; a reverse pass counts as 3 "
    "evaluations, in the mean field as 6. Thin lines are methods that are not as good.";

}  // namespace

Figure amortisation(const Scoreboard& scores) {
  const std::string title = "Amortisation";
  const auto pays = reporting::amortisation(scores);
  if (!pays || pays->methods.empty())
    return missing(title, "needs budget curves and the training row of the explainer");
  const std::string label = style_of(pays->explainer().method).label;
  const MethodStyles styles(scores.methods());
  Figure figure{.title = title};
  figure.numbers = {
      .name = "amortisation",
      .caption = fmt::format("Backbone evaluations at n = {}, methods tuned to the median NRMSE {} of {}.",
                             pays->on.label(), show(pays->explainer().nrmse), label),
      .columns = columns_after({}, label)};
  add_numbers(figure.numbers, {}, *pays);
  const auto add_entry = [&](const std::string& method, double nrmse) {
    LegendEntry entry = entry_of(styles.of(method));
    entry.label += ": " + show(nrmse);
    figure.legend.push_back(std::move(entry));
  };
  for (const TrainedExplainer& explainer : pays->explainers) add_entry(explainer.method, explainer.nrmse);
  for (const TunedMethod& method : alternatives(*pays)) add_entry(method.method, method.nrmse);
  if (any_break_even(*pays)) figure.legend.push_back(dot_of_break_even);
  std::vector<double> break_evens;
  std::string untrained;
  for (const TunedMethod& method : alternatives(*pays)) {
    if (method.break_even) break_evens.push_back(std::ceil(*method.break_even));
    if (method.reached && !method.budget)
      untrained +=
          fmt::format("{}{} ({})", untrained.empty() ? "" : ", ", style_of(method.method).label, show(method.nrmse));
  }
  std::string words = fmt::format("No method that is as good costs more than {}.", label);
  if (!break_evens.empty()) {
    const auto [least, most] = std::ranges::minmax(break_evens);
    words = fmt::format("Against methods that are as good, training pays off after {} to {} samples.",
                        show_count(least), show_count(most));
  }
  if (!untrained.empty()) words += " As good without training and without a budget: " + untrained + ".";
  figure.panels.push_back(panel_of(*pays, styles, "amortisation", "n = " + pays->on.label(), words));
  figure.finding = fmt::format(
      "The training of {} took {} backbone evaluations, and an explanation then takes {}. Its median NRMSE at n = {} "
      "is {}. {} {} The legend has the median NRMSEs.",
      label, show_count(static_cast<double>(pays->explainer().training_evaluations)),
      show_count(pays->explainer().evaluations), pays->on.label(), show(pays->explainer().nrmse), words, how_to_read);
  return figure;
}

Figure amortisation_of_all(const std::vector<const Scoreboard*>& problems) {
  Figure figure{.title = "Amortisation on every problem"};
  figure.numbers = {
      .name = "amortisation",
      .caption = "Backbone evaluations on every problem, methods tuned to the median NRMSE of the first explainer.",
      .columns = columns_after({{"problem"}, {"n", true}}, "the explainer")};
  std::vector<std::string> methods;
  for (const Scoreboard* scores : problems)
    methods.insert(methods.end(), scores->methods().begin(), scores->methods().end());
  sort_for_display(methods);
  methods.erase(std::unique(methods.begin(), methods.end()), methods.end());
  const MethodStyles styles(methods);
  std::vector<std::string> drawn;
  std::map<std::string, int> as_good;  // methods of gradients, and on how many problems they reach the explainer
  bool break_even = false;
  for (const Scoreboard* scores : problems) {
    const auto pays = amortisation_on_the_finest_grid(*scores);
    if (!pays) continue;
    const std::string& pde = scores->run().pde;
    add_numbers(figure.numbers, {pde_label(pde), pays->on.label()}, *pays);
    std::string words = fmt::format("{} has a median NRMSE of {}.", style_of(pays->explainer().method).label,
                                    show(pays->explainer().nrmse));
    for (const TunedMethod& method : pays->of_gradients) {
      as_good[style_of(method.method).label] += method.reached;
      words += fmt::format(" {}: {}.", style_of(method.method).label, show(method.nrmse));
    }
    figure.panels.push_back(panel_of(*pays, styles, "amortisation-" + pde,
                                     fmt::format("{}, n = {}", pde_label(pde), pays->on.label()), words));
    break_even = break_even || any_break_even(*pays);
    for (const TrainedExplainer& explainer : pays->explainers) drawn.push_back(explainer.method);
    for (const TunedMethod& method : alternatives(*pays)) drawn.push_back(method.method);
  }
  if (figure.panels.empty()) return missing(figure.title, "no run has the training row of an explainer");
  for (const std::string& method : methods)
    if (std::ranges::find(drawn, method) != drawn.end()) figure.legend.push_back(entry_of(styles.of(method)));
  if (break_even) figure.legend.push_back(dot_of_break_even);
  std::string untrained = listing(as_good, [&figure](const auto& won) {
    return fmt::format("{} on {} of {} problems", won.first, won.second, figure.panels.size());
  });
  if (!untrained.empty()) untrained = " As good as the explainer without training: " + untrained + ".";
  figure.finding = fmt::format(
      "Backbone evaluations against explained samples, at the n of the paper's figure where a run has it, else on its "
      "finest grid. The lines that do not pass through the origin are explainers with their training.{} {}",
      untrained, how_to_read);
  return figure;
}

}  // namespace opshap::reporting::figures
