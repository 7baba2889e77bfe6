// What this suite checks beside the paper's sentences: promises of the methods, and whether the comparison itself can
// be trusted.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reporting/claims.hpp"
#include "reporting/methods.hpp"
#include "reporting/table.hpp"
#include "statistics/study.hpp"

namespace opshap::reporting::claims {

namespace {

std::optional<double> median_nrmse(const Scoreboard& scores, int players, std::string_view method) {
  const Cell* cell = scores.cell(players, method);
  const auto found = cell == nullptr ? std::nullopt : cell->quartiles("nrmse");
  return found ? std::optional(found->median) : std::nullopt;
}

/// Of the finer reference the part that belongs to the coarser cell around every second point: the neighbours' cells
/// are cut in half.
std::vector<double> coarsened(const std::vector<double>& fine) {
  std::vector<double> coarse;
  for (std::size_t i = 0; i < fine.size(); i += 2)
    coarse.push_back(fine[i] + (fine[(i + fine.size() - 1) % fine.size()] + fine[i + 1]) / 2);
  return coarse;
}

/// Median over the inputs of how far the references at n and 2n are apart, relative to the coarser one.
std::optional<double> change_at(const Scoreboard& scores, int players) {
  std::vector<double> changes;
  for (const std::int64_t sample : scores.samples(players)) {
    const ValuesRow* coarse = scores.values(players, sample, "reference");
    const ValuesRow* fine = scores.values(2 * players, sample, "reference");
    if (coarse == nullptr || fine == nullptr) continue;
    const std::vector<double> expected = coarsened(fine->values);
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      difference = std::hypot(difference, expected[i] - coarse->values[i]);
      size = std::hypot(size, coarse->values[i]);
    }
    if (size > 0) changes.push_back(difference / size);
  }
  if (changes.empty()) return std::nullopt;
  return statistics::quantile(std::move(changes), 0.5);
}

}  // namespace

Claim efficiency_at_rounding_level() {
  return {.id = "efficiency_at_rounding_level",
          .source = "opshap",
          .statement = "Every method without quadrature gives values that add up to v(N) - v(∅).",
          .where = "Efficiency axiom; integrated gradients and the mean field have a quadrature error instead",
          .rule =
              "efficiency gap of at most 1e-9 on every attribution that is not made of gradients (1e7 roundings in "
              "double precision)",
          .judge =
              [](const Scoreboard& scores) {
                const AttributionRow* worst = nullptr;
                int count = 0;
                for (const AttributionRow& row : scores.run().results.attributions) {
                  if (row.access == "gradient" || !row.efficiency_gap.value) continue;
                  ++count;
                  if (worst == nullptr || *row.efficiency_gap.value > *worst->efficiency_gap.value) worst = &row;
                }
                if (worst == nullptr) return not_testable("no method with a defined efficiency gap was run");
                return verdict(
                    *worst->efficiency_gap.value <= 1e-9,
                    fmt::format("largest gap of {} attributions: {}, by {} at n = {}", count,
                                show(*worst->efficiency_gap.value), style_of(worst->method).label, worst->players));
              },
          .always = true};
}

Claim explainer_beats_uniform() {
  return {
      .id = "explainer_beats_uniform",
      .source = "opshap",
      .statement = "OperatorSHAP is closer to the reference than the attribution that knows nothing but v(N) - v(∅).",
      .where = "What any explainer has to beat: the gain shared out by volume",
      .rule = "lower median NRMSE than the uniform attribution at every n",
      .judge =
          [](const Scoreboard& scores) {
            bool holds = true;
            std::string words;
            for (const int players : scores.resolutions()) {
              const auto ours = median_nrmse(scores, players, "operator_shap"),
                         uniform = median_nrmse(scores, players, "uniform");
              if (!ours || !uniform) continue;
              holds = holds && *ours < *uniform;
              words += fmt::format("{}n = {}: {} against {}", words.empty() ? "" : "; ", players, show(*ours),
                                   show(*uniform));
            }
            return words.empty() ? not_testable("operator_shap and uniform not both run") : verdict(holds, words);
          },
      .always = true};
}

Claim integrated_gradients_error_stays() {
  return {
      .id = "integrated_gradients_error_stays",
      .source = "opshap",
      .statement =
          "The error of integrated gradients does not vanish with n: their limit is not the limit of this game's "
          "Shapley values.",
      .where =
          "Hard masks reach a nonlinear operator only weakly; gradients on the diagonal evaluate it at the weak limit",
      .rule =
          "over the last doubling of n, of three resolutions or more, the median NRMSE falls more slowly than "
          "n^(-1/4), and it is at least twice the median error of the reference, "
          "below which everything levels off",
      .judge = [](const Scoreboard& scores) {
        std::vector<std::pair<int, double>> errors;
        std::string words;
        for (const int players : scores.resolutions()) {
          const auto error = median_nrmse(scores, players, "integrated_gradients");
          if (!error || *error <= 0) continue;
          errors.emplace_back(players, *error);
          words += fmt::format("{}{} at n = {}", words.empty() ? "" : ", ", show(*error), players);
        }
        if (errors.size() < 3) {
          return not_testable(
              fmt::format("integrated_gradients run at {} resolutions, three are needed", errors.size()));
        }
        const auto [before, larger] = errors[errors.size() - 2];
        const auto [last, smaller] = errors.back();
        const double slope = std::log(smaller / larger) / std::log(static_cast<double>(last) / before);
        const double reference = scores.reference_error(last).median;
        words =
            fmt::format("median NRMSE {}, last slope {:.2f}, error of the reference {}", words, slope, show(reference));
        if (smaller < 2 * reference) return not_testable("the reference is not known well enough: " + words);
        return verdict(slope > -0.25, words);
      }};
}

Claim reference_better_known_than_explainer() {
  return {.id = "reference_better_known_than_explainer",
          .source = "opshap",
          .statement = "The reference is known better than what it judges.",
          .where = "A difference below the reference's own error means nothing",
          .rule =
              "at every n the median standard error of the reference is at most half of OperatorSHAP's median NRMSE; a "
              "sampled reference states one",
          .judge = [](const Scoreboard& scores) {
            bool holds = true;
            std::string words;
            for (const int players : scores.resolutions()) {
              const auto error = median_nrmse(scores, players, "operator_shap");
              if (!error) continue;
              const double reference = scores.reference_error(players).median;
              const bool exact = scores.cell(players, "operator_shap")->rows.front()->reference == "exact";
              holds = holds && reference <= *error / 2 && (exact || reference > 0);
              words += fmt::format("{}n = {}: {} under {}", words.empty() ? "" : "; ", players,
                                   exact ? "exact" : show(reference), show(*error));
            }
            return words.empty() ? not_testable("operator_shap not run")
                                 : verdict(holds, "error of the reference under OperatorSHAP's error: " + words);
          }};
}

Claim permutation_error_rate() {
  return {.id = "permutation_error_rate",
          .source = "opshap",
          .statement = "The error of permutation sampling falls with the square root of the budget.",
          .where = "Monte Carlo rate of independent orderings (Castro, Gómez, Tejada 2009)",
          .rule =
              "slope of log median NRMSE against log budget within 0.15 and two standard errors of -1/2, at the "
              "smallest n with a curve",
          .judge = [](const Scoreboard& scores) {
            for (const int players : scores.curve_resolutions()) {
              statistics::Study study("permutation", "budget", "median NRMSE");
              for (const Cell& cell : scores.curve(players, "permutation")) {
                const double error = cell.quartiles("nrmse")->median;
                if (error > 0) study.add(static_cast<double>(*cell.budget), error);
              }
              if (study.size() < 3) continue;
              const statistics::Fit fit = study.fit();
              return verdict(std::abs(fit.slope + 0.5) <= 0.15 + 2 * fit.slope_error,
                             fmt::format("n = {}: budget^({:.2f} ± {:.2f}) over {} budgets", players, fit.slope,
                                         fit.slope_error, study.size()));
            }
            return not_testable("permutation not run at three budgets");
          }};
}

Claim pairing_matters() {
  return {
      .id = "pairing_matters",
      .source = "opshap",
      .statement =
          "KernelSHAP with complementary pairs is better than without at the same budget; the paper does not say "
          "which one it ran.",
      .where = "Covert and Lee (2021); shapiq's KernelSHAP does not pair by default, its RegressionMSR does",
      .rule = "lower median NRMSE at the budget of the tables at every n",
      .judge = [](const Scoreboard& scores) {
        bool holds = true;
        std::string words;
        const auto median_in_words = [](const Cell& cell, const statistics::Quartiles& errors) {
          const std::size_t missing = cell.rows.size() - errors.count;
          return show(errors.median) +
                 (missing == 0 ? "" : fmt::format(" ({} of {} undefined)", missing, cell.rows.size()));
        };
        for (const int players : scores.resolutions()) {
          const Cell *plain = scores.cell(players, "kernel_shap"), *paired = scores.cell(players, "kernel_shap_paired");
          const auto plain_errors = plain == nullptr ? std::nullopt : plain->quartiles("nrmse"),
                     paired_errors = paired == nullptr ? std::nullopt : paired->quartiles("nrmse");
          if (!plain_errors || !paired_errors) continue;
          holds = holds && paired_errors->median < plain_errors->median;
          words += fmt::format("{}n = {}: {} paired, {} plain", words.empty() ? "" : "; ", players,
                               median_in_words(*paired, *paired_errors), median_in_words(*plain, *plain_errors));
        }
        return words.empty() ? not_testable("kernel_shap and kernel_shap_paired not both run") : verdict(holds, words);
      }};
}

Claim reference_settles_with_resolution() {
  return {.id = "reference_settles_with_resolution",
          .source = "opshap",
          .statement = "The reference attribution itself settles as the grid is refined.",
          .where = "Needed before any explainer can be the same at all resolutions; independent of the explainer",
          .rule =
              "the median change of the reference from n to 2n, summed back to n cells, is smaller at the largest n "
              "than at the smallest; periodic 1D grids",
          .judge = [](const Scoreboard& scores) {
            std::vector<double> changes;
            std::string words;
            for (const int players : scores.resolutions()) {
              const auto change = change_at(scores, players);
              if (!change) continue;
              changes.push_back(*change);
              words += fmt::format("{}{} from n = {}", words.empty() ? "" : ", ", show(*change), players);
            }
            if (changes.size() < 2)
              return not_testable("needs stored references at three resolutions, each twice the one before");
            return verdict(changes.back() < changes.front(), "relative change " + words);
          }};
}

}  // namespace opshap::reporting::claims
