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
#include "core/interpolation.hpp"
#include "data/dataset.hpp"
#include "estimators/integrated_gradients.hpp"
#include "estimators/mean_field.hpp"
#include "evaluation/certified_reference.hpp"
#include "games/cell_mask_game.hpp"
#include "games/smooth_operator_game.hpp"
#include "operators/weights.hpp"
#include "reporting/evidence.hpp"
#include "small_backbone.hpp"
#include "statistics/quantiles.hpp"
#include "statistics/study.hpp"
#include "support/tolerance.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;

/// A trained backbone with inputs that it was not trained on.
struct Subject {
  std::string name;
  std::unique_ptr<Operator> op;
  FieldBatch inputs;
};

FieldBatch test_inputs(const data::Dataset& data, std::int64_t most) {
  const std::vector<std::int64_t> samples = data.indices(data::Split::test);
  FieldBatch inputs = FieldBatch::zeros(data.inputs.domain, 0, data.inputs.channels);
  for (const std::int64_t sample : samples) {
    if (inputs.batch == most) break;
    const auto field = data.inputs.field(sample);
    inputs.values.insert(inputs.values.end(), field.begin(), field.end());
    ++inputs.batch;
  }
  return inputs;
}

bool is_run() { return std::getenv("OPSHAP_RUN") != nullptr; }

/// A finished run's backbone and test inputs when OPSHAP_RUN names one, else a small backbone trained here in seconds.
Subject make_subject() {
  const fs::path run = is_run() ? fs::path(std::getenv("OPSHAP_RUN"))
                                : fs::temp_directory_path() / message("opshap_operator_limits_", getpid());
  if (!is_run()) train_small_backbone("burgers1d", run);
  Subject subject{.name = {}, .op = operators::load_operator(run / "backbone" / "model.safetensors"), .inputs = {}};
  subject.name = message(subject.op->describe(), is_run() ? "" : ", trained on 112 samples");
  subject.inputs = test_inputs(data::read_dataset(run / "data" / "burgers1d.h5"), is_run() ? 8 : 4);
  if (!is_run()) fs::remove_all(run);
  return subject;
}

const Subject& subject() {
  static const Subject made = make_subject();
  return made;
}

/// The field on n points: every (N/n)-th one, or the trigonometric interpolant where n does not divide N.
FieldBatch on_grid(const FieldBatch& native, int n) {
  return native.domain.shape()[0] % n == 0 ? strided(native, {n}) : interpolated(native, {n});
}

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

/// ‖found − truth‖/‖truth‖ with the part that the truth's own standard errors explain taken out of the square, and
/// without the player `but`.
double relative_distance(const std::vector<double>& found, const Attribution& truth, int but = -1) {
  double sum = 0, scale = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (static_cast<int>(i) == but) continue;
    sum += std::pow(found[i] - truth.values[i], 2) - std::pow((*truth.standard_errors)[i], 2);
    scale += truth.values[i] * truth.values[i];
  }
  return std::sqrt(std::max(sum, 0.0) / scale);
}

/// Relative distances to the Shapley values over the inputs, at each n: a curve of medians, and the numbers behind it.
struct Curve {
  statistics::Study study;
  std::vector<std::vector<double>> distances{};  ///< at each n, one for each input

  Curve(const std::string& title, const std::string& error) : study(title, "n", error) {}
  void add(int n, std::vector<double> of_inputs) {
    study.add(n, statistics::quartiles(of_inputs).median);
    distances.push_back(std::move(of_inputs));
  }
  double last() const { return statistics::quartiles(distances.back()).median; }
};

/// On a run's backbone enumeration to 22 players takes minutes; fine grids get what can be paid.
evaluation::ReferenceSettings reference_settings(int n) {
  return {.relative_error = 2e-3,
          .max_evaluations = std::int64_t{1} << (is_run() && n <= 128 ? 16 : 15),
          .exact_players = is_run() ? 22 : 16};
}

/// The part of a study whose points are above twice the reference's own error.
statistics::Fit fit_above(const Curve& curve, const std::vector<double>& reference_errors, double first) {
  statistics::Study kept(curve.study.title(), curve.study.effort(), curve.study.error());
  for (std::size_t i = 0; i < reference_errors.size(); ++i) {
    const auto& point = curve.study.points()[i];
    if (point.effort >= first && point.error > 2 * reference_errors[i]) kept.add(point.effort, point.error);
  }
  return kept.fit();
}

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
  std::vector<double> atoms{};  ///< the query's own cell: |φ|/‖φ‖, median over the inputs

  explicit CellMaskLimits(std::vector<int> at) : Limits{.players = std::move(at)} {
    for (const int n : players) {
      std::vector<double> error, ig, mf, ig_ocean, mf_ocean, atom;
      const std::int64_t all = subject().inputs.batch;
      for (std::int64_t sample = 0; sample < (n == 22    ? 1
                                              : n >= 256 ? std::min<std::int64_t>(4, all)
                                                         : all);
           ++sample) {
        const FieldBatch input = on_grid(subject().inputs.one(sample), n);
        const auto game = games::cell_mask_game(*subject().op, {input,
                                                                FieldBatch::zeros(input.domain, 1, 1),
                                                                Partition::one_player_per_point(input.domain),
                                                                {.point = n / 2}});
        const evaluation::CertifiedReference truth = evaluation::certified_reference(*game, reference_settings(n), 7);
        const auto by_gradients =
            attribute(*integrated_gradients(estimators::Rule::gauss_legendre, 16), *game, {}, 1).values;
        const auto by_closure = attribute(*estimators::mean_field(16), *game, {}, 1).values;
        error.push_back(truth.error);
        ig.push_back(relative_distance(by_gradients, truth.attribution));
        mf.push_back(relative_distance(by_closure, truth.attribution));
        ig_ocean.push_back(relative_distance(by_gradients, truth.attribution, n / 2));
        mf_ocean.push_back(relative_distance(by_closure, truth.attribution, n / 2));
        atom.push_back(std::abs(truth.attribution.values[static_cast<std::size_t>(n / 2)]) /
                       norm(truth.attribution.values));
      }
      reference_errors.push_back(statistics::quartiles(error).median);
      gradients.add(n, ig);
      closure.add(n, mf);
      gradients_ocean.add(n, ig_ocean);
      closure_ocean.add(n, mf_ocean);
      atoms.push_back(statistics::quartiles(atom).median);
    }
  }
};

/// The game of the theorem: six smooth masks that stay while the players' graded cells are refined.
struct SmoothLimits : Limits {
  static constexpr int coarse = 4;
  Curve cells{"IG", "distance, smooth masks"}, sets{"IG, four sets", "distance, smooth masks"};

  SmoothLimits(std::vector<int> at, int points, std::int64_t inputs) : Limits{.players = std::move(at)} {
    for (const int n : players) {
      std::vector<double> error, of_cells, of_sets;
      for (std::int64_t sample = 0; sample < inputs; ++sample) {
        const FieldBatch input = on_grid(subject().inputs.one(sample), points);
        const games::PartitionOfUnity masks =
            games::PartitionOfUnity::bumps(input.domain, {games::graded_centres(6, 1, 2)});
        const auto game =
            games::smooth_operator_game(*subject().op, input, FieldBatch::zeros(input.domain, 1, 1), masks,
                                        Partition::graded(input.domain, n, 2), {.point = points / 2});
        const evaluation::CertifiedReference truth = evaluation::certified_reference(*game, reference_settings(n), 7);
        const auto limit = attribute(*integrated_gradients(estimators::Rule::gauss_legendre, 16), *game, {}, 1).values;
        std::vector<double> total(coarse, 0.0), difference(coarse, 0.0);
        for (int k = 0; k < n; ++k) {
          const auto set = static_cast<std::size_t>(k * coarse / n), player = static_cast<std::size_t>(k);
          total[set] += limit[player];
          difference[set] += truth.attribution.values[player] - limit[player];
        }
        error.push_back(truth.error);
        of_cells.push_back(relative_distance(limit, truth.attribution));
        of_sets.push_back(norm(difference) / norm(total));
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
  const statistics::Fit ig = fit_above(hard.gradients, hard.reference_errors, 8),
                        mf = fit_above(hard.closure, hard.reference_errors, 8),
                        cells = fit_above(smooth.cells, smooth.reference_errors, 8),
                        sets = fit_above(smooth.sets, smooth.reference_errors, 8);

  reporting::Table slopes{
      .name = "slopes",
      .caption = "Slope of the median distance against n from n = 8, points above twice the reference's own error.",
      .columns = {{"game"}, {"compared with"}, {"slope", true}, {"standard error", true}},
      .rows = {}};
  const auto add_slope = [&](const std::string& game, const std::string& limit, const statistics::Fit& fit) {
    slopes.add({game, limit, fmt::format("{:.2f}", fit.slope),
                fit.slope_error > 0 ? fmt::format("{:.2f}", fit.slope_error) : "two points"});
  };
  add_slope("cell masks", "integrated gradients", ig);
  add_slope("cell masks", "mean field", mf);
  add_slope("smooth masks", "integrated gradients, cells", cells);
  add_slope("smooth masks", "integrated gradients, four sets", sets);
  reporting::Table of_hard{
      .name = "cell_masks",
      .caption = "Cell masks: medians over the inputs; the reference's own error is taken out of the squares.",
      .columns = {{"n", true},
                  {"reference's error", true},
                  {"IG", true},
                  {"mean field", true},
                  {"IG, ocean", true},
                  {"mean field, ocean", true},
                  {"atom |φ|/‖φ‖", true}},
      .rows = {}};
  for (std::size_t i = 0; i < hard.players.size(); ++i) {
    const auto at = [i](const Curve& curve) { return text_of(curve.study.points()[i].error); };
    of_hard.add({std::to_string(hard.players[i]), text_of(hard.reference_errors[i]), at(hard.gradients),
                 at(hard.closure), at(hard.gradients_ocean), at(hard.closure_ocean), text_of(hard.atoms[i])});
  }
  reporting::Table of_smooth{
      .name = "smooth_masks",
      .caption = "Smooth masks: the same.",
      .columns = {{"n", true}, {"reference's error", true}, {"IG", true}, {"IG, four sets", true}},
      .rows = {}};
  for (std::size_t i = 0; i < smooth.players.size(); ++i) {
    of_smooth.add({std::to_string(smooth.players[i]), text_of(smooth.reference_errors[i]),
                   text_of(smooth.cells.study.points()[i].error), text_of(smooth.sets.study.points()[i].error)});
  }
  reporting::publish(
      {.name = "operator_limits",
       .title = "Two games of one operator and their limits",
       .finding = fmt::format("{}. With hard masks on the cells (what is evaluated) the Shapley values go to the "
                              "mean field, slope {:.2f} ± {:.2f}, while "
                              "integrated gradients come nearer with slope {:.2f} ± {:.2f} only; with smooth masks "
                              "that stay (the theorem) they go to integrated gradients, "
                              "slope {:.2f} ± {:.2f}.",
                              subject().name, mf.slope, mf.slope_error, ig.slope, ig.slope_error, cells.slope,
                              cells.slope_error),
       .studies = {hard.gradients.study, hard.closure.study, hard.gradients_ocean.study, hard.closure_ocean.study,
                   smooth.cells.study, smooth.sets.study},
       .tables = {slopes, of_hard, of_smooth}});

  EXPECT_NEAR(-1, mf.slope, 0.3) << "the mean field's error is O(1/n)";
  EXPECT_GT(ig.slope, mf.slope + 0.15) << "gradients level off";
  EXPECT_LT(hard.closure.last(), 0.75 * hard.gradients.last());
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
          attribute(*integrated_gradients(estimators::Rule::gauss_legendre, 16), *game, {}, 1).values, truth);
      mf_mean += relative_distance(attribute(*estimators::mean_field(16), *game, {}, 1).values, truth);
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
