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
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "estimators/diagonal.hpp"
#include "evaluation/certified_reference.hpp"
#include "games/cell_mask_game.hpp"
#include "games/partition_of_unity.hpp"
#include "reporting/evidence.hpp"
#include "small_backbone.hpp"
#include "statistics/quantiles.hpp"
#include "statistics/squared_length.hpp"
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

/// Shapley values by certified references that know nothing of each other; one where it is exact.
struct Truth {
  std::vector<Attribution> references{};
  double error = 0;  ///< of their mean
};

/// Takes four references, since the jackknife needs three, each with a quarter of what may be paid.
Truth truth_of(const Game& game, evaluation::ReferenceSettings settings) {
  constexpr int count = 4;
  settings.relative_error *= std::sqrt(count);
  settings.max_evaluations /= count;
  Truth truth;
  for (int k = 0; k < count; ++k) {
    const auto found = evaluation::certified_reference(game, settings, 7 + static_cast<std::uint64_t>(k));
    truth.references.push_back(found.attribution);
    truth.error += found.error.value.value() / (count * std::sqrt(count));
    if (found.method == "exact") break;
  }
  return truth;
}

/// All players; all but the query's own cell; this cell alone, relative to all.
enum class Part { all, ocean, atom };

std::vector<double> part_of(std::vector<double> values, Part part) {
  const std::size_t query = values.size() / 2;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (part != Part::all && (i == query) != (part == Part::atom)) values[i] = 0;
  }
  return values;
}

/// Sums over sets of neighbours, as many players in each.
std::vector<double> in_sets(const std::vector<double>& values, std::size_t sets) {
  std::vector<double> sums(sets, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i * sets / values.size()] += values[i];
  return sums;
}

std::vector<double> difference(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

/// The squared distance as `view` sees it, in units of the squared length of the Shapley values as `relative_to` does.
template <typename View, typename Scale>
statistics::Mean relative_square(const std::vector<double>& found, const Truth& truth, const View& view,
                                 const Scale& relative_to) {
  std::vector<std::vector<double>> differences, lengths;
  for (const Attribution& reference : truth.references) {
    differences.push_back(view(difference(found, reference.values)));
    lengths.push_back(relative_to(reference.values));
  }
  statistics::Mean square = statistics::squared_length(differences);
  const double scale = statistics::squared_length(lengths).value;
  square.value /= scale;
  square.standard_error /= scale;
  return square;
}

statistics::Mean relative_square(const std::vector<double>& found, const Truth& truth, Part part = Part::all) {
  return relative_square(
      found, truth, [part](std::vector<double> values) { return part_of(std::move(values), part); },
      [scale = part == Part::atom ? Part::all : part](std::vector<double> values) {
        return part_of(std::move(values), scale);
      });
}

statistics::Mean relative_square_of_sets(const std::vector<double>& found, const Truth& truth, std::size_t sets) {
  const auto view = [sets](const std::vector<double>& values) { return in_sets(values, sets); };
  return relative_square(found, truth, view, view);
}

/// The points from n = 8 on: a few coarse cells follow no law.
statistics::Study from_eight(const statistics::Study& study) {
  statistics::Study kept(study.title(), study.effort(), study.error());
  for (const auto& point : study.points())
    if (point.effort >= 8) kept.add(point.effort, point.error);
  return kept;
}

/// Distances to the Shapley values: square roots of the median squares over the inputs at each n. The study has those
/// that are resolved: the square is above twice its standard error, which is the median of those of the inputs.
struct Curve {
  statistics::Study study;
  std::vector<statistics::Mean> medians{};

  Curve(const std::string& title, const std::string& error) : study(title, "n", error) {}
  void add(int n, const std::vector<statistics::Mean>& of_inputs) {
    std::vector<double> values, errors;
    for (const statistics::Mean& square : of_inputs) {
      values.push_back(square.value);
      errors.push_back(square.standard_error);
    }
    medians.push_back({.value = statistics::quartiles(values).median,
                       .standard_error = statistics::quartiles(errors).median,
                       .count = of_inputs.size()});
    if (resolved(medians.size() - 1)) study.add(n, distance(medians.size() - 1));
  }
  double distance(std::size_t i) const { return std::sqrt(std::max(medians[i].value, 0.0)); }
  bool resolved(std::size_t i) const { return medians[i].value > 2 * medians[i].standard_error; }
  std::string cell(std::size_t i) const { return resolved(i) ? fmt::format("{:.3g}", distance(i)) : "not resolved"; }
  /// Of the distance, by the noise of the references.
  std::string error(std::size_t i) const {
    return resolved(i) ? fmt::format("{:.2g}", medians[i].standard_error / (2 * distance(i))) : "not resolved";
  }
  statistics::Study fitted() const { return from_eight(study); }
};

/// Above those that are enumerated, distances fall like 1/n, and the wanted error of the references is a part of it, as
/// far as it can be paid. References that were n^(1/4) coarser beside the distance were tried once: from n = 256 on the
/// squares of hard masks were not resolved.
evaluation::ReferenceSettings reference_settings(int n, double part) {
  return {.relative_error = is_run() ? part / n : 2e-3,
          .max_evaluations = std::int64_t{1} << (is_run() ? (n > 512 ? 19 : 17) : 15),
          .exact_players = 16};
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
      std::vector<statistics::Mean> ig, mf, ig_ocean, mf_ocean, mf_atom;
      const std::int64_t all = subject().inputs.batch;
      inputs.push_back(n >= 256 ? std::min<std::int64_t>(4, all) : all);
      for (std::int64_t sample = 0; sample < inputs.back(); ++sample) {
        const auto game = cell_game(*subject().op, subject().inputs.one(sample), n);
        const Truth truth = truth_of(*game, reference_settings(n, hard_part));
        const auto by_gradients =
            attribute(*integrated_gradients(estimators::Rule::gauss_legendre, 16), *game, {}, 1).values;
        const auto by_closure = attribute(*estimators::mean_field(16), *game, {}, 1).values;
        error.push_back(truth.error);
        ig.push_back(relative_square(by_gradients, truth));
        mf.push_back(relative_square(by_closure, truth));
        ig_ocean.push_back(relative_square(by_gradients, truth, Part::ocean));
        mf_ocean.push_back(relative_square(by_closure, truth, Part::ocean));
        mf_atom.push_back(relative_square(by_closure, truth, Part::atom));
        const std::vector<double>& values = truth.references.front().values;
        atom.push_back(std::abs(values[static_cast<std::size_t>(n / 2)]) / norm(values));
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
  Curve cells{"IG", "distance, smooth masks"}, sets{"IG, four sets", "distance, smooth masks"};

  SmoothLimits(std::vector<int> at, int points, std::int64_t inputs) : Limits{.players = std::move(at)} {
    for (const int n : players) {
      std::vector<double> error;
      std::vector<statistics::Mean> of_cells, of_sets;
      for (std::int64_t sample = 0; sample < inputs; ++sample) {
        const FieldBatch input = on_grid(subject().inputs.one(sample), points);
        const games::PartitionOfUnity masks =
            games::PartitionOfUnity::bumps(input.domain, {games::graded_centres(6, 1, 2)});
        const auto game =
            games::smooth_operator_game(*subject().op, input, FieldBatch::zeros(input.domain, 1, 1), masks,
                                        Partition::graded(input.domain, n, 2), Query{.point = points / 2});
        const Truth truth = truth_of(*game, reference_settings(n, smooth_part));
        const auto limit = attribute(*integrated_gradients(estimators::Rule::gauss_legendre, 16), *game, {}, 1).values;
        error.push_back(truth.error);
        of_cells.push_back(relative_square(limit, truth));
        of_sets.push_back(relative_square_of_sets(limit, truth, 4));
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
  const CellMaskLimits hard(is_run() ? std::vector<int>{4, 6, 8, 11, 16, 32, 64, 128, 256, 512, 1024}
                                     : std::vector<int>{4, 8, 16, 32, 64});
  const SmoothLimits smooth = is_run() ? SmoothLimits({8, 16, 32, 64}, 128, 4) : SmoothLimits({8, 12, 32}, 64, 2);
  const statistics::Fit ig = hard.gradients.fitted().fit(), mf = hard.closure.fitted().fit(),
                        ocean = hard.closure_ocean.fitted().fit(), cells = smooth.cells.fitted().fit(),
                        sets = smooth.sets.fitted().fit();

  reporting::Table slopes{
      .name = "slopes",
      .caption = "Slope of the distance against n from n = 8, resolved points.",
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
          "Cell masks: square roots of median squares over the inputs. A square is a mean product of differences to "
          "two of four independent references, which has no bias by their errors; beside the mean field's distance "
          "stands what these errors let it be off by. A square below twice its standard error is not resolved.",
      .columns = {{"n", true},
                  {"inputs", true},
                  {"reference's error", true},
                  {"IG", true},
                  {"mean field", true},
                  {"±", true},
                  {"IG, ocean", true},
                  {"mean field, ocean", true},
                  {"mean field, atom", true},
                  {"atom |φ|/‖φ‖", true}},
      .rows = {}};
  for (std::size_t i = 0; i < hard.players.size(); ++i) {
    of_hard.add({std::to_string(hard.players[i]), std::to_string(hard.inputs[i]), text_of(hard.reference_errors[i]),
                 hard.gradients.cell(i), hard.closure.cell(i), hard.closure.error(i), hard.gradients_ocean.cell(i),
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
  EXPECT_LT(hard.closure.medians.back().value, std::pow(0.75, 2) * hard.gradients.medians.back().value);
  EXPECT_NEAR(-1, sets.slope, 0.3) << "the theorem's limit is approached as O(1/n)";
  // The theorem is about fixed sets. Distances of single players fall less regularly: on the small backbone the slope
  // was -0.70 at 8, 16, 32 players, -0.66 at 8, 16, 32, 40 and -0.56 at 12, 16, 24, 32. So only a fall is asserted.
  EXPECT_LT(cells.slope, -0.5) << "players alone come nearer too";
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
        linear, {input, baseline, Partition::one_player_per_point(input.domain), Query{.point = n / 2}});
    std::vector<double> shares;
    for (int y = 0; y < n; ++y)
      shares.push_back(WeightedMeanOperator::weight(n / 2, y, n) * input.values[static_cast<std::size_t>(y)]);
    const auto masks = games::PartitionOfUnity::bumps(input.domain, {games::graded_centres(2, 1, 1)});
    const auto smooth = games::smooth_operator_game(linear, input, baseline, masks,
                                                    Partition::blocks(input.domain, n / 2), Query{.point = n / 2});
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
      const auto game =
          games::cell_mask_game(*subject().op, {input, FieldBatch::zeros(input.domain, 1, 1),
                                                Partition::one_player_per_point(input.domain), Query{.point = n / 2}});
      const Truth truth{.references = {evaluation::certified_reference(*game, {}, 1).attribution}};
      const auto distance = [&](const Estimator& estimator) {
        return std::sqrt(relative_square(attribute(estimator, *game, {}, 1).values, truth).value);
      };
      ig_mean += distance(*integrated_gradients(estimators::Rule::gauss_legendre, 16));
      mf_mean += distance(*estimators::mean_field(16));
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
