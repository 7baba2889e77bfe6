// The theorems, by their convergence studies. The rules are ours.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "reporting/claims.hpp"
#include "reporting/claims_measurement.hpp"
#include "statistics/quantiles.hpp"
#include "statistics/study.hpp"

namespace opshap::reporting {

namespace fs = std::filesystem;

namespace {

using claims::Measurement;
using claims::Measurements;
using claims::Side;

/// A slope with its standard error, from `degrees` + 2 points.
Measurement slope(std::string at, double value, double standard_error, double degrees, double threshold, Side side) {
  Measurement measured = claims::exactly(std::move(at), value, threshold, side);
  measured.interval_at = [value, standard_error, degrees](double tail) {
    const double reach = standard_error * statistics::student_quantile(1 - tail, degrees);
    return statistics::Interval{.low = value - reach, .high = value + reach};
  };
  return measured;
}

/// What a claim takes from a file of the studies.
struct Source {
  Measurements (*read)(const fs::path& path, const Source& source);
  std::string_view file;
  std::string_view error;  ///< the name of the error; of a slope that the study has fitted what it compares with
  double bound = 0;
  Side side = Side::at_most;
  std::string_view only = {};  ///< where given: the one study, or the game of a fitted slope
};

/// The slopes of the studies with this error, of a file with the columns study, effort, error and error_name.
Measurements slopes_of(const fs::path& path, const Source& source) {
  std::vector<std::pair<std::string, statistics::Study>> studies;
  for (const CsvRow& row : read_csv(path, {"study", "effort", "error", "error_name"})) {
    const std::string& name = row.text("study");
    if (row.text("error_name") != source.error || (!source.only.empty() && name != source.only)) continue;
    if (studies.empty() || studies.back().first != name)
      studies.emplace_back(name, statistics::Study(name, "effort", "error"));
    const double error = row.number("error");
    if (error > 0) studies.back().second.add(row.number("effort"), error);
  }
  Measurements found;
  for (const auto& [name, study] : studies) {
    if (study.size() < 3) continue;
    const statistics::Fit fit = study.fit();
    found.push_back(
        slope(name, fit.slope, fit.slope_error, static_cast<double>(study.size()) - 2, source.bound, source.side));
  }
  return found;
}

/// A row of operator_limits_slopes.csv: a slope that the study has fitted itself, with weights.
Measurements fitted_slope(const fs::path& path, const Source& source) {
  Measurements found;
  for (const CsvRow& row : read_csv(path, {"game", "compared with", "sizes", "slope", "standard error"})) {
    if (row.text("game") != source.only || row.text("compared with") != source.error) continue;
    const double sizes = row.number("sizes", ',');  // "9, 8 to 1024"
    found.push_back(slope(message(source.only, ", ", source.error), row.number("slope"), row.number("standard error"),
                          std::max(sizes - 2, 1.0), source.bound, source.side));
  }
  return found;
}

/// Relative distances of the last shares from their limits. "sign" is left out: its values grow without a bound, since
/// it has no asymptotic value.
Measurements distances_from_limits(const fs::path& path, const Source& source) {
  Measurements found;
  for (const CsvRow& row : read_csv(path, {"game", "refinement", "share", "limit"})) {
    if (row.text("game") == "sign") continue;
    const double share = row.number("share"), limit = row.number("limit");
    found.push_back(claims::exactly(row.text("game") + ", " + row.text("refinement"), std::abs(share - limit) / limit,
                                    source.bound, source.side));
  }
  return found;
}

/// A theorem or law, and the studies that it is judged by.
struct StudiedClaim {
  Claim claim;
  std::string_view quantity;
  std::vector<Source> sources;
};

const std::vector<StudiedClaim>& studied() {
  static constexpr std::string_view limits = "operator_limits_slopes.csv",
                                    of_distance = "The power of n in the distance";
  static const std::vector<StudiedClaim> all = {
      {.claim = {.id = "smooth_games_have_the_aumann_shapley_value",
                 .title = "Shapley values of smooth games reach the diagonal formula",
                 .rule = "on nested partitions the distance of the discrete Shapley value of a region from the "
                         "diagonal formula falls at least like n^(-0.75), for every smooth game of the study"},
       .quantity = of_distance,
       .sources = {{slopes_of, "aumann_shapley.csv", "error of ψ_n(T)", -0.75, Side::at_most}}},
      {.claim = {.id = "smooth_masks_reach_the_diagonal_formula",
                 .title = "smooth masks of an operator reach the diagonal formula",
                 .rule = "for a trained FNO and masks that stay smooth, the distance between Shapley values and "
                         "integrated gradients falls at least like n^(-1/2)"},
       .quantity = of_distance,
       .sources = {{fitted_slope, limits, "integrated gradients, cells", -0.5, Side::at_most, "smooth masks"},
                   {fitted_slope, limits, "integrated gradients, four sets", -0.5, Side::at_most, "smooth masks"}}},
      {.claim = {.id = "smooth_operators_are_differentiable",
                 .title = "an FNO with a smooth activation is continuously differentiable",
                 .rule = "of an FNO with GELU the remainder over the step, and the change of the derivative with the "
                         "base point, fall at least like step^0.9"},
       .quantity = "The power of the step",
       .sources = {{slopes_of, "frechet_remainder.csv", "remainder / step", 0.9, Side::at_least, "FNO"},
                   {slopes_of, "frechet_continuity.csv", "change", 0.9, Side::at_least}}},
      {.claim = {.id = "relu_is_not_differentiable",
                 .title = "with ReLU the operator is not differentiable",
                 .source = "opshap",
                 .statement =
                     "With ReLU the remainder does not vanish, so the theorem says nothing about such an operator.",
                 .where =
                     "The proposition asks for a smooth activation; the paper calls the framework robust without it",
                 .rule = "the remainder over the step of ReLU falls more slowly than step^0.1"},
       .quantity = "The power of the step",
       .sources = {{slopes_of, "frechet_remainder.csv", "remainder / step", 0.1, Side::at_most, "ReLU at 0"}}},
      {.claim = {.id = "games_have_an_asymptotic_value",
                 .title = "refined partitions reach the asymptotic value",
                 .rule = "on the finest partition of each refinement the share of the region is within 1 % of its "
                         "limit, for games that have one"},
       .quantity = "The relative distance from the limit",
       .sources = {{distances_from_limits, "refinement_limits_limits.csv", {}, 0.01, Side::at_most}}},
      {.claim = {.id = "hard_masks_do_not_reach_the_diagonal_formula",
                 .title = "hard masks do not reach the diagonal formula",
                 .source = "opshap",
                 .statement = "With masks that set whole cells, as in every experiment, integrated gradients do not "
                              "approach the Shapley values.",
                 .where = "Hard masks reach a nonlinear operator only weakly, and their game changes with n",
                 .rule = "for a trained FNO the distance falls more slowly than n^(-1/2)"},
       .quantity = of_distance,
       .sources = {{fitted_slope, limits, "integrated gradients", -0.5, Side::at_least, "cell masks"}}},
      {.claim = {.id = "the_mean_field_has_the_limit_of_hard_masks",
                 .title = "the mean field's error falls like 1/n",
                 .source = "opshap",
                 .statement =
                     "The error of the mean field falls like 1/n, with references that are known well enough to tell.",
                 .where =
                     "It follows the fluctuations of randomly masked inputs, so what it leaves out is of order 1/n",
                 .rule = "for a trained FNO the power of n in its distance from the Shapley values is at most -0.75"},
       .quantity = of_distance,
       .sources = {{fitted_slope, limits, "mean field", -0.75, Side::at_most, "cell masks"}}},
  };
  return all;
}

}  // namespace

bool has_studies(const fs::path& folder) {
  return std::ranges::any_of(
      studied(), [&folder](const StudiedClaim& claim) { return is_there(folder / claim.sources.front().file); });
}

std::vector<JudgedClaim> judge_studies(const fs::path& folder) {
  std::vector<JudgedClaim> judged;
  for (const StudiedClaim& studied : studied()) {
    const std::string missing = listing(studied.sources, [&folder](const Source& source) {
      return std::string(is_there(folder / source.file) ? "" : source.file);
    });
    Measurements found;
    for (const Source& source : missing.empty() ? studied.sources : std::vector<Source>()) {
      const Measurements some = source.read(folder / source.file, source);
      found.insert(found.end(), some.begin(), some.end());
    }
    judged.push_back({claims::in_the_papers_words(studied.claim),
                      !missing.empty() ? claims::not_testable("There is no " + missing + ".")
                      : found.empty()  ? claims::not_testable("The study has no such rows.")
                                       : claims::all_of(found, {.quantity = std::string(studied.quantity)})});
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
