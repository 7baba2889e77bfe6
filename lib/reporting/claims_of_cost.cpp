// Sentences about time and evaluations, and about how good an explainer is for them. The rules are ours, since the
// paper states no thresholds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "metrics/registry.hpp"
#include "reporting/amortisation.hpp"
#include "reporting/claims_measurement.hpp"
#include "reporting/methods.hpp"
#include "reporting/paper.hpp"

namespace opshap::reporting::claims {

namespace {

/// Whether the wall times of a run can be compared with each other.
struct Timing {
  std::string machine;  ///< processor, device and threads, in words
  std::string why_not;  ///< a sentence; empty where all sittings had one machine with nothing beside them
};

/// Of the processors' time. What a system does for itself stays below it.
constexpr double most_beside = 0.05;

std::string machine_of(const runs::Sitting& sitting) {
  std::string words = sitting.value("processor");
  if (const std::string gpu = sitting.value("gpu"); !gpu.empty()) words += ", " + gpu;
  if (const std::string threads = sitting.value("threads"); !threads.empty()) words += ", " + threads + " threads";
  return words;
}

/// Sittings that do not say what ran beside them, which is those of before, are not comparable.
Timing timing_of(const runs::Run& run) {
  std::set<std::string> machines;
  Timing timing;
  for (const runs::Sitting& sitting : run.sittings) {
    machines.insert(machine_of(sitting));
    const std::optional<double> beside = sitting.others_share();
    if (!beside) {
      timing.why_not = "The run does not say what ran beside it, so its wall times are not comparable.";
    } else if (*beside > most_beside && timing.why_not.empty()) {
      timing.why_not = fmt::format("Other programs had {:.0f} % of the processors beside this run.", 100 * *beside);
    }
  }
  timing.machine = fmt::format("{}", fmt::join(machines, "; "));
  if (machines.size() > 1) timing.why_not = fmt::format("The run was timed on several machines ({}).", timing.machine);
  return timing;
}

const std::vector<std::string_view> papers_baselines = {kernel_shap, regression_msr, integrated_gradients};

/// How many times as long each of the paper's baselines takes as the explainer, at every n.
Measurements times_longer(const Scoreboard& scores, double threshold) {
  const PairedScores::Score seconds = [](const runs::AttributionRow& row) -> std::optional<double> {
    if (row.evaluations == 0 && row.gradients == 0) return std::nullopt;  // refused
    return row.game_seconds + row.estimator_seconds;
  };
  Measurements found;
  for (const Discretisation& on : scores.discretisations()) {
    const Cell* ours = scores.cell(on, explainer);
    const auto our_seconds = ours == nullptr ? std::nullopt : ours->seconds();
    if (!our_seconds || our_seconds->median <= 0) continue;
    for (const std::string_view method : papers_baselines) {
      const Cell* theirs = scores.cell(on, method);
      if (theirs == nullptr) continue;
      auto longer = measure(fmt::format("{}, {}", place(on), style_of(method).label),
                            PairedScores::of({theirs, ours}, seconds), ratio_of_two, threshold, Side::at_least);
      if (!longer) continue;
      longer->figures = {show_seconds(ours->seconds()->median), show_seconds(theirs->seconds()->median)};
      found.push_back(*longer);
    }
  }
  return found;
}

bool was_run(const Scoreboard& scores, std::string_view method) {
  return std::ranges::find(scores.cells(), method, &Cell::method) != scores.cells().end();
}

Judgement nobody_timed() { return not_testable("No baseline of the paper was timed beside OperatorSHAP."); }

/// The same numbers without a verdict.
Judgement not_comparable(Judgement judgement, const std::string& why) {
  judgement.verdict = Verdict::not_comparable;
  judgement.direction = std::nullopt;
  judgement.evidence = why + " " + judgement.evidence;
  return judgement;
}

/// The amortisation on the grid of the paper's figure; none without curves of enough inputs there.
std::optional<Amortisation> at_the_figure(const Scoreboard& scores) {
  const auto pays = amortisation(scores);
  const auto figure = Discretisation::line(static_cast<int>(paper_constant("amortisation_players")));
  if (!pays || pays->on != figure || pays->samples.size() < least_inputs) return std::nullopt;
  return pays;
}

Judgement no_curves_at_the_figure() {
  return not_testable(
      fmt::format("There are no budget curves of {} inputs or more at n = {}, or no row of the explainer's training.",
                  least_inputs, paper_constant("amortisation_players")));
}

constexpr double most_break_even = 1000;

std::string unless_heat_2d(const runs::Run& run) {
  return run.pde == "heat2d" ? ""
                             : fmt::format("The sentence is about heat 2D, and the run is on {}.", pde_label(run.pde));
}

std::string unless_relu(const runs::Run& run) {
  for (const auto& [key, words] : run.settings) {
    if (words.find("non_linearity = 'relu'") != std::string::npos || (key == "non_linearity" && words == "relu"))
      return "";
  }
  return "The sentence is about an operator with the activation ReLU, and this run's has another one.";
}

Judgement faster_than_baselines(const Scoreboard& scores) {
  const Measurements found = times_longer(scores, 2);
  if (found.empty()) return nobody_timed();
  const Timing timing = timing_of(scores.run());
  const auto absent = [&](std::string_view method) { return was_run(scores, method) ? "" : was_not_run(method); };
  Judgement judgement = all_of(
      found, {.quantity = "A baseline's median wall time over OperatorSHAP's", .figures = {"OperatorSHAP", "baseline"}},
      listing(papers_baselines, absent, " "));
  if (!timing.why_not.empty()) return not_comparable(judgement, timing.why_not);
  judgement.evidence += fmt::format(" Timed on {}.", timing.machine);
  return judgement;
}

Judgement orders_of_magnitude_faster(const Scoreboard& scores) {
  const Measurements found = times_longer(scores, 100);
  if (found.empty()) return nobody_timed();
  const auto least = std::ranges::min_element(found, {}, &Measurement::value);
  Judgement judgement = all_of({*least}, {.quantity = "The least wall time of a baseline over OperatorSHAP's",
                                          .figures = {"OperatorSHAP", "baseline"}});
  judgement.threshold = std::nullopt;
  return not_comparable(judgement,
                        "The paper timed its program on an A100, and this run timed ours on its own machine.");
}

Judgement zero_budget_a_sample(const Scoreboard& scores) {
  std::int64_t most = 0, count = 0;
  for (const runs::AttributionRow& row : scores.run().results.attributions) {
    if (row.method != explainer || row.evaluations == 0) continue;
    most = std::max(most, row.distinct);
    ++count;
  }
  if (!was_run(scores, explainer)) return not_run(explainer);
  return all_of({exactly("", static_cast<double>(most), 0, Side::at_most)},
                {.quantity = "The number of coalitions that OperatorSHAP evaluates for an input"},
                count > 0 ? "They are v(N) and v(∅), for the normalisation." : "");
}

Judgement training_is_amortised(const Scoreboard& scores) {
  const auto pays = at_the_figure(scores);
  if (!pays) return no_curves_at_the_figure();
  Measurements found;
  std::string never;
  for (const TunedMethod& method : pays->methods) {
    const std::string label = style_of(method.method).label;
    if (!method.reached) {
      never += fmt::format("{}{}", never.empty() ? "" : ", ", label);
      continue;
    }
    found.push_back(exactly(label, ratio(method.evaluations, pays->explainer().evaluations), 100, Side::at_least,
                            {show_count(method.evaluations), show(method.nrmse)}));
  }
  if (found.empty()) return not_testable("No sampling method reaches OperatorSHAP's error at n = 512.");
  return all_of(
      found,
      {.quantity = "The evaluations a sample over OperatorSHAP's", .figures = {"evaluations", "NRMSE"}, .at = "method"},
      never.empty() ? "" : fmt::format("Not as good at any budget run: {}.", never));
}

Judgement training_breaks_even(const Scoreboard& scores) {
  const auto pays = at_the_figure(scores);
  if (!pays) return no_curves_at_the_figure();
  Measurements found;
  for (const auto* methods : {&pays->methods, &pays->of_gradients}) {
    for (const TunedMethod& method : *methods) {
      if (!method.reached) continue;
      const double never = std::numeric_limits<double>::infinity();
      found.push_back(exactly(style_of(method.method).label, std::ceil(method.break_even.value_or(never)),
                              most_break_even, Side::at_most, {show_count(method.evaluations), show(method.nrmse)}));
    }
  }
  if (found.empty()) {
    return not_testable(
        "No method without training is as good as OperatorSHAP at n = 512 at the budgets run, so nothing tells after "
        "how many inputs the training is saved.");
  }
  return all_of(found,
                {.quantity = "The number of inputs after which the training is saved",
                 .figures = {"evaluations an input", "NRMSE"},
                 .at = "method as good without training"},
                fmt::format("Training took {} evaluations, an explanation takes {}, with an NRMSE of {}.",
                            show_count(static_cast<double>(pays->explainer().training_evaluations)),
                            show_count(pays->explainer().evaluations), show(pays->explainer().nrmse)));
}

}  // namespace

std::vector<Claim> of_cost() {
  return {
      {.id = "faster_than_baselines",
       .title = "it is faster than the baselines",
       .rule = "the median wall time of each of these methods is at least 2 times OperatorSHAP's at every n, in a run "
               "on one machine with nothing beside it; the paper timed on a GPU, but which method is faster can be "
               "asked of any machine",
       .judge = faster_than_baselines},
      {.id = "orders_of_magnitude_faster",
       .title = "it is orders of magnitude faster",
       .rule = "never: how many orders of magnitude is a property of the authors' GPU and of their program; the ratio "
               "on this machine is shown",
       .judge = orders_of_magnitude_faster},
      {.id = "low_error",
       .title = "its error is low",
       .rule = "the median NRMSE of OperatorSHAP is at most 0.1 at every n; the paper states no number",
       .judge = of_medians({.methods = {explainer},
                            .bound = 0.1,
                            .wording = {.quantity = "OperatorSHAP's median NRMSE"},
                            .otherwise = was_not_run(explainer)})},
      {.id = "zero_budget_a_sample",
       .title = "it needs no model evaluation per explanation",
       .rule = "an attribution by OperatorSHAP asks for no coalition; the hard normalisation of the same paper needs "
               "v(N) and v(∅)",
       .judge = zero_budget_a_sample,
       .by_construction = true},
      {.id = "training_is_amortised",
       .title = "its cost per sample is constant",
       .rule = "at n = 512 an explained sample costs OperatorSHAP at most a hundredth of the evaluations of every "
               "sampling method that reaches its error, each at the smallest budget where it does; 2 evaluations "
               "against n or more, so no run can say otherwise",
       .judge = training_is_amortised,
       .excluded = unless_on_lines,
       .by_construction = true},
      {.id = "training_breaks_even",
       .title = "its training is saved within 1000 inputs",
       .rule = "at n = 512 the evaluations of the training are saved after at most 1000 explained inputs, against the "
               "cheapest method without training that is as good, on five inputs or more; the paper states no number, "
               "and its data sets have 1000 to 10 000 samples",
       .judge = training_breaks_even,
       .excluded = unless_on_lines},
      {.id = "stronger_estimators_improve_quality",
       .title = "explainers of labels are better than FastSHAP",
       .rule = "at every n the NRMSE of each further explainer of the run over that of FastSHAP, input by input, has a "
               "median of at most 1; these explainers learn from labels, and differ from FastSHAP in more than that: "
               "coordinates, head, loss, steps and rate",
       .judge =
           beside_explainers({.other = explainer,
                              .better = Better::explainer,
                              .first = {"The explainer", "explainer of labels"},
                              .second = {"FastSHAP", "FastSHAP"},
                              .otherwise = "The run has no further explainer beside FastSHAP.",
                              .more = "Two recipes are compared, so this does not say what the labels alone buy."})},
      {.id = "comparable_on_both_grids_of_heat_2d",
       .title = "on heat 2D it is comparable to RegressionMSR on both grids",
       .rule = "the median NRMSE of OperatorSHAP is at most 0.05 above RegressionMSR's on 8 x 8 and on 16 x 16 points",
       .judge = of_medians({.methods = {explainer, regression_msr},
                            .number = difference_of_two,
                            .bound = metrics::find("nrmse").tolerance,
                            .only = {{.players = 64, .shape = {8, 8}}, {.players = 256, .shape = {16, 16}}},
                            .wording = {.quantity = "OperatorSHAP's median NRMSE less RegressionMSR's",
                                        .figures = {"OperatorSHAP", "RegressionMSR"},
                                        .equal = 0},
                            .otherwise = "Not both grids were run with both methods."}),
       .excluded = unless_heat_2d},
      {.id = "robust_to_relu",
       .title = "it is robust to ReLU",
       .rule = "the backbone has the activation ReLU, and OperatorSHAP's median Pearson correlation with the reference "
               "is at least 0.9 at every n; the paper states no number and shows no figure",
       .judge = of_medians({.methods = {explainer},
                            .metrics = {"pearson"},
                            .bound = 0.9,
                            .side = Side::at_least,
                            .wording = {.quantity = "OperatorSHAP's median Pearson correlation"},
                            .otherwise = was_not_run(explainer)}),
       .excluded = unless_relu},
  };
}

}  // namespace opshap::reporting::claims
