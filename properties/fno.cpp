// The Fourier neural operator against golden values, a direct Fourier sum, and itself.

#include "operators/fno.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/rng.hpp"
#include "core/threads.hpp"
#include "operators/golden.hpp"
#include "operators/network.hpp"
#include "operators/weights.hpp"
#include "support/operator_golden.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

operators::FnoConfig config_of(const CsvRow& row) {
  operators::FnoConfig config;
  config.n_modes.assign(static_cast<std::size_t>(row.whole("dimension")), 16);
  config.domain_padding = 0.5;
  config.domain_padding_mode = row.text("padding_mode");
  return config;
}

TEST(GoldenNumbers, AreTheOnesOfTheFormula) {
  EXPECT_DOUBLE_EQ(0.76662161642728521, operators::golden_number(0, 0));
  EXPECT_DOUBLE_EQ(0.13312315034456179, operators::golden_number(0, 1));
  EXPECT_DOUBLE_EQ(0.18237946839615882, operators::golden_number(0, 2));
  EXPECT_DOUBLE_EQ(0.7353710165340428, operators::golden_number(1000, 0));
  EXPECT_DOUBLE_EQ(-0.33009477833339873, operators::golden_number(1000, 1));
}

TEST(Fno, GivesTheGoldenValues) {
  const auto table = operator_golden_rows("fno_golden");
  ASSERT_EQ(6U, table.size());
  for (const CsvRow& row : table) {
    const operators::FnoConfig config = config_of(row);
    std::vector<std::int64_t> shape = {row.whole("batch"), 1};
    shape.insert(shape.end(), config.n_modes.size(), row.whole("points"));
    const FieldBatch exact = operators::golden_output(config, shape, networks::Precision::float64);
    const FieldBatch single = operators::golden_output(config, shape, networks::Precision::float32);
    EXPECT_LT(relative_error(golden_values(row), operators::golden_values(exact)), 1e-8)
        << row.text("id");  // the table has ten digits, the last one rounded
    EXPECT_LT(l2_distance(exact.values, single.values), 1e-5)
        << row.text("id");  // a dozen layers of products of 64 float32 numbers
  }
}

operators::FnoConfig small_config(int dimension, int in_channels = 1, int out_channels = 1) {
  operators::FnoConfig config{.n_modes = {},
                              .hidden_channels = 8,
                              .n_layers = 3,
                              .in_channels = in_channels,
                              .out_channels = out_channels,
                              .domain_padding = 0.5};
  config.n_modes.assign(static_cast<std::size_t>(dimension), 6);
  return config;
}

FieldBatch random_fields(const std::vector<int>& shape, std::int64_t batch, int channels) {
  FieldBatch fields = FieldBatch::zeros(Domain::unit(shape), batch, channels);
  Rng rng(3, "fno test");
  for (double& value : fields.values) value = rng.normal();
  return fields;
}

TEST(Fno, ValuesAtAPointAreThoseOfTheWholeField) {
  const std::vector<std::vector<int>> shapes = {{1}, {2}, {5}, {8}, {16}, {33}, {3, 5}, {4, 4}, {8, 6}};
  for (const auto& shape : shapes) {
    const auto op = operators::untrained_operator(small_config(static_cast<int>(shape.size()), 2, 2), 1,
                                                  networks::Precision::float64);
    const FieldBatch inputs = random_fields(shape, 3, 2);
    const FieldBatch outputs = op->apply(inputs);
    for (std::int64_t point = 0; point < inputs.domain.points(); ++point) {
      const std::vector<double> values = op->values_at(inputs, Query{.point = point, .channel = 1});
      for (std::int64_t b = 0; b < 3; ++b) {
        const double whole = outputs.field(b)[static_cast<std::size_t>(inputs.domain.points() + point)];
        EXPECT_EQ("", mismatch(whole, values[static_cast<std::size_t>(b)],
                               rounding(1e4, 1)));  // other order of the same sums
      }
    }
  }
}

// All inputs of small grids. The difference quotient is off by h²/6 times the third derivative, and by rounding over h,
// which is smaller.
TEST(Fno, GradientIsTheOneOfCentralDifferences) {
  constexpr double h = 1e-5;
  const std::vector<std::vector<int>> shapes = {{8}, {5}, {4, 4}};
  for (const std::vector<int>& shape : shapes) {
    const auto op = operators::untrained_operator(small_config(static_cast<int>(shape.size()), 2, 2), 1,
                                                  networks::Precision::float64);
    const FieldBatch inputs = random_fields(shape, 2, 2);
    const Query query{.point = inputs.domain.centre(), .channel = 1};
    const Operator::Gradient found = op->gradient_at(inputs, query);
    EXPECT_EQ("", mismatch(op->values_at(inputs, query), found.values, rounding(1e4, 1)));
    std::vector<double> expected;
    for (std::size_t i = 0; i < inputs.values.size(); ++i) {
      FieldBatch above = inputs, below = inputs;
      above.values[i] += h;
      below.values[i] -= h;
      const auto sample = i / inputs.field_size();
      expected.push_back((op->values_at(above, query)[sample] - op->values_at(below, query)[sample]) / (2 * h));
    }
    EXPECT_EQ("", mismatch(expected, found.gradient.values, discretisation(10, h, 2)));
    EXPECT_GT(largest(found.gradient.values), 1e-3);
  }
}

/// Each field moved on by one point along its last axis.
FieldBatch shifted(FieldBatch fields) {
  const auto line = static_cast<std::ptrdiff_t>(fields.domain.shape().back());
  for (auto begin = fields.values.begin(); begin != fields.values.end(); begin += line)
    std::rotate(begin, begin + line - 1, begin + line);
  return fields;
}

TEST(Fno, WithoutPaddingAndPlacesCommutesWithShifts) {
  const std::vector<std::vector<int>> shapes = {{16}, {5}, {4, 6}};
  for (const std::vector<int>& shape : shapes) {
    operators::FnoConfig config = small_config(static_cast<int>(shape.size()), 2, 2);
    config.domain_padding = 0;
    for (const char* places : {"none", "grid"}) {
      config.positional_embedding = places;
      const auto op = operators::untrained_operator(config, 1, networks::Precision::float64);
      const FieldBatch inputs = random_fields(shape, 2, 2);
      const double apart = l2_distance(shifted(op->apply(inputs)).values, op->apply(shifted(inputs)).values);
      if (config.knows_places())
        EXPECT_GT(apart, 1e-4) << "places do not move with the field";
      else
        EXPECT_LT(apart, 1e-12);  // the same sums in another order
    }
  }
}

TEST(Fno, OneFieldAloneGivesWhatItGivesInABatch) {
  const auto op = operators::untrained_operator(small_config(1), 1);
  const FieldBatch inputs = random_fields({64}, 32, 1);
  const FieldBatch outputs = op->apply(inputs);
  for (const std::int64_t b : {0, 13, 31}) {
    const FieldBatch alone = op->apply(inputs.one(b));
    EXPECT_LT(l2_distance({outputs.field(b).begin(), outputs.field(b).end()}, alone.values),
              1e-6);  // float32 sums in another order
  }
}

TEST(Fno, BitsDoNotDependOnTheNumberOfThreads) {
  const auto op = operators::untrained_operator(operators::FnoConfig{.domain_padding = 0.5}, 1);
  const FieldBatch inputs = random_fields({256}, 37, 1);  // several chunks, the last one not full
  const Query query{.point = 100};
  set_threads(1);
  const FieldBatch fields = op->apply(inputs);
  const std::vector<double> values = op->values_at(inputs, query);
  const Operator::Gradient gradient = op->gradient_at(inputs, query);
  for (const int count : {2, 3}) {
    set_threads(count);
    EXPECT_EQ(fields.values, op->apply(inputs).values);
    EXPECT_EQ(values, op->values_at(inputs, query));
    EXPECT_EQ(gradient.gradient.values, op->gradient_at(inputs, query).gradient.values);
  }
}

// p = fraction·n rounded half to even, on both sides or at the end; the table is neuraloperator's for a fraction of ½.
TEST(Fno, PadsAsTheReferenceDoes) {
  operators::FnoConfig config = small_config(1);
  const auto both = operators::make_network(config, torch::kFloat32);
  config.domain_padding_mode = "one-sided";
  const auto end = operators::make_network(config, torch::kFloat32);
  const std::vector<std::pair<int, int>> padding = {{1, 0},  {4, 2},  {5, 2},   {6, 3},   {7, 4},   {8, 4},
                                                    {16, 8}, {17, 8}, {19, 10}, {32, 16}, {33, 16}, {1024, 512}};
  for (const auto& [n, p] : padding) {
    EXPECT_EQ((n + 2 * p) * config.hidden_channels, both->activations(Domain::unit({n}))) << n;
    EXPECT_EQ((n + p) * config.hidden_channels, end->activations(Domain::unit({n}))) << n;
  }
}

TEST(Fno, HasTheReferencesParameters) {
  const std::vector<std::pair<int, std::int64_t>> counts = {{1, 198'209}, {2, 2'410'177}};
  for (const auto& [dimension, count] : counts) {
    operators::FnoConfig config;
    config.n_modes.assign(static_cast<std::size_t>(dimension), 16);
    const auto network = operators::make_network(config, torch::kFloat32);
    std::int64_t numbers = 0;
    for (const operators::Parameter& parameter : network->parameters())
      numbers += parameter.value.numel() / (parameter.complex ? 2 : 1);
    EXPECT_EQ(count, numbers);
  }
}

// Uniform on (−k, k) has variance k²/3; re and im of complex weights have standard deviation sqrt(2/(64+64))/sqrt(2).
TEST(Fno, StartsFromTheReferencesDistributions) {
  const auto network = operators::make_network(operators::FnoConfig{}, torch::kFloat64);
  operators::initialise(*network, 5);
  const auto check = [&](const std::string& name, double expected) {
    const auto& all = network->parameters();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const operators::Parameter& parameter) { return parameter.name == name; });
    ASSERT_NE(all.end(), found) << name;
    const double standard_error =
        expected / std::sqrt(2 * static_cast<double>(found->value.numel()));  // of the normal law, the larger one
    EXPECT_EQ("", mismatch(expected, found->value.std().item<double>(), sampling(standard_error))) << name;
  };
  check("fno_blocks.convs.1.weight.tensor", std::sqrt(2.0 / 128) / std::sqrt(2.0));
  check("fno_blocks.convs.2.bias", std::sqrt(2.0 / 128));
  check("fno_blocks.channel_mlp.0.fcs.1.weight", 1 / std::sqrt(32.0) / std::sqrt(3.0));
  check("lifting.fcs.0.weight", 1 / std::sqrt(2.0) / std::sqrt(3.0));
}

TEST(Fno, RefusesFieldsThatDoNotFit) {
  const auto op = operators::untrained_operator(small_config(1), 1);
  EXPECT_THROW(op->apply(random_fields({4, 4}, 1, 1)), InvalidArgument);
  EXPECT_THROW(op->apply(random_fields({8}, 1, 2)), InvalidArgument);
  EXPECT_THROW(op->values_at(random_fields({8}, 1, 1), Query{.point = 8}), InvalidArgument);
  EXPECT_THROW(op->values_at(random_fields({8}, 1, 1), Query{.point = 0, .channel = 1}), InvalidArgument);
  EXPECT_TRUE(op->apply(random_fields({8}, 0, 1)).values.empty());
}

}  // namespace
}  // namespace opshap
