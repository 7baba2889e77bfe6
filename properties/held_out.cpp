// Held-out inputs: their errors are those of the definition, their references are computed once, and drift is what
// depends on the grid.

#include "evaluation/held_out.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <numbers>

#include "core/error.hpp"
#include "core/rng.hpp"
#include "games/cell_mask_game.hpp"
#include "metrics/registry.hpp"
#include "support/stopping_operator.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;

/// A density from the field's value, the position and the number of points.
class DensityOf final : public Explainer {
 public:
  using Function = std::function<double(double value, double x, double query, int points)>;
  explicit DensityOf(Function function) : function_(std::move(function)) {}
  std::string describe() const override { return "a function"; }
  bool any_query() const override { return true; }
  FieldBatch densities(const FieldBatch& inputs, const Readout& readout) const override {
    FieldBatch densities = inputs;
    const int points = inputs.domain.shape()[0];
    for (std::int64_t point = 0; point < points; ++point) {
      double& value = densities.values[static_cast<std::size_t>(point)];
      value =
          function_(value, inputs.domain.position(point)[0], inputs.domain.position(readout.query().point)[0], points);
    }
    return densities;
  }

 private:
  Function function_;
};

/// Of the linear operator below: a cell's value is its share of the mean.
double true_density(double value, double x, double query, int) {
  return value * (1 + std::cos(2 * std::numbers::pi * (x - query)));
}

std::unique_ptr<methods::Method> method(DensityOf::Function function) {
  return methods::of_explainer(std::make_unique<DensityOf>(std::move(function)));
}

evaluation::HeldOutPlan plan(const Operator& op, bool any_query) {
  FieldBatch inputs = FieldBatch::zeros(Domain::unit({32}), 5, 1);
  Rng rng(3, "held-out test");
  for (double& value : inputs.values) value = rng.normal();
  return {.op = op, .inputs = inputs, .rule = {}, .resolutions = {4, 8}, .any_query = any_query, .reference = {}};
}

TEST(HeldOut, GivesTheTrueDensityNoErrorAtAnyQuery) {
  const WeightedMeanOperator linear(0);
  const evaluation::HeldOut held_out(plan(linear, true));
  for (std::size_t place = 0; place < 2; ++place) {
    const auto errors = held_out.errors_at(place, *method(true_density));
    ASSERT_TRUE(errors);
    EXPECT_EQ(place == 0 ? 4 : 8, errors->players);
    ASSERT_EQ(5u, errors->nrmse.size());
    for (const double error : errors->nrmse) EXPECT_LT(error, 1e-12) << "roundings of sums of 32 terms";
  }
  EXPECT_GT(held_out.errors_at(0, *method([](double value, double, double, int) { return value; }))->median(), 0.01)
      << "the input itself is not the answer";
}

TEST(HeldOut, HasTheErrorsOfTheDefinition) {
  const WeightedMeanOperator cubic(0.5);
  const evaluation::HeldOutPlan asked = plan(cubic, false);
  const evaluation::HeldOut held_out(asked);
  const auto explainer = method(true_density);
  const auto errors = held_out.errors_at(0, *explainer);
  ASSERT_TRUE(errors);
  for (std::int64_t sample = 0; sample < 5; ++sample) {
    const Scenario scenario = make_scenario({}, asked.inputs.one(sample), {4});
    const auto game = games::cell_mask_game(cubic, scenario);
    const auto exact = attribute(estimators::find("exact"), *game, {}, 0).values;
    const auto found = explainer->attribute({*game, &scenario, {}, 0}).values;
    EXPECT_DOUBLE_EQ(*metrics::nrmse(exact, found).value, errors->nrmse[static_cast<std::size_t>(sample)]);
  }
  const statistics::Interval interval = errors->interval(1);
  EXPECT_LE(interval.low, errors->median());
  EXPECT_GE(interval.high, errors->median());
  EXPECT_EQ(2u, held_out.errors_at(0, *explainer, {}, 2)->nrmse.size());
  EXPECT_FALSE(held_out.errors_at(0, *methods::resolve("permutation"), {3})) << "too small a budget";
}

TEST(HeldOut, KnowsTheShareOfTheQuerysOwnPlayer) {
  const WeightedMeanOperator linear(0);
  evaluation::HeldOutPlan asked = plan(linear, false);
  for (std::int64_t point = 0; point < 32; ++point) asked.inputs.values[static_cast<std::size_t>(point)] = 0;
  const evaluation::HeldOut held_out(asked);
  const evaluation::HeldOutErrors missed = held_out.own_player_missed(1);
  EXPECT_EQ((std::vector<int>{8}), missed.shape);
  EXPECT_EQ(8, missed.players);
  ASSERT_EQ(4u, missed.nrmse.size()) << "the first input is 0, and so are its values";
  ASSERT_EQ(4u, missed.reference_errors.size());
  for (std::int64_t sample = 1; sample < 5; ++sample) {
    const Scenario scenario = make_scenario({}, asked.inputs.one(sample), {8});
    double squares = 0, own = 0;
    for (std::int64_t point = 0; point < 8; ++point) {
      const auto position = [&](std::int64_t at) { return scenario.input.domain.position(at)[0]; };
      const double value = true_density(scenario.input.values[static_cast<std::size_t>(point)], position(point),
                                        position(scenario.readout.query().point), 8);
      squares += value * value;
      if (point == scenario.readout.query().point) own = std::abs(value);
    }
    EXPECT_NEAR(own / std::sqrt(squares), missed.nrmse[static_cast<std::size_t>(sample - 1)], 1e-12)
        << "roundings of sums of 32 terms";
  }
  std::ranges::fill(asked.inputs.values, 0.0);
  EXPECT_THROW(evaluation::HeldOut{asked}.own_player_missed(0), DataError);
}

TEST(HeldOut, ComputesItsReferencesOnce) {
  const fs::path folder = fs::temp_directory_path() / ("opshap_held_out_" + std::to_string(getpid()));
  const WeightedMeanOperator cubic(0.5);
  {
    runs::Units units(folder, "test", "held out");
    const evaluation::HeldOut first(plan(cubic, false), &units);
    const StoppingOperator stopping(0);
    EXPECT_THROW(evaluation::HeldOut{plan(stopping, false)}, Stopped);
    const evaluation::HeldOut second(plan(stopping, false), &units);
    EXPECT_EQ(4, second.players(0));
  }
  fs::remove_all(folder);
}

TEST(HeldOut, KnowsHowFarAnExplainerDrifts) {
  const WeightedMeanOperator linear(0);
  evaluation::HeldOutPlan asked = plan(linear, false);
  asked.inputs = FieldBatch::zeros(Domain::unit({256}), 2, 1);
  for (double& value : asked.inputs.values) value = 1;
  asked.resolutions = {8};
  const evaluation::HeldOut held_out(asked);
  const DensityOf same(true_density);
  EXPECT_NEAR(0, held_out.drift(same, 32, 256), 1e-14);
  const DensityOf shifted([](double value, double x, double query, int points) {
    return true_density(value, x, query, points) + 1.0 / points;
  });
  EXPECT_NEAR(0, held_out.drift(shifted, 32, 256), 1e-14) << "a constant is not drift";
  constexpr double grows = 0.5;
  const DensityOf drifting([](double, double x, double, int points) {
    return std::cos(2 * std::numbers::pi * x) + grows / points * std::sin(2 * std::numbers::pi * x);
  });
  // The query's point, one of 32, is left out of both sums.
  EXPECT_NEAR(grows * (1.0 / 32 - 1.0 / 256), held_out.drift(drifting, 32, 256), grows / 32 * 2.0 / 32);
}

TEST(HeldOut, LeavesOutWhatNothingCanBeScoredOn) {
  const WeightedMeanOperator linear(0);
  evaluation::HeldOutPlan none = plan(linear, false);
  none.inputs = FieldBatch::zeros(Domain::unit({32}), 0, 1);
  EXPECT_THROW(evaluation::HeldOut{none}, InvalidArgument);
  evaluation::HeldOutPlan zeros = plan(linear, false);
  std::ranges::fill(zeros.inputs.values, 0.0);
  const evaluation::HeldOut held_out(zeros);
  const auto nothing = held_out.errors_at(0, *method([](double, double x, double, int) { return x; }));
  ASSERT_TRUE(nothing.has_value());
  EXPECT_TRUE(nothing->nrmse.empty()) << "no error is relative to values that are all 0";
  EXPECT_EQ(zeros.inputs.batch, nothing->left_out);
  EXPECT_THROW(held_out.own_player_missed(0), DataError);
}

}  // namespace
}  // namespace opshap
