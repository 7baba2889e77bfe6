// Sentences of the paper that one PDE can support or contradict. Quotes are the paper's words; the rules are ours,
// since the paper states no thresholds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "metrics/registry.hpp"
#include "reporting/amortisation.hpp"
#include "reporting/claims.hpp"
#include "reporting/methods.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting::claims {

namespace {

constexpr std::string_view explainer = "operator_shap";
/// The paper's RegressionMSR is that of shapiq, whose version it does not name; 1.5.0 is the first that has it.
constexpr std::string_view regression_msr = "regression_msr_shapiq_1_6";

std::optional<double> median(const Scoreboard& scores, int players, std::string_view method, std::string_view metric) {
  const Cell* cell = scores.cell(players, method);
  const auto found = cell == nullptr ? std::nullopt : cell->quartiles(metric);
  return found ? std::optional(found->median) : std::nullopt;
}

std::string not_run(std::string_view method) { return fmt::format("{} not run", method); }

/// "0.812 at n = 16, 0.790 at n = 32": the medians of a metric at every n where there is one.
std::string medians_in_words(const Scoreboard& scores, std::string_view method, std::string_view metric) {
  std::string words;
  for (const int players : scores.resolutions()) {
    if (const auto value = median(scores, players, method, metric))
      words += fmt::format("{}{} at n = {}", words.empty() ? "" : ", ", show(*value), players);
  }
  return words;
}

/// Of the cells (n, metric) that both have: in how many is the explainer's median better?
Judgement quality_against(const Scoreboard& scores, std::string_view other) {
  int better = 0, cells = 0;
  for (const int players : scores.resolutions()) {
    for (const std::string_view metric : {"r2", "pearson", "nrmse"}) {
      const auto ours = median(scores, players, explainer, metric), theirs = median(scores, players, other, metric);
      if (!ours || !theirs) continue;
      ++cells;
      better += metrics::find(metric).better == metrics::Better::lower ? *ours < *theirs : *ours > *theirs;
    }
  }
  if (cells == 0)
    return not_testable(not_run(scores.cell(scores.resolutions().front(), explainer) == nullptr ? explainer : other));
  return verdict(
      2 * better >= cells,
      fmt::format("OperatorSHAP has the better median in {} of {} cells (n, metric); NRMSE {} against {}", better,
                  cells, medians_in_words(scores, explainer, "nrmse"), medians_in_words(scores, other, "nrmse")));
}

/// NRMSE of RegressionMSR against the explainer's at those n that `in_range` accepts.
template <typename InRange>
Judgement regression_msr_wins(const Scoreboard& scores, const InRange& in_range, bool should_win) {
  bool holds = true;
  std::string words;
  for (const int players : scores.resolutions()) {
    const auto ours = median(scores, players, explainer, "nrmse"),
               theirs = median(scores, players, regression_msr, "nrmse");
    if (!in_range(players) || !ours || !theirs) continue;
    holds = holds && (*theirs < *ours) == should_win;
    words += fmt::format("{}n = {}: RegressionMSR {}, OperatorSHAP {}", words.empty() ? "" : "; ", players,
                         show(*theirs), show(*ours));
  }
  if (words.empty()) return not_testable(not_run(regression_msr));
  return verdict(holds, words);
}

struct Winner {
  std::string method;
  std::int64_t budget = 0;
};

/// The smallest budget at which some sampling method's median NRMSE is below the explainer's, on the inputs of its
/// curve.
std::optional<Winner> cheapest_winner(const Scoreboard& scores, int players) {
  std::optional<Winner> best;
  const Cell* amortised = scores.cell(players, explainer);
  if (amortised == nullptr) return best;
  for (const std::string& method : scores.sampling_methods()) {
    for (const Cell& cell : scores.curve(players, method, 1)) {
      const auto ours = amortised->restricted_to(cell.samples()).quartiles("nrmse");
      if (!ours || cell.quartiles("nrmse")->median >= ours->median) continue;
      if (!best || *cell.budget < best->budget) best = Winner{method, *cell.budget};
      break;
    }
  }
  return best;
}

std::int64_t largest_budget(const Scoreboard& scores, int players) {
  std::int64_t largest = 0;
  for (const std::string& method : scores.sampling_methods()) {
    for (const Cell& cell : scores.curve(players, method, 1)) largest = std::max(largest, *cell.budget);
  }
  return largest;
}

/// How much faster than the fastest baseline the explainer is, at the n where that is least.
Judgement faster_by(const Scoreboard& scores, double factor, const std::vector<std::string_view>& baselines) {
  double least = 0;
  std::string words, absent;
  for (const std::string_view method : baselines) {
    const bool run = std::any_of(scores.resolutions().begin(), scores.resolutions().end(),
                                 [&](int players) { return scores.cell(players, method) != nullptr; });
    if (!run) absent += fmt::format("; {}", not_run(method));
  }
  for (const int players : scores.resolutions()) {
    const Cell* ours = scores.cell(players, explainer);
    const auto our_seconds = ours == nullptr ? std::nullopt : ours->seconds();
    if (!our_seconds || our_seconds->median <= 0) continue;
    for (const std::string_view method : baselines) {
      const Cell* theirs = scores.cell(players, method);
      const auto their_seconds = theirs == nullptr ? std::nullopt : theirs->seconds();
      if (!their_seconds) continue;
      const double ratio = their_seconds->median / our_seconds->median;
      if (!words.empty() && ratio >= least) continue;
      least = ratio;
      words = fmt::format("smallest margin: {:.2g} times, against {} at n = {} ({} against {})", ratio,
                          style_of(method).label, players, show_seconds(their_seconds->median),
                          show_seconds(our_seconds->median));
    }
  }
  if (words.empty()) return not_testable("no baseline and OperatorSHAP were both timed" + absent);
  return verdict(least >= factor, words + absent);
}

/// Median over the inputs of ‖n·reference − density‖₂ / ‖density‖₂.
std::optional<double> distance_to_density(const Scoreboard& scores, int players) {
  std::vector<double> distances;
  for (const std::int64_t sample : scores.samples(players)) {
    const ValuesRow* reference = scores.values(players, sample, "reference");
    const ValuesRow* density = scores.values(players, sample, explainer);
    if (reference == nullptr || density == nullptr) continue;
    const Measured distance = metrics::nrmse(density->values, reference->values);
    if (distance.value) distances.push_back(*distance.value);
  }
  if (distances.empty()) return std::nullopt;
  return statistics::quantile(std::move(distances), 0.5);
}

}  // namespace

Claim quality_against_integrated_gradients() {
  return {.id = "quality_against_integrated_gradients",
          .source = "paper",
          .statement =
              "“OperatorSHAP achieves comparable and often superior quality to RegressionMSR and IG across "
              "resolutions.” (Here: IG.)",
          .where = "Experiments, (i) Attribution quality across resolutions",
          .rule = "the better median in at least half of the cells (n, metric) over R², Pearson and NRMSE",
          .judge = [](const Scoreboard& scores) { return quality_against(scores, "integrated_gradients"); }};
}

Claim quality_against_regression_msr() {
  return {.id = "quality_against_regression_msr",
          .source = "paper",
          .statement =
              "“OperatorSHAP achieves comparable and often superior quality to RegressionMSR and IG across "
              "resolutions.” (Here: RegressionMSR.)",
          .where = "Experiments, (i) Attribution quality across resolutions",
          .rule = "the better median in at least half of the cells (n, metric) over R², Pearson and NRMSE",
          .judge = [](const Scoreboard& scores) { return quality_against(scores, regression_msr); }};
}

Claim consistent_across_resolutions() {
  return {
      .id = "consistent_across_resolutions",
      .source = "paper",
      .statement =
          "“OperatorSHAP's explanations are consistent with state-of-the-art discrete Shapley values across "
          "resolutions and transfer across grid sizes without retraining.”",
      .where = "Abstract",
      .rule =
          "median Pearson correlation with the reference of at least 0.9 at every n run, two or more (the paper's "
          "lowest on Burgers 1D is 0.907, at n = 1024)",
      .judge = [](const Scoreboard& scores) {
        double least = 1;
        int count = 0;
        for (const int players : scores.resolutions()) {
          if (const auto value = median(scores, players, explainer, "pearson")) {
            least = std::min(least, *value);
            ++count;
          }
        }
        if (count < 2)
          return not_testable(fmt::format("OperatorSHAP has a correlation at {} resolutions, two are needed", count));
        return verdict(least >= 0.9, "median Pearson " + medians_in_words(scores, explainer, "pearson"));
      }};
}

Claim one_model_for_all_resolutions() {
  return {.id = "one_model_for_all_resolutions",
          .source = "paper",
          .statement =
              "“The same trained explainer produces attributions across n ∈ {16, 32, ..., 1024}, while classical "
              "methods needed to be re-run at each resolution.”",
          .where = "Experiments, (i) Attribution quality across resolutions",
          .rule =
              "one explainer training, and its median NRMSE is below that of the uniform attribution at each of the "
              "seven n",
          .judge = [](const Scoreboard& scores) {
            const auto& training = scores.run().results.training;
            const auto trainings = std::count_if(training.begin(), training.end(),
                                                 [](const TrainingRow& row) { return row.stage == "explainer"; });
            if (trainings == 0) return not_testable("no row of the explainer's training");
            bool holds = trainings == 1;
            for (const int players : {16, 32, 64, 128, 256, 512, 1024}) {
              const auto ours = median(scores, players, explainer, "nrmse"),
                         uniform = median(scores, players, "uniform", "nrmse");
              if (!ours || !uniform) return not_testable(fmt::format("n = {} not run", players));
              holds = holds && *ours < *uniform;
            }
            return verdict(holds, fmt::format("{} explainer; NRMSE {}; uniform attribution {}", trainings,
                                              medians_in_words(scores, explainer, "nrmse"),
                                              medians_in_words(scores, "uniform", "nrmse")));
          }};
}

Claim classical_methods_win_at_few_players() {
  return {
      .id = "classical_methods_win_at_few_players",
      .source = "paper",
      .statement =
          "“For low player numbers, classical Shapley approximators outperform OperatorSHAP already for low budgets.”",
      .where = "Additional results, caption of the figure of NMSE against budget (n = 16)",
      .rule =
          "at n = 16 some method that sees only coalition values has a lower median NRMSE with at most 1024 of the 65 "
          "536 coalitions",
      .judge = [](const Scoreboard& scores) {
        if (scores.cell(16, explainer) == nullptr || largest_budget(scores, 16) == 0)
          return not_testable("n = 16 not run with OperatorSHAP and a sampling method");
        const auto winner = cheapest_winner(scores, 16);
        if (!winner)
          return verdict(false, fmt::format("at n = 16 no sampling method is better up to {} coalitions",
                                            largest_budget(scores, 16)));
        return verdict(winner->budget <= 1024, fmt::format("at n = 16 {} is better from {} coalitions on",
                                                           style_of(winner->method).label, winner->budget));
      }};
}

Claim classical_methods_need_more_at_many_players() {
  return {
      .id = "classical_methods_need_more_at_many_players",
      .source = "paper",
      .statement =
          "“For higher player numbers, classical methods need drastically higher budgets to outperform OperatorSHAP.”",
      .where = "Additional results, caption of the figure of NMSE against budget (n = 512 and 1024)",
      .rule =
          "at the largest n >= 512 with budget curves, the cheapest method that beats OperatorSHAP needs at least 10 "
          "times the budget of n = 16",
      .judge = [](const Scoreboard& scores) {
        const std::vector<int> curves = scores.curve_resolutions();
        if (curves.empty() || curves.back() < 512) {
          return not_testable(
              curves.empty() ? std::string("no budget curves")
                             : fmt::format("the largest n with budget curves is {}; the sentence is about 512 and 1024",
                                           curves.back()));
        }
        const int players = curves.back();
        const auto few = cheapest_winner(scores, 16), many = cheapest_winner(scores, players);
        if (!few) return not_testable("no method beats OperatorSHAP at n = 16 within the budgets run");
        const std::int64_t reached = many ? many->budget : largest_budget(scores, players);
        const std::string words =
            fmt::format("n = 16: {} from {} coalitions; n = {}: {}", style_of(few->method).label, few->budget, players,
                        many ? fmt::format("{} from {}", style_of(many->method).label, many->budget)
                             : fmt::format("none up to {}", reached));
        if (!many && reached < 10 * few->budget) return not_testable(words + "; larger budgets were not run");
        return verdict(reached >= 10 * few->budget, words);
      }};
}

Claim integrated_gradients_negative_r2() {
  return {.id = "integrated_gradients_negative_r2",
          .source = "paper",
          .statement = "On Burgers 1D the median R² of IG is negative at every n (-0.03 to -0.13).",
          .where = "Table of all PDEs, Burgers 1D, column R², IG (read from the table, not a quote)",
          .rule = "the median R² of integrated gradients is below 0 at every n >= 32 of the run",
          .judge = [](const Scoreboard& scores) {
            if (scores.run().pde != "burgers1d") return not_testable("the run is not on Burgers 1D");
            bool holds = true;
            int count = 0;
            for (const int players : scores.resolutions()) {
              const auto value = median(scores, players, "integrated_gradients", "r2");
              if (players < 32 || !value) continue;
              holds = holds && *value < 0;
              ++count;
            }
            if (count == 0) return not_testable("integrated_gradients not run at n >= 32");
            return verdict(
                holds, "median R² of integrated gradients " + medians_in_words(scores, "integrated_gradients", "r2"));
          }};
}

Claim regression_msr_wins_at_32_players() {
  return {.id = "regression_msr_wins_at_32_players",
          .source = "paper",
          .statement = "On Burgers 1D RegressionMSR has the lower median NRMSE at n = 32 (0.080 against 0.138).",
          .where = "Table of all PDEs, Burgers 1D, column NRMSE (read from the table, not a quote)",
          .rule = "median NRMSE of RegressionMSR below OperatorSHAP's at n = 32",
          .judge = [](const Scoreboard& scores) {
            return regression_msr_wins(
                scores, [](int players) { return players == 32; }, true);
          }};
}

Claim regression_msr_loses_from_64_players() {
  return {.id = "regression_msr_loses_from_64_players",
          .source = "paper",
          .statement =
              "On Burgers 1D OperatorSHAP has the lower median NRMSE than RegressionMSR from n = 64 on (0.188 against "
              "0.247).",
          .where = "Table of all PDEs, Burgers 1D, column NRMSE (read from the table, not a quote)",
          .rule = "median NRMSE of OperatorSHAP not above RegressionMSR's at every n >= 64 of the run",
          .judge = [](const Scoreboard& scores) {
            return regression_msr_wins(
                scores, [](int players) { return players >= 64; }, false);
          }};
}

Claim regression_msr_better_than_kernel_shap() {
  return {.id = "regression_msr_better_than_kernel_shap",
          .source = "paper",
          .statement = "“RegressionMSR [...] performs better at higher player numbers than KernelSHAP.”",
          .where = "Attribution methods, RegressionMSR",
          .rule = "lower median NRMSE than KernelSHAP at the budget of the tables at every n >= 64 of the run",
          .judge = [](const Scoreboard& scores) {
            bool holds = true;
            std::string words;
            for (const int players : scores.resolutions()) {
              const auto regression = median(scores, players, regression_msr, "nrmse"),
                         kernel = median(scores, players, "kernel_shap", "nrmse");
              if (players < 64 || !regression || !kernel) continue;
              holds = holds && *regression < *kernel;
              words += fmt::format("{}n = {}: RegressionMSR {}, KernelSHAP {}", words.empty() ? "" : "; ", players,
                                   show(*regression), show(*kernel));
            }
            return words.empty() ? not_testable(not_run(regression_msr)) : verdict(holds, words);
          }};
}

Claim faster_than_baselines() {
  return {.id = "faster_than_baselines",
          .source = "paper",
          .statement =
              "“OperatorSHAP performs faster than KernelSHAP, RegressionMSR, or Integrated Gradients by a significant "
              "margin.”",
          .where = "Caption of the figure of runtimes",
          .rule =
              "median wall time per attribution at least 2 times shorter than that of each of these methods at every n "
              "(the paper timed on a GPU, this run on its own machine)",
          .judge = [](const Scoreboard& scores) {
            return faster_by(scores, 2, {"kernel_shap", regression_msr, "integrated_gradients"});
          }};
}

Claim orders_of_magnitude_faster() {
  return {
      .id = "orders_of_magnitude_faster",
      .source = "paper",
      .statement = "“OperatorSHAP is orders of magnitude faster than all baselines, while maintaining a low error.”",
      .where = "Experiments, (ii) Inference speed",
      .rule =
          "median wall time per attribution at least 100 times shorter than that of every baseline of the "
          "paper in the run at every n",
      .judge = [](const Scoreboard& scores) {
        std::vector<std::string_view> baselines;
        for (const std::string& method : scores.methods()) {
          // The mean field is this suite's own.
          if (method != explainer && method != "uniform" && method != "mean_field") baselines.push_back(method);
        }
        return faster_by(scores, 100, baselines);
      }};
}

Claim training_is_amortised() {
  return {.id = "training_is_amortised",
          .source = "paper",
          .statement =
              "“OperatorSHAP includes training evaluations, but stays almost constant with increasing sample size, "
              "while classical methods grow linearly with the number of samples.”",
          .where = "Additional results, caption of the figure of amortisation (n = 512)",
          .rule =
              "at the largest n >= 512 with budget curves, an explained sample costs OperatorSHAP at most a hundredth "
              "of the evaluations of every sampling method tuned to its error",
          .judge = [](const Scoreboard& scores) {
            const auto pays = amortisation(scores);
            if (!pays || pays->methods.empty())
              return not_testable("no budget curves, or no row of the explainer's training");
            if (pays->players < 512)
              return not_testable(
                  fmt::format("the largest n with budget curves is {}; the figure is about 512", pays->players));
            bool holds = true;
            std::string words;
            for (const TunedMethod& method : pays->methods) {
              holds = holds && 100 * pays->explainer_evaluations <= method.evaluations;
              words += fmt::format("; {} {}{}", style_of(method.method).label, show_count(method.evaluations),
                                   method.break_even ? fmt::format(", break-even after {} samples",
                                                                   show_count(std::ceil(*method.break_even)))
                                                     : "");
            }
            return verdict(holds, fmt::format("n = {}: training {} evaluations, then {} a sample{}", pays->players,
                                              show_count(static_cast<double>(pays->training_evaluations)),
                                              show_count(pays->explainer_evaluations), words));
          }};
}

Claim shapley_values_approach_density() {
  return {
      .id = "shapley_values_approach_density",
      .source = "paper",
      .statement = "“With increasing player number, classical Shapley values approach the Aumann--Shapley density.”",
      .where = "Caption of the figure of Shapley values and density (n = 32 and 128; the density is OperatorSHAP's)",
      .rule = "the median over the inputs of |n reference - density| / |density| is smaller at n = 128 than at n = 32",
      .judge = [](const Scoreboard& scores) {
        const auto few = distance_to_density(scores, 32), many = distance_to_density(scores, 128);
        if (!few || !many) return not_testable(fmt::format("no stored values at n = {}", few ? 128 : 32));
        return verdict(*many < *few,
                       fmt::format("median distance {} at n = 32, {} at n = 128", show(*few), show(*many)));
      }};
}

Claim normalisation_is_exact() {
  return {.id = "normalisation_is_exact",
          .source = "paper",
          .statement = "“Hard normalization enforces Σ_i φ̂_i = v(Ω) − v(∅) exactly.”",
          .where = "Attribution methods, OperatorSHAP / FastSHAP",
          .rule = "efficiency gap of at most 1e-12 on every input (rounding of 1024 additions in double precision)",
          .judge =
              [](const Scoreboard& scores) {
                double largest = 0;
                int count = 0;
                for (const AttributionRow& row : scores.run().results.attributions) {
                  if (row.method != explainer || !row.efficiency_gap.value) continue;
                  largest = std::max(largest, *row.efficiency_gap.value);
                  ++count;
                }
                if (count == 0) return not_testable(not_run(explainer));
                return verdict(largest <= 1e-12,
                               fmt::format("largest gap of {} attributions: {}", count, show(largest)));
              },
          .always = true};
}

Claim exact_reference_at_16_players() {
  return {
      .id = "exact_reference_at_16_players",
      .source = "paper",
      .statement =
          "“For n <= 16 we enumerate all 2^n coalitions [...]. This gives a deterministic ground-truth attribution.”",
      .where = "Attribution methods, Exact Shapley",
      .rule = "every attribution at n <= 16 was scored against the exact Shapley values",
      .judge =
          [](const Scoreboard& scores) {
            int exact = 0, rows = 0;
            for (const AttributionRow& row : scores.run().results.attributions) {
              if (row.players > 16) continue;
              ++rows;
              exact += row.reference == "exact" && row.reference_error == 0;
            }
            if (rows == 0) return not_testable("n <= 16 not run");
            return verdict(exact == rows,
                           fmt::format("{} of {} attributions at n <= 16 have an exact reference", exact, rows));
          },
      .always = true};
}

}  // namespace opshap::reporting::claims
