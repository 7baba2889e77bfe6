// How trained explainers stand beside each other, beside methods without training, and beside what does not look at the
// input. The rules are ours.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "metrics/registry.hpp"
#include "reporting/claims_measurement.hpp"
#include "reporting/methods.hpp"
#include "reporting/paper.hpp"

namespace opshap::reporting::claims {

namespace {

enum class Quotient { other_over_explainer, explainer_over_other };

/// The NRMSE of something else over that of each explainer, or the inverse, input by input, on every grid where `other`
/// gives a cell. An explainer is not compared with itself.
template <typename OtherCell>
Measurements beside_explainers(const Scoreboard& scores, Quotient quotient, const OtherCell& other) {
  Measurements found;
  for (const Discretisation& on : scores.discretisations()) {
    const Cell* beside = other(on);
    if (beside == nullptr) continue;
    for (const std::string& name : scores.methods_with_access("amortised")) {
      const Cell* trained = scores.cell(on, name);
      if (trained == nullptr || trained == beside) continue;
      const std::string at = fmt::format("{}, {}", place(on), style_of(name).label);
      const auto better = quotient == Quotient::other_over_explainer ? better_input_by_input(at, *beside, *trained)
                                                                     : better_input_by_input(at, *trained, *beside);
      if (better) found.push_back(*better);
    }
  }
  return found;
}

Judgement beats_explainers(const Measurements& found, const std::string& method, const std::string& otherwise) {
  if (found.empty()) return not_testable(otherwise);
  return all_of(found, {.quantity = method + "'s NRMSE over the explainer's, in the median over the inputs,",
                        .figures = {method, "explainer"},
                        .equal = 1});
}

Judgement beats_explainers(const Scoreboard& scores, std::string_view method) {
  return beats_explainers(beside_explainers(scores, Quotient::other_over_explainer,
                                            [&](const Discretisation& on) { return scores.cell(on, method); }),
                          style_of(method).label,
                          fmt::format("{} and a trained explainer were not both run on enough inputs.", method));
}

constexpr std::string_view beats_rule =
    "the NRMSE over that of each trained explainer of the run, input by input, has a median of at most 1 at every n";

}  // namespace

Claim mean_field_beats_explainers() {
  return {
      .id = "mean_field_beats_explainers",
      .source = "opshap",
      .statement = "The mean field, which needs no training, is closer to the reference than every trained explainer.",
      .where = "Reverse passes of the backbone alone; it needs a closure, which an FNO and a LocalNO have",
      .rule = beats_rule,
      .judge = [](const Scoreboard& scores) { return beats_explainers(scores, "mean_field"); }};
}

Claim integrated_gradients_beat_explainers() {
  return {.id = "integrated_gradients_beat_explainers",
          .source = "opshap",
          .statement =
              "Integrated gradients, which need no training, are closer to the reference than every trained "
              "explainer.",
          .where = "50 reverse passes of the backbone",
          .rule = beats_rule,
          .judge = [](const Scoreboard& scores) { return beats_explainers(scores, integrated_gradients); }};
}

Claim antithetic_pair_beats_explainer() {
  return {.id = "antithetic_pair_beats_explainer",
          .source = "opshap",
          .statement =
              "One pair of opposite orderings, 2n evaluations, is closer to the reference than every trained "
              "explainer at many players; it is not in the paper.",
          .where = "Antithetic permutation sampling; what the sentence about classical methods leaves out",
          .rule =
              "the NRMSE at a budget of 2n over that of each trained explainer of the run, input by input, has a "
              "median of at most 1 at every n >= 512",
          .judge = [](const Scoreboard& scores) {
            const auto one_pair = [&](const Discretisation& on) {
              return on.players < paper_constant("many_players")
                         ? nullptr
                         : scores.cell(on, "permutation_antithetic", 2 * on.players);
            };
            return beats_explainers(beside_explainers(scores, Quotient::other_over_explainer, one_pair), "One pair",
                                    "One antithetic pair was not run at n >= 512.");
          }};
}

Claim explainers_beat_the_constant() {
  return {.id = "explainers_beat_the_constant",
          .source = "opshap",
          .statement =
              "Every trained explainer is closer to the reference than the mean of the other inputs' references, "
              "which does not look at the input.",
          .where = "The null that an NRMSE lacks; it is made where the references are kept",
          .rule = "the NRMSE over that of the constant, input by input, has a median of at most 1 at every n",
          .judge = [](const Scoreboard& scores) {
            if (!scores.keeps_references()) return not_kept("The references of this run are not kept.");
            const Measurements found =
                beside_explainers(scores, Quotient::explainer_over_other,
                                  [&](const Discretisation& on) { return scores.cell(on, constant_method); });
            if (found.empty()) return not_testable("The references of too few inputs are there.");
            return all_of(found,
                          {.quantity = "The explainer's NRMSE over the constant's, in the median over the inputs,",
                           .figures = {"explainer", "constant"},
                           .equal = 1});
          }};
}

Claim explainer_beats_uniform() {
  return {
      .id = "explainer_beats_uniform",
      .source = "opshap",
      .statement = "OperatorSHAP is closer to the reference than the attribution that knows nothing but v(N) - v(∅).",
      .where = "What any trained explainer reaches: the gain shared out by volume",
      .rule = "the median NRMSE is not above that of the uniform attribution at every n",
      .judge =
          [](const Scoreboard& scores) {
            const Measurements found =
                measure_from(0, scores, {explainer, "uniform"}, "nrmse", ratio_of_two, 1, Side::at_most);
            if (found.empty()) return not_testable("operator_shap and uniform were not both run on enough inputs.");
            return all_of(found, {.quantity = "OperatorSHAP's median NRMSE over that of the uniform attribution",
                                  .figures = {"OperatorSHAP", "uniform"},
                                  .equal = 1});
          },
      .check = true};
}

Claim stronger_estimators_improve_quality() {
  return of_the_paper(
      "stronger_estimators_improve_quality",
      "at every n the NRMSE of each further explainer of the run over that of FastSHAP, input by input, has a median "
      "of at most 1; these explainers learn from labels, and differ from FastSHAP in more than that: coordinates, "
      "head, loss, steps and rate",
      [](const Scoreboard& scores) {
        const Measurements found =
            beside_explainers(scores, Quotient::explainer_over_other,
                              [&](const Discretisation& on) { return scores.cell(on, explainer); });
        if (found.empty()) return not_testable("The run has no further explainer beside FastSHAP.");
        return all_of(found,
                      {.quantity = "The explainer's NRMSE over FastSHAP's, in the median over the inputs,",
                       .figures = {"explainer of labels", "FastSHAP"},
                       .equal = 1},
                      "Two recipes are compared, so this does not say what the labels alone buy.");
      });
}

Claim low_error() {
  return of_the_paper(
      "low_error", "the median NRMSE of OperatorSHAP is at most 0.1 at every n; the paper states no number",
      [](const Scoreboard& scores) {
        const Measurements found = measure_from(0, scores, {explainer}, "nrmse", first_of, 0.1, Side::at_most);
        if (found.empty()) return not_run(explainer);
        return all_of(found, {.quantity = "OperatorSHAP's median NRMSE"});
      });
}

Claim comparable_on_both_grids_of_heat_2d() {
  return of_the_paper(
      "comparable_on_both_grids_of_heat_2d",
      "the median NRMSE of OperatorSHAP is at most 0.05 above RegressionMSR's on 8 x 8 and on 16 x 16 points",
      [](const Scoreboard& scores) {
        Measurements found;
        for (const int side : {8, 16}) {
          const Discretisation on{.players = side * side, .shape = {side, side}};
          const auto excess = measure_at(
              scores, on, {explainer, regression_msr}, "nrmse",
              [](std::span<const double> medians) { return medians[0] - medians[1]; }, metrics::find("nrmse").tolerance,
              Side::at_most);
          if (!excess) return not_testable(place(on) + " was not run with both methods.");
          found.push_back(*excess);
        }
        return all_of(found, {.quantity = "OperatorSHAP's median NRMSE less RegressionMSR's",
                              .figures = {"OperatorSHAP", "RegressionMSR"},
                              .equal = 0});
      },
      [](const runs::Run& run) -> std::string {
        return run.pde == "heat2d"
                   ? ""
                   : fmt::format("The sentence is about heat 2D, and the run is on {}.", pde_label(run.pde));
      });
}

Claim robust_to_relu() {
  return of_the_paper(
      "robust_to_relu",
      "the backbone has the activation ReLU, and OperatorSHAP's median Pearson correlation with the reference is at "
      "least 0.9 at every n; the paper states no number and shows no figure",
      [](const Scoreboard& scores) {
        const Measurements found = measure_from(0, scores, {explainer}, "pearson", first_of, 0.9, Side::at_least);
        if (found.empty()) return not_run(explainer);
        return all_of(found, {.quantity = "OperatorSHAP's median Pearson correlation"});
      },
      [](const runs::Run& run) -> std::string {
        for (const auto& [key, words] : run.settings) {
          if (words.find("non_linearity = 'relu'") != std::string::npos || (key == "non_linearity" && words == "relu"))
            return "";
        }
        return "The sentence is about an operator with the activation ReLU, and this run's has another one.";
      });
}

}  // namespace opshap::reporting::claims
