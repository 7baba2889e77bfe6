// Sentences about time and evaluations. The rules are ours, since the paper states no thresholds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "reporting/amortisation.hpp"
#include "reporting/claims_measurement.hpp"
#include "reporting/methods.hpp"
#include "reporting/paper.hpp"

namespace opshap::reporting::claims {

namespace {

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
      const std::vector<const Cell*> cells = {theirs, ours};
      auto longer = measure(fmt::format("{}, {}", place(on), style_of(method).label), PairedScores::of(cells, seconds),
                            ratio_of_two, threshold, Side::at_least);
      if (!longer) continue;
      longer->figures = {show_seconds(ours->seconds()->median), show_seconds(theirs->seconds()->median)};
      found.push_back(*longer);
    }
  }
  return found;
}

std::string absent_baselines(const Scoreboard& scores) {
  std::string absent;
  for (const std::string_view method : papers_baselines) {
    const bool run = std::any_of(scores.cells().begin(), scores.cells().end(),
                                 [method](const Cell& cell) { return cell.method == method; });
    if (!run) absent += fmt::format("{}{} was not run.", absent.empty() ? "" : " ", method);
  }
  return absent;
}

Judgement nobody_timed() { return not_testable("No baseline of the paper was timed beside OperatorSHAP."); }

/// "integrated gradients reach 0.028 with 50 reverse passes": what needs no training and is as good.
std::string as_good_without_training(const Scoreboard& scores, const Amortisation& pays) {
  std::string words;
  for (const std::string& method : scores.methods()) {
    const Cell* cell = scores.cell(pays.on, method);
    if (cell == nullptr || cell->access != "gradient" || !cell->quartiles("nrmse")) continue;
    const double error = cell->quartiles("nrmse")->median;
    if (error > pays.explainer_nrmse) continue;
    words += fmt::format("{}{} has {} with {} reverse passes", words.empty() ? "" : ", ", style_of(method).label,
                         show(error), show_count(cell->gradients().value_or(0)));
  }
  return words.empty() ? "" : fmt::format("As good without training: {}.", words);
}

}  // namespace

Claim faster_than_baselines() {
  return of_the_paper(
      "faster_than_baselines",
      "the median wall time of each of these methods is at least 2 times OperatorSHAP's at every n, on the machine of "
      "the run; the paper timed on a GPU, but which method is faster can be asked of any machine",
      [](const Scoreboard& scores) {
        const Measurements found = times_longer(scores, 2);
        if (found.empty()) return nobody_timed();
        return all_of(
            found,
            {.quantity = "A baseline's median wall time over OperatorSHAP's", .figures = {"OperatorSHAP", "baseline"}},
            absent_baselines(scores));
      });
}

Claim orders_of_magnitude_faster() {
  return of_the_paper(
      "orders_of_magnitude_faster",
      "never: how many orders of magnitude is a property of the authors' GPU and of their program; the ratio on this "
      "machine is shown",
      [](const Scoreboard& scores) {
        const Measurements found = times_longer(scores, 100);
        if (found.empty()) return nobody_timed();
        Judgement judgement = all_of(found, {.quantity = "A baseline's median wall time over OperatorSHAP's",
                                             .figures = {"OperatorSHAP", "baseline"}});
        const auto least = std::min_element(
            found.begin(), found.end(), [](const Measurement& a, const Measurement& b) { return a.value < b.value; });
        judgement.verdict = Verdict::not_comparable;
        judgement.value = least->value;
        judgement.interval = {least->interval.low, least->interval.high};
        judgement.threshold = std::nullopt;
        judgement.evidence = fmt::format(
            "The paper timed its program on an A100, and this run timed ours on its own machine. Here a baseline takes "
            "at least {} times as long as OperatorSHAP ({}).",
            show(least->value), least->at);
        return judgement;
      });
}

Claim zero_budget_a_sample() {
  return of_the_paper(
      "zero_budget_a_sample",
      "an attribution by OperatorSHAP asks for no coalition; the hard normalisation of the same paper needs v(N) and "
      "v(∅)",
      [](const Scoreboard& scores) {
        std::int64_t most = 0, count = 0;
        for (const runs::AttributionRow& row : scores.run().results.attributions) {
          if (row.method != explainer || row.evaluations == 0) continue;
          most = std::max(most, row.distinct);
          ++count;
        }
        const bool run = std::any_of(scores.cells().begin(), scores.cells().end(),
                                     [](const Cell& cell) { return cell.method == explainer; });
        if (!run) return not_run(explainer);
        return all_of({exactly("", static_cast<double>(most), 0, Side::at_most)},
                      {.quantity = "The number of coalitions that OperatorSHAP evaluates for an input"},
                      count > 0 ? "They are v(N) and v(∅), for the normalisation." : "");
      });
}

Claim training_is_amortised() {
  return of_the_paper(
      "training_is_amortised",
      "at n = 512 an explained sample costs OperatorSHAP at most a hundredth of the evaluations of every sampling "
      "method that reaches its error, each at the smallest budget where it does",
      [](const Scoreboard& scores) {
        const auto pays = amortisation(scores);
        const auto figure = Discretisation::line(static_cast<int>(paper_constant("amortisation_players")));
        if (!pays || pays->on != figure) {
          return not_testable(
              fmt::format("There are no budget curves at {}, or no row of the explainer's training.", place(figure)));
        }
        Measurements found;
        std::string never;
        for (const TunedMethod& method : pays->methods) {
          const std::string label = style_of(method.method).label;
          if (!method.reached) {
            never += fmt::format("{}{}", never.empty() ? "" : ", ", label);
            continue;
          }
          const std::string break_even =
              method.break_even ? show_count(std::ceil(*method.break_even)) : std::string("never");
          found.push_back(exactly(label, ratio(method.evaluations, pays->explainer_evaluations), 100, Side::at_least,
                                  {show_count(method.evaluations), show(method.nrmse), break_even}));
        }
        if (found.empty()) return not_testable("No sampling method reaches OperatorSHAP's error at n = 512.");
        std::string more = fmt::format("Training took {} evaluations, an explanation takes {}.",
                                       show_count(static_cast<double>(pays->training_evaluations)),
                                       show_count(pays->explainer_evaluations));
        if (!never.empty()) more += fmt::format(" Not as good at any budget run: {}.", never);
        const std::string gradients = as_good_without_training(scores, *pays);
        return all_of(found,
                      {.quantity = "The evaluations a sample over OperatorSHAP's",
                       .figures = {"evaluations", "NRMSE", "break-even at samples"},
                       .at = "method"},
                      gradients.empty() ? more : more + " " + gradients);
      },
      unless_on_lines);
}

}  // namespace opshap::reporting::claims
