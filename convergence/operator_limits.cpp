// Which limit the Shapley values of a trained operator have: gradients in the game of the theorem, the mean field in
// the game of the experiments.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "estimators/integrated_gradients.hpp"
#include "estimators/mean_field.hpp"
#include "evaluation/certified_reference.hpp"
#include "games/cell_mask_game.hpp"
#include "games/smooth_operator_game.hpp"
#include "reporting/evidence.hpp"
#include "small_backbone.hpp"
#include "statistics/quantiles.hpp"
#include "statistics/study.hpp"
#include "subject.hpp"
#include "support/tolerance.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;

/// A finished run's backbone and test inputs when OPSHAP_RUN names one, else a small backbone trained here in seconds.
Subject make_subject() {
  if (is_run()) return read_subject(std::getenv("OPSHAP_RUN"), 8);
  const fs::path run = fs::temp_directory_path() / message("opshap_operator_limits_", getpid());
  train_small_backbone("burgers1d", run);
  Subject subject = read_subject(run, 4);
  subject.name += ", trained on 112 samples";
  fs::remove_all(run);
  return subject;
}

const Subject& subject() {
  static const Subject made = make_subject();
  return made;
}

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

/// A relative distance without the part of its square that the reference's own errors explain, and these.
struct Distance {
  double value = 0, noise = 0;
};

/// All players; all but the query's own cell; this cell alone, relative to all.
enum class Part { all, ocean, atom };

Distance relative_distance(const std::vector<double>& found, const Attribution& truth, Part part = Part::all) {
  const std::size_t query = found.size() / 2;
  double squares = 0, noise = 0, scale = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (part != Part::ocean || i != query) scale += truth.values[i] * truth.values[i];
    if (part == Part::all || (i == query) == (part == Part::atom)) {
      squares += std::pow(found[i] - truth.values[i], 2);
      noise += std::pow((*truth.standard_errors)[i], 2);
    }
  }
  return {std::sqrt(std::max(squares - noise, 0.0) / scale), std::sqrt(noise / scale)};
}

/// The points from n = 8 on: a few coarse cells follow no law.
statistics::Study from_eight(const statistics::Study& study) {
  statistics::Study kept(study.title(), study.effort(), study.error());
  for (const auto& point : study.points())
    if (point.effort >= 8) kept.add(point.effort, point.error);
  return kept;
}

/// Distances to the Shapley values, medians over the inputs at each n. The study has those that are resolved: above the
/// reference's own error, so that no more than half of the square was taken out.
struct Curve {
  statistics::Study study;
  std::vector<Distance> medians{};

  Curve(const std::string& title, const std::string& error) : study(title, "n", error) {}
  void add(int n, const std::vector<Distance>& of_inputs) {
    std::vector<double> values, noises;
    for (const Distance& distance : of_inputs) {
      values.push_back(distance.value);
      noises.push_back(distance.noise);
    }
    medians.push_back({statistics::quartiles(values).median, statistics::quartiles(noises).median});
    if (medians.back().value > medians.back().noise) study.add(n, medians.back().value);
  }
  std::string cell(std::size_t i) const {
    const Distance& at = medians[i];
    return at.value > at.noise ? fmt::format("{:.3g}", at.value) : "not resolved";
  }
  /// Of the square of the distance as it was found, how much was taken out.
  std::string removed(std::size_t i) const {
    const double noise = std::pow(medians[i].noise, 2), all = noise + std::pow(medians[i].value, 2);
    return fmt::format("{:.0f} %", all > 0 ? 100 * noise / all : 0);
  }
  statistics::Study fitted() const { return from_eight(study); }
};

/// On a run's backbone enumeration to 22 players takes minutes. Above, distances fall like 1/n, and the wanted error of
/// a reference is a part of it, as far as it can be paid.
evaluation::ReferenceSettings reference_settings(int n, double part) {
  return {.relative_error = is_run() ? part / n : 2e-3,
          .max_evaluations = std::int64_t{1} << (is_run() ? (n > 512 ? 19 : 17) : 15),
          .exact_players = is_run() ? 22 : 16};
}

/// The mean field is about 0.6/n away from the Shapley values of hard masks, integrated gradients about 0.3/n from
/// those of smooth ones.
constexpr double hard_part = 0.4, smooth_part = 0.15;

std::string text_of(double value) { return fmt::format("{:.3g}", value); }

/// Limits of one backbone's games: what the curves are made of, and the references' own errors.
struct Limits {
  std::vector<int> players;
  std::vector<double> reference_errors{};
};

/// The game of every experiment: hard masks, one player a grid point.
struct CellMaskLimits : Limits {
  Curve gradients{"IG", "distance, cell masks"}, closure{"mean field", "distance, cell masks"};
  Curve gradients_ocean{"IG, ocean", "distance, cell masks"},
      closure_ocean{"mean field, ocean", "distance, cell masks"};
  Curve closure_atom{"mean field, atom", "distance, cell masks"};
  std::vector<double> shares{};  ///< |φ|/‖φ‖ of the query's cell, medians over the inputs
  statistics::Study atoms{"the atom", "n", "|φ|/‖φ‖ of the query's cell"};  ///< those that are not 0
  std::vector<std::int64_t> inputs{};

  explicit CellMaskLimits(std::vector<int> at) : Limits{.players = std::move(at)} {
    for (const int n : players) {
      std::vector<double> error, atom;
      std::vector<Distance> ig, mf, ig_ocean, mf_ocean, mf_atom;
      const std::int64_t all = subject().inputs.batch;
      inputs.push_back(n == 22    ? 1
                       : n > 512  ? std::min<std::int64_t>(2, all)
                       : n >= 256 ? std::min<std::int64_t>(4, all)
                                  : all);
      for (std::int64_t sample = 0; sample < inputs.back(); ++sample) {
        const auto game = cell_game(*subject().op, subject().inputs.one(sample), n);
        const evaluation::CertifiedReference reference =
            evaluation::certified_reference(*game, reference_settings(n, hard_part), 7);
        const Attribution& truth = reference.attribution;
        const auto by_gradients =
            attribute(*integrated_gradients(estimators::Rule::gauss_legendre, 16), *game, {}, 1).values;
        const auto by_closure = attribute(*estimators::mean_field(16), *game, {}, 1).values;
        error.push_back(reference.error);
        ig.push_back(relative_distance(by_gradients, truth));
        mf.push_back(relative_distance(by_closure, truth));
        ig_ocean.push_back(relative_distance(by_gradients, truth, Part::ocean));
        mf_ocean.push_back(relative_distance(by_closure, truth, Part::ocean));
        mf_atom.push_back(relative_distance(by_closure, truth, Part::atom));
        atom.push_back(std::abs(truth.values[static_cast<std::size_t>(n / 2)]) / norm(truth.values));
      }
      reference_errors.push_back(statistics::quartiles(error).median);
      gradients.add(n, ig);
      closure.add(n, mf);
      gradients_ocean.add(n, ig_ocean);
      closure_ocean.add(n, mf_ocean);
      closure_atom.add(n, mf_atom);
      shares.push_back(statistics::quartiles(atom).median);
      if (shares.back() > 0) atoms.add(n, shares.back());
    }
  }
};

/// The game of the theorem: six smooth masks that stay while the players' graded cells are refined.
struct SmoothLimits : Limits {
  static constexpr int coarse = 4;
  Curve cells{"IG", "distance, smooth masks"}, sets{"IG, four sets", "distance, smooth masks"};

  SmoothLimits(std::vector<int> at, int points, std::int64_t inputs) : Limits{.players = std::move(at)} {
    for (const int n : players) {
      std::vector<double> error;
      std::vector<Distance> of_cells, of_sets;
      for (std::int64_t sample = 0; sample < inputs; ++sample) {
        const FieldBatch input = on_grid(subject().inputs.one(sample), points);
        const games::PartitionOfUnity masks =
            games::PartitionOfUnity::bumps(input.domain, {games::graded_centres(6, 1, 2)});
        const auto game =
            games::smooth_operator_game(*subject().op, input, FieldBatch::zeros(input.domain, 1, 1), masks,
                                        Partition::graded(input.domain, n, 2), {.point = points / 2});
        const evaluation::CertifiedReference truth =
            evaluation::certified_reference(*game, reference_settings(n, smooth_part), 7);
        const auto limit = attribute(*integrated_gradients(estimators::Rule::gauss_legendre, 16), *game, {}, 1).values;
        std::vector<double> total(coarse, 0.0), difference(coarse, 0.0);
        for (int k = 0; k < n; ++k) {
          const auto set = static_cast<std::size_t>(k * coarse / n), player = static_cast<std::size_t>(k);
          total[set] += limit[player];
          difference[set] += truth.attribution.values[player] - limit[player];
        }
        error.push_back(truth.error);
        of_cells.push_back(relative_distance(limit, truth.attribution));
        of_sets.push_back({norm(difference) / norm(total), truth.error});
      }
      reference_errors.push_back(statistics::quartiles(error).median);
      cells.add(n, of_cells);
      sets.add(n, of_sets);
    }
  }
};

// One backbone, two games. With hard masks the Shapley values go to the mean field, an ocean of cells and one atom at
// the query, and not to integrated gradients, because a hard mask reaches a nonlinear operator only weakly. With masks
// that stay while the cells are refined, gradients are the limit.
TEST(OperatorLimits, ShapleyValuesGoToTheMeanFieldWithHardMasksAndToGradientsWithSmoothOnes) {
  const CellMaskLimits hard(is_run() ? std::vector<int>{4, 6, 8, 11, 16, 22, 32, 64, 128, 256, 512, 1024}
                                     : std::vector<int>{4, 8, 16, 32, 64});
  const SmoothLimits smooth = is_run() ? SmoothLimits({8, 16, 32, 64}, 128, 4) : SmoothLimits({8, 16, 32}, 64, 2);
  const statistics::Fit ig = hard.gradients.fitted().fit(), mf = hard.closure.fitted().fit(),
                        ocean = hard.closure_ocean.fitted().fit(), cells = smooth.cells.fitted().fit(),
                        sets = smooth.sets.fitted().fit();

  reporting::Table slopes{
      .name = "slopes",
      .caption = "Slope of the median distance against n from n = 8, points above the reference's own error.",
      .columns = {{"game"}, {"compared with"}, {"sizes"}, {"slope", true}, {"standard error", true}},
      .rows = {}};
  const auto add_slope = [&](const std::string& game, const std::string& limit, const statistics::Study& study) {
    const statistics::Fit fit = study.fit();
    slopes.add({game, limit,
                fmt::format("{}, {} to {}", study.size(), study.points().front().effort, study.points().back().effort),
                fmt::format("{:.2f}", fit.slope),
                fit.slope_error > 0 ? fmt::format("{:.2f}", fit.slope_error) : "two points"});
  };
  add_slope("cell masks", "integrated gradients", hard.gradients.fitted());
  add_slope("cell masks", "integrated gradients, ocean", hard.gradients_ocean.fitted());
  add_slope("cell masks", "mean field", hard.closure.fitted());
  add_slope("cell masks", "mean field, ocean", hard.closure_ocean.fitted());
  add_slope("cell masks", "mean field, atom", hard.closure_atom.fitted());
  add_slope("cell masks", "nothing: the atom's share |φ|/‖φ‖", from_eight(hard.atoms));
  add_slope("smooth masks", "integrated gradients, cells", smooth.cells.fitted());
  add_slope("smooth masks", "integrated gradients, four sets", smooth.sets.fitted());
  reporting::Table of_hard{
      .name = "cell_masks",
      .caption =
          "Cell masks: medians over the inputs. The reference's own error is taken out of the squares: of that "
          "of the mean field's distance so much as the column says. What is not above the reference's error is "
          "not resolved.",
      .columns = {{"n", true},
                  {"inputs", true},
                  {"reference's error", true},
                  {"IG", true},
                  {"mean field", true},
                  {"taken out", true},
                  {"IG, ocean", true},
                  {"mean field, ocean", true},
                  {"mean field, atom", true},
                  {"atom |φ|/‖φ‖", true}},
      .rows = {}};
  for (std::size_t i = 0; i < hard.players.size(); ++i) {
    of_hard.add({std::to_string(hard.players[i]), std::to_string(hard.inputs[i]), text_of(hard.reference_errors[i]),
                 hard.gradients.cell(i), hard.closure.cell(i), hard.closure.removed(i), hard.gradients_ocean.cell(i),
                 hard.closure_ocean.cell(i), hard.closure_atom.cell(i), text_of(hard.shares[i])});
  }
  reporting::Table of_smooth{
      .name = "smooth_masks",
      .caption = "Smooth masks: the same.",
      .columns = {{"n", true}, {"reference's error", true}, {"IG", true}, {"IG, four sets", true}},
      .rows = {}};
  for (std::size_t i = 0; i < smooth.players.size(); ++i) {
    of_smooth.add({std::to_string(smooth.players[i]), text_of(smooth.reference_errors[i]), smooth.cells.cell(i),
                   smooth.sets.cell(i)});
  }
  reporting::publish(
      {.name = "operator_limits",
       .title = "Two games of one operator and their limits",
       .finding = fmt::format(
           "{}. With hard masks on the cells (what is evaluated) the Shapley values go to the mean field, slope "
           "{:.2f} ± {:.2f} up to n = {} (without the query's own cell {:.2f} ± {:.2f} up to {}), while integrated "
           "gradients come nearer with slope {:.2f} ± {:.2f} only; with smooth masks that stay (the theorem) they go "
           "to integrated gradients, slope {:.2f} ± {:.2f}.",
           subject().name, mf.slope, mf.slope_error, hard.closure.study.points().back().effort, ocean.slope,
           ocean.slope_error, hard.closure_ocean.study.points().back().effort, ig.slope, ig.slope_error, cells.slope,
           cells.slope_error),
       .studies = {hard.gradients.study, hard.closure.study, hard.gradients_ocean.study, hard.closure_ocean.study,
                   hard.closure_atom.study, smooth.cells.study, smooth.sets.study},
       .tables = {slopes, of_hard, of_smooth}});

  EXPECT_NEAR(-1, mf.slope, 0.3) << "the mean field's error is O(1/n)";
  EXPECT_GT(ig.slope, mf.slope + 0.15) << "gradients level off";
  EXPECT_NEAR(-1, ocean.slope, 0.3);
  EXPECT_LT(hard.closure.medians.back().value, 0.75 * hard.gradients.medians.back().value);
  EXPECT_NEAR(-1, cells.slope, 0.3) << "the theorem's limit is approached as O(1/n)";
  EXPECT_NEAR(-1, sets.slope, 0.3);
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// On a linear operator there is one answer, at every n and by every route.
TEST(OperatorLimits, OnALinearOperatorEverythingCoincides) {
  const WeightedMeanOperator linear(0);
  const Tolerance tolerance = rounding(1e3, 10);
  reporting::Table differences{
      .name = "differences",
      .caption =
          "Hard masks: largest difference between a player's value and its share of the integral. "
          "Smooth masks: between its two values.",
      .columns = {{"n", true},
                  {"largest share", true},
                  {"Shapley values", true},
                  {"mean field", true},
                  {"IG", true},
                  {"smooth masks: IG, Shapley values", true}},
      .rows = {}};
  for (const int n : {4, 8, 16}) {
    const FieldBatch input = on_grid(subject().inputs.one(0), n);
    const FieldBatch baseline = FieldBatch::zeros(input.domain, 1, 1);
    const auto hard = games::cell_mask_game(
        linear, {input, baseline, Partition::one_player_per_point(input.domain), {.point = n / 2}});
    std::vector<double> shares;
    for (int y = 0; y < n; ++y)
      shares.push_back(WeightedMeanOperator::weight(n / 2, y, n) * input.values[static_cast<std::size_t>(y)]);
    const auto masks = games::PartitionOfUnity::bumps(input.domain, {games::graded_centres(2, 1, 1)});
    const auto smooth = games::smooth_operator_game(linear, input, baseline, masks,
                                                    Partition::blocks(input.domain, n / 2), {.point = n / 2});
    const auto gradients = estimators::integrated_gradients(estimators::Rule::midpoint, 1),
               closure = estimators::mean_field(4);
    std::vector<std::string> row = {std::to_string(n),
                                    text_of(largest_difference(shares, std::vector<double>(shares.size(), 0.0)))};
    const auto compare = [&](const std::vector<double>& expected, const std::vector<double>& found) {
      EXPECT_EQ("", mismatch(expected, found, tolerance));
      row.push_back(fmt::format("{:.1g}", largest_difference(expected, found)));
    };
    compare(shares, evaluation::certified_reference(*hard, {}, 1).attribution.values);
    compare(shares, attribute(*closure, *hard, {}, 1).values);
    compare(shares, attribute(*gradients, *hard, {}, 1).values);
    compare(attribute(*gradients, *smooth, {}, 1).values,
            evaluation::certified_reference(*smooth, {}, 1).attribution.values);
    differences.add(std::move(row));
  }
  reporting::publish(
      {.name = "linear_operator",
       .title = "On a linear operator everything coincides",
       .finding = "A weighted mean of the field: Shapley values, mean field and integrated gradients of the cell "
                  "masks are all the player's share of it, and smooth masks have their limit at once. What is left "
                  "is rounding.",
       .studies = {},
       .tables = {differences}});
}

// Every smooth operator is linear for small inputs: the three answers meet like the square of the amplitude, since
// terms of degree two are exact for all.
TEST(OperatorLimits, ForSmallInputsEverythingCoincidesAtSecondOrder) {
  constexpr int n = 12;
  statistics::Study ig("IG", "amplitude", "distance");
  statistics::Study mf("mean field", "amplitude", "distance");
  for (const double amplitude : {0.4, 0.2, 0.1, 0.05}) {
    double ig_mean = 0, mf_mean = 0;
    const std::int64_t inputs = std::min<std::int64_t>(4, subject().inputs.batch);
    for (std::int64_t sample = 0; sample < inputs; ++sample) {
      FieldBatch input = on_grid(subject().inputs.one(sample), n);
      for (double& value : input.values) value *= amplitude;
      const auto game = games::cell_mask_game(*subject().op, {input,
                                                              FieldBatch::zeros(input.domain, 1, 1),
                                                              Partition::one_player_per_point(input.domain),
                                                              {.point = n / 2}});
      const Attribution truth = evaluation::certified_reference(*game, {}, 1).attribution;
      ig_mean += relative_distance(
                     attribute(*integrated_gradients(estimators::Rule::gauss_legendre, 16), *game, {}, 1).values, truth)
                     .value;
      mf_mean += relative_distance(attribute(*estimators::mean_field(16), *game, {}, 1).values, truth).value;
    }
    ig.add(amplitude, ig_mean / static_cast<double>(inputs));
    mf.add(amplitude, mf_mean / static_cast<double>(inputs));
  }
  reporting::publish(
      {.name = "small_inputs",
       .title = "Small inputs: every operator is linear in the end",
       .finding = "Distances to the Shapley values fall like the square of the amplitude: terms of degree two are "
                  "exact for both.",
       .studies = {ig, mf},
       .tables = {}});
  EXPECT_NEAR(2, ig.fit().slope, 0.5);
  EXPECT_NEAR(2, mf.fit().slope, 0.5);
}

}  // namespace
}  // namespace opshap
