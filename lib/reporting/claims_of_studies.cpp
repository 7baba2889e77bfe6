// The theorems, by their convergence studies. The rules are ours.

#include "reporting/claims_of_studies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "reporting/claims_measurement.hpp"
#include "reporting/csv.hpp"
#include "reporting/paper.hpp"
#include "statistics/study.hpp"
#include "statistics/tail_probability.hpp"

namespace opshap::reporting {

namespace fs = std::filesystem;

namespace {

using claims::Measurement;
using claims::Measurements;
using claims::Side;

double number(const fs::path& file, const std::string& cell) {
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  require<DataError>(!cell.empty() && *end == '\0' && std::isfinite(value), "report: path=", file.string(),
                     ", cell=", cell, " (is not a number). Run tools/studies again.");
  return value;
}

/// A slope with its standard error, from `degrees` + 2 points.
Measurement slope(std::string at, double value, double standard_error, double degrees, double threshold, Side side) {
  return {.at = std::move(at),
          .value = value,
          .interval_at =
              [value, standard_error, degrees](double tail) {
                const double reach = standard_error * statistics::student_quantile(1 - tail, degrees);
                return statistics::Interval{.low = value - reach, .high = value + reach};
              },
          .threshold = threshold,
          .side = side};
}

/// The slopes of the studies of a file, which has the columns study, effort, effort_name, error and error_name: of
/// those whose error has this name, and where `only` is given, of that study.
Measurements slopes_of(const fs::path& file, const std::string& error_name, double threshold, Side side,
                       const std::string& only = "") {
  std::vector<std::pair<std::string, statistics::Study>> studies;
  for (const CsvRow& row : read_csv(file, {"study", "effort", "error", "error_name"})) {
    const std::string& name = row.at("study");
    if (row.at("error_name") != error_name || (!only.empty() && name != only)) continue;
    if (studies.empty() || studies.back().first != name)
      studies.emplace_back(name, statistics::Study(name, "effort", "error"));
    const double error = number(file, row.at("error"));
    if (error > 0) studies.back().second.add(number(file, row.at("effort")), error);
  }
  Measurements found;
  for (const auto& [name, study] : studies) {
    if (study.size() < 3) continue;
    const statistics::Fit fit = study.fit();
    found.push_back(slope(name, fit.slope, fit.slope_error, static_cast<double>(study.size()) - 2, threshold, side));
  }
  return found;
}

/// A row of operator_limits_slopes.csv: a slope that the study has fitted itself, with weights.
Measurements slope_of_operator(const fs::path& file, const std::string& game, const std::string& compared,
                               double threshold, Side side) {
  Measurements found;
  for (const CsvRow& row : read_csv(file, {"game", "compared with", "sizes", "slope", "standard error"})) {
    if (row.at("game") != game || row.at("compared with") != compared) continue;
    const double sizes = std::strtod(row.at("sizes").c_str(), nullptr);  // "9, 8 to 1024"
    found.push_back(slope(game + ", " + compared, number(file, row.at("slope")), number(file, row.at("standard error")),
                          std::max(sizes - 2, 1.0), threshold, side));
  }
  return found;
}

/// Relative distances of the last shares from their limits. "sign" is left out: its values grow without a bound, since
/// it has no asymptotic value.
Measurements distances_from_limits(const fs::path& file) {
  Measurements found;
  for (const CsvRow& row : read_csv(file, {"game", "refinement", "share", "limit"})) {
    if (row.at("game") == "sign") continue;
    const double share = number(file, row.at("share")), limit = number(file, row.at("limit"));
    found.push_back(claims::exactly(row.at("game") + ", " + row.at("refinement"), std::abs(share - limit) / limit, 0.01,
                                    Side::at_most));
  }
  return found;
}

/// A theorem or law, and the studies that it is judged by.
struct StudiedClaim {
  std::string_view id, source, statement, where, rule, title, quantity;
  std::vector<std::string_view> files;
  Measurements (*measure)(const fs::path& folder);
};

const std::vector<StudiedClaim>& studied() {
  static const std::vector<StudiedClaim> all = {
      {.id = "smooth_games_have_the_aumann_shapley_value",
       .source = "paper",
       .statement = {},
       .where = {},
       .rule = "on nested partitions the distance of the discrete Shapley value of a region from the diagonal formula "
               "falls at least like n^(-0.75), for every smooth game of the study",
       .title = "Shapley values of smooth games reach the diagonal formula",
       .quantity = "The power of n in the distance",
       .files = {"aumann_shapley.csv"},
       .measure =
           [](const fs::path& folder) {
             return slopes_of(folder / "aumann_shapley.csv", "error of ψ_n(T)", -0.75, Side::at_most);
           }},
      {.id = "smooth_masks_reach_the_diagonal_formula",
       .source = "paper",
       .statement = {},
       .where = {},
       .rule = "for a trained FNO and masks that stay smooth, the distance between Shapley values and integrated "
               "gradients falls at least like n^(-1/2)",
       .title = "smooth masks of an operator reach the diagonal formula",
       .quantity = "The power of n in the distance",
       .files = {"operator_limits_slopes.csv"},
       .measure =
           [](const fs::path& folder) {
             Measurements found;
             for (const char* of : {"integrated gradients, cells", "integrated gradients, four sets"}) {
               const Measurements some =
                   slope_of_operator(folder / "operator_limits_slopes.csv", "smooth masks", of, -0.5, Side::at_most);
               found.insert(found.end(), some.begin(), some.end());
             }
             return found;
           }},
      {.id = "smooth_operators_are_differentiable",
       .source = "paper",
       .statement = {},
       .where = {},
       .rule = "of an FNO with GELU the remainder over the step, and the change of the derivative with the base point, "
               "fall at least like step^0.9",
       .title = "an FNO with a smooth activation is continuously differentiable",
       .quantity = "The power of the step",
       .files = {"frechet_remainder.csv", "frechet_continuity.csv"},
       .measure =
           [](const fs::path& folder) {
             Measurements found =
                 slopes_of(folder / "frechet_remainder.csv", "remainder / step", 0.9, Side::at_least, "FNO");
             const Measurements change = slopes_of(folder / "frechet_continuity.csv", "change", 0.9, Side::at_least);
             found.insert(found.end(), change.begin(), change.end());
             return found;
           }},
      {.id = "relu_is_not_differentiable",
       .source = "opshap",
       .statement = "With ReLU the remainder does not vanish, so the theorem says nothing about such an operator.",
       .where = "The proposition asks for a smooth activation; the paper calls the framework robust without it",
       .rule = "the remainder over the step of ReLU falls more slowly than step^0.1",
       .title = "with ReLU the operator is not differentiable",
       .quantity = "The power of the step",
       .files = {"frechet_remainder.csv"},
       .measure =
           [](const fs::path& folder) {
             return slopes_of(folder / "frechet_remainder.csv", "remainder / step", 0.1, Side::at_most, "ReLU at 0");
           }},
      {.id = "games_have_an_asymptotic_value",
       .source = "paper",
       .statement = {},
       .where = {},
       .rule =
           "on the finest partition of each refinement the share of the region is within 1 % of its limit, for games "
           "that have one",
       .title = "refined partitions reach the asymptotic value",
       .quantity = "The relative distance from the limit",
       .files = {"refinement_limits_limits.csv"},
       .measure =
           [](const fs::path& folder) { return distances_from_limits(folder / "refinement_limits_limits.csv"); }},
      {.id = "hard_masks_do_not_reach_the_diagonal_formula",
       .source = "opshap",
       .statement = "With masks that set whole cells, as in every experiment, integrated gradients do not approach the "
                    "Shapley values.",
       .where = "Hard masks reach a nonlinear operator only weakly, and their game changes with n",
       .rule = "for a trained FNO the distance falls more slowly than n^(-1/2)",
       .title = "hard masks do not reach the diagonal formula",
       .quantity = "The power of n in the distance",
       .files = {"operator_limits_slopes.csv"},
       .measure =
           [](const fs::path& folder) {
             return slope_of_operator(folder / "operator_limits_slopes.csv", "cell masks", "integrated gradients", -0.5,
                                      Side::at_least);
           }},
      {.id = "the_mean_field_has_the_limit_of_hard_masks",
       .source = "opshap",
       .statement = "The error of the mean field falls like 1/n, with references that are known well enough to tell.",
       .where = "It follows the fluctuations of randomly masked inputs, so what it leaves out is of order 1/n",
       .rule = "for a trained FNO the power of n in its distance from the Shapley values is at most -0.75",
       .title = "the mean field's error falls like 1/n",
       .quantity = "The power of n in the distance",
       .files = {"operator_limits_slopes.csv"},
       .measure =
           [](const fs::path& folder) {
             return slope_of_operator(folder / "operator_limits_slopes.csv", "cell masks", "mean field", -0.75,
                                      Side::at_most);
           }},
  };
  return all;
}

Claim claim_of(const StudiedClaim& studied) {
  Claim claim{.id = studied.id,
              .source = studied.source,
              .statement = studied.statement,
              .where = studied.where,
              .rule = studied.rule,
              .title = studied.title};
  if (studied.source != "paper") return claim;
  const PaperSentence& sentence = paper_sentence(studied.id);
  claim.statement = sentence.sentence;
  claim.where = sentence.where;
  return claim;
}

}  // namespace

bool has_studies(const fs::path& folder) {
  return std::ranges::any_of(studied(),
                             [&folder](const StudiedClaim& claim) { return is_there(folder / claim.files.front()); });
}

std::vector<JudgedClaim> judge_studies(const fs::path& folder) {
  std::vector<JudgedClaim> judged;
  for (const StudiedClaim& claim : studied()) {
    std::string missing;
    for (const std::string_view file : claim.files) {
      if (!is_there(folder / file)) missing += message(missing.empty() ? "" : ", ", file);
    }
    const Measurements found = missing.empty() ? claim.measure(folder) : Measurements{};
    judged.push_back({claim_of(claim), !missing.empty() ? claims::not_testable("There is no " + missing + ".")
                                       : found.empty()
                                           ? claims::not_testable("The study has no such rows.")
                                           : claims::all_of(found, {.quantity = std::string(claim.quantity)})});
  }
  return judged;
}

std::string study_claims_json(const std::vector<JudgedClaim>& claims) {
  runs::Run run;
  run.profile = "studies";
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(claims_json(claims, run));
  json["pde"] = nullptr;
  json["commit"] = nullptr;
  for (auto& claim : json["claims"]) claim["pde"] = nullptr;
  return json.dump(2) + "\n";
}

}  // namespace opshap::reporting
