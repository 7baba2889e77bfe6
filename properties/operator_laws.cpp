// What every registered neural operator promises: shapes, batches, resolutions, gradients, files, and the paths that
// must agree.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "games/cell_mask_game.hpp"
#include "operators/blas.hpp"
#include "operators/registry.hpp"
#include "operators/weights.hpp"
#include "support/test_seed.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

/// A registered operator in one of its dimensions.
struct Case {
  std::string name;
  int dimension = 1;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string& name : operators::names())
    for (const int dimension : operators::architecture(name)->dimensions())
      all.push_back({.name = name, .dimension = dimension});
  return all;
}

constexpr int in_channels = 2, out_channels = 3;

class EveryOperator : public ::testing::TestWithParam<Case> {
 protected:
  networks::NetworkConfig config() const {
    return operators::fitted(
        operators::architecture(GetParam().name)->of_the_paper(),
        {.dimension = GetParam().dimension, .in_channels = in_channels, .out_channels = out_channels});
  }
  std::unique_ptr<Operator> op(networks::Precision precision) const {
    return operators::untrained_operator(config(), 1, precision);
  }
  std::vector<int> shape(int points) const {
    return std::vector<int>(static_cast<std::size_t>(GetParam().dimension), points);
  }
  FieldBatch random_fields(int points, std::int64_t batch) const {
    FieldBatch fields = FieldBatch::zeros(Domain::unit(shape(points)), batch, in_channels);
    Rng rng(test_seed(), "operator laws");
    for (double& value : fields.values) value = rng.normal();
    return fields;
  }
};

INSTANTIATE_TEST_SUITE_P(Registered, EveryOperator, ::testing::ValuesIn(cases()),
                         [](const auto& of) { return of.param.name + std::to_string(of.param.dimension) + "d"; });

TEST_P(EveryOperator, SaysItsDimensionAndItsChannels) {
  const auto found = op(networks::Precision::float32);
  EXPECT_EQ(GetParam().dimension, found->dimension());
  EXPECT_EQ(in_channels, found->input_channels());
  EXPECT_EQ(out_channels, found->output_channels());
  EXPECT_TRUE(found->describe().starts_with(GetParam().name)) << found->describe();
}

TEST_P(EveryOperator, WorksAtAnyResolution) {
  const auto found = op(networks::Precision::float32);
  for (const int points : {4, 8, 16}) {
    const FieldBatch inputs = random_fields(points, 2), outputs = found->apply(inputs);
    EXPECT_EQ(inputs.domain, outputs.domain);
    EXPECT_EQ(2, outputs.batch);
    EXPECT_EQ(out_channels, outputs.channels);
    EXPECT_NO_THROW(require_finite(outputs, "operator laws"));
    EXPECT_GT(largest(outputs.values), 0);
  }
}

TEST_P(EveryOperator, GivesAFieldWhatItGivesItInABatch) {
  SCOPED_TRACE(replay());
  const auto found = op(networks::Precision::float64);
  const FieldBatch inputs = random_fields(8, 5), outputs = found->apply(inputs);
  for (const std::int64_t index : {0, 4}) {
    const auto whole = outputs.field(index);
    EXPECT_EQ("", mismatch({whole.begin(), whole.end()}, found->apply(inputs.one(index)).values,
                           rounding(1e4, 1)));  // other order of the same sums
  }
}

TEST_P(EveryOperator, HasAtAPointTheValuesOfTheWholeField) {
  SCOPED_TRACE(replay());
  const auto found = op(networks::Precision::float64);
  const FieldBatch inputs = random_fields(8, 2), outputs = found->apply(inputs);
  for (const std::int64_t point : {std::int64_t{0}, inputs.domain.centre(), inputs.domain.points() - 1}) {
    const std::vector<double> values = found->values_at(inputs, Query{.point = point, .channel = 1});
    for (std::int64_t index = 0; index < 2; ++index) {
      const double whole = outputs.field(index)[static_cast<std::size_t>(inputs.domain.points() + point)];
      EXPECT_EQ("", mismatch(whole, values[static_cast<std::size_t>(index)], rounding(1e4, 1)));
    }
  }
}

/// Numbers of a readout's terms, added up.
template <typename At>
std::vector<double> added_up(const Readout& readout, const At& at) {
  std::vector<double> sum;
  for (const auto& [query, weight] : readout.terms()) {
    const std::vector<double> found = at(query);
    sum.resize(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) sum[i] += weight * found[i];
  }
  return sum;
}

// Of several numbers everything goes through the whole output; of more than 64 games do so too.
TEST_P(EveryOperator, ReadsAWeightedSumOfItsOutputAsTheSumOfItsQueries) {
  SCOPED_TRACE(replay());
  const auto found = op(networks::Precision::float64), with = op(networks::Precision::float32);
  const FieldBatch inputs = random_fields(8, 1), hidden = FieldBatch::zeros(inputs.domain, 1, in_channels);
  const std::int64_t last = inputs.domain.points() - 1;
  Rng rng(test_seed(), "readouts");
  FieldBatch inclusion = FieldBatch::zeros(inputs.domain, 1, 1);
  for (double& value : inclusion.values) value = rng.uniform(0, 1);
  const Tolerance tolerance = rounding(1e5, 1);  // a dozen layers of sums of a few thousand products
  const Readout few({{{.point = 3, .channel = 2}, -2.0}, {{.point = last, .channel = 0}, 0.5}});
  const auto gradient = [&](const Readout& of) { return found->gradient_at(inputs, of); };
  EXPECT_EQ("",
            mismatch(added_up(few, [&](Query of) { return gradient(of).values; }), gradient(few).values, tolerance));
  EXPECT_EQ("", mismatch(added_up(few, [&](Query of) { return gradient(of).gradient.values; }),
                         gradient(few).gradient.values, tolerance));
  if (found->has_mean_field()) {
    const auto closure = [&](const Readout& of) { return found->mean_field_at(inputs, hidden, inclusion, of); };
    EXPECT_EQ("",
              mismatch(added_up(few, [&](Query of) { return closure(of).values; }), closure(few).values, tolerance));
    EXPECT_EQ("", mismatch(added_up(few, [&](Query of) { return closure(of).gradient.values; }),
                           closure(few).gradient.values, tolerance));
  }
  std::vector<double> weights(static_cast<std::size_t>(out_channels * inputs.domain.points()));
  for (double& weight : weights) weight = rng.uniform(-1, 1);
  ScenarioRule rule;
  rule.players = ScenarioRule::Players::blocks;
  rule.blocks = 4;
  const Coalitions some = Coalitions::enumerate(4, 6, 4);  // {1, 2}, {0, 1, 2}, {3} and {0, 3}
  for (const Readout& readout : {few, Readout::of_weights(weights, inputs.domain.points())}) {
    EXPECT_EQ("", mismatch(readout.of(found->apply(inputs).values, inputs.domain.points()),
                           found->values_at(inputs, readout).front(), tolerance));
    Scenario scenario = make_scenario(rule, inputs);
    scenario.readout = readout;
    // A dozen layers of products of 64 float32 numbers, up to 200 of them added up.
    EXPECT_EQ("", mismatch(games::cell_mask_game(*found, scenario)->values(some),
                           games::cell_mask_game(*with, scenario)->values(some), rounding(1e-4 * 0x1p52, 1)));
  }
}

// The difference quotient is off by h²/6 times the third derivative, and by rounding over h, which is smaller.
TEST_P(EveryOperator, HasTheGradientOfCentralDifferences) {
  SCOPED_TRACE(replay());
  constexpr double h = 1e-5;
  const auto found = op(networks::Precision::float64);
  const FieldBatch input = random_fields(4, 1);
  const Query query{.point = input.domain.centre(), .channel = 2};
  std::vector<double> expected;
  for (std::size_t i = 0; i < input.values.size(); ++i) {
    FieldBatch above = input, below = input;
    above.values[i] += h;
    below.values[i] -= h;
    expected.push_back((found->values_at(above, query)[0] - found->values_at(below, query)[0]) / (2 * h));
  }
  const std::vector<double> gradient = found->gradient_at(input, query).gradient.values;
  EXPECT_EQ("", mismatch(expected, gradient, discretisation(10, h, 2)));
  EXPECT_GT(largest(gradient), 1e-4);
}

TEST_P(EveryOperator, PlaysTheGameOfItsMaskedInputsWithAndWithoutItsEngine) {
  SCOPED_TRACE(replay());
  const auto with = op(networks::Precision::float32), exact = op(networks::Precision::float64);
  ScenarioRule rule;
  rule.players = ScenarioRule::Players::blocks;
  rule.blocks = 4;
  const FieldBatch input = random_fields(8, 1);
  const Coalitions all = Coalitions::enumerate(4, 0, 16);
  const std::vector<double> values = games::cell_mask_game(*with, make_scenario(rule, input))->values(all),
                            expected = games::cell_mask_game(*exact, make_scenario(rule, input))->values(all);
  // A dozen layers of products of 64 float32 numbers.
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(expected[i], values[i], 1e-5) << i;
}

TEST_P(EveryOperator, TakesItsDomainAndItsConfigThroughAFile) {
  const auto folder = std::filesystem::temp_directory_path() / ("opshap_laws_" + std::to_string(getpid()));
  const auto file = folder / "model.safetensors";
  const auto network = operators::make_network(config(), torch::kFloat32);
  operators::initialise(*network, 1);
  operators::save_network(*network, file);
  EXPECT_EQ(Domain::unit(shape(8)), operators::load_operator(file)->domain(shape(8)));

  std::vector<Axis> axes = {Axis::cells(32, 3, -1), Axis::nodes(9, 2)};
  axes.resize(static_cast<std::size_t>(GetParam().dimension));
  network->set_native_domain(Domain::grid(axes));
  operators::save_network(*network, file);
  const auto loaded = operators::load_network(file, torch::kFloat32);
  EXPECT_EQ(network->config(), loaded->config());
  EXPECT_EQ(Domain::grid(axes), loaded->native_domain());
  for (Axis& axis : axes) axis = axis.resampled(8);
  EXPECT_EQ(Domain::grid(axes), operators::load_operator(file)->domain(shape(8)));
  axes.push_back(Axis::ring(4));
  axes.push_back(Axis::ring(4));
  axes.resize(GetParam().dimension == 1 ? 2 : 1);
  EXPECT_THROW(network->set_native_domain(Domain::grid(axes)), InvalidArgument);
  std::filesystem::remove_all(folder);
}

TEST_P(EveryOperator, NamesWhatItDoesNotKnow) {
  networks::NetworkSettings settings = operators::architecture(GetParam().name)->of_the_paper();
  const auto refusal = [&](const std::string& extra) -> std::string {
    settings.json = settings.json.substr(0, settings.json.rfind('}')) + extra + "}";
    try {
      operators::fitted(settings, {.dimension = GetParam().dimension});
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ("", refusal(""));
  const std::string message = refusal(", \"no_such_setting\": 1");
  EXPECT_NE(std::string::npos, message.find("no_such_setting")) << message;
}

TEST(Operators, AreRefusedByANameThatIsNotRegistered) {
  EXPECT_THROW(operators::architecture("fnoo"), InvalidArgument);
  EXPECT_THROW(operators::fitted({.model = "fnoo"}, {}), InvalidArgument);
}

// One multiplication that another process interrupts is measured at a fraction of what the machine can.
TEST(FastBlas, IsKnownByItsNameAndNotByTheSpeedOfABusyMachine) {
  EXPECT_NO_THROW(operators::require_fast({.name = "OpenBLAS 0.3.21 (OpenMP)", .gflops = 0.5, .fast = true}));
  EXPECT_THROW(operators::require_fast({.name = "reference BLAS", .gflops = 100, .fast = false, .fix = "none"}),
               EnvironmentError);
  const networks::Blas blas = operators::examine_blas();
  EXPECT_EQ(blas.name != "reference BLAS", blas.fast) << blas.gflops;
}

}  // namespace
}  // namespace opshap
