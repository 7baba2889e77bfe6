// The geometry-informed neural operator: its neighbours and kernel integrals against plain loops, itself against
// neuraloperator's outputs. architectures.cpp has the laws of all architectures.

#include "operators/gino.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/rng.hpp"
#include "data/npy.hpp"
#include "games/cell_mask_game.hpp"
#include "games/games_together.hpp"
#include "operators/golden.hpp"
#include "operators/kernel_integral.hpp"
#include "operators/layers.hpp"
#include "operators/registry.hpp"
#include "operators/weights.hpp"
#include "support/networks.hpp"
#include "support/operator_golden.hpp"
#include "support/refusal.hpp"
#include "support/small_gino.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using operators::NeighbourLists;
using torch::Tensor;

std::vector<double> random_numbers(std::size_t count, std::uint64_t item) {
  std::vector<double> drawn(count);
  Rng rng(7, "gino test", 0, item);
  for (double& number : drawn) number = rng.uniform();
  return drawn;
}

/// The points of `opshap operator golden`, and a latent grid.
std::vector<double> golden_places(std::int64_t points) {
  std::vector<double> places;
  for (std::int64_t i = 1; i <= points; ++i) {
    for (const double step : {0.7548776662466927, 0.5698402909980532}) {
      const double place = 0.5 + static_cast<double>(i) * step;
      places.push_back(static_cast<float>(place - std::floor(place)));
    }
  }
  return places;
}

std::vector<double> latent_places(std::int64_t size) {
  const std::vector<double> line = numbers(torch::linspace(0, 1, size, torch::kFloat32));
  std::vector<double> places;
  for (const double x : line)
    for (const double y : line) places.insert(places.end(), {x, y});
  return places;
}

Domain mesh_of(std::vector<double> places) {
  const std::vector<double> volumes(places.size() / 2, 0.5);
  return Domain::mesh(Mesh::of_points(2, std::move(places), volumes));
}

TEST(Neighbours, AreThoseOfAllPairs) {
  std::vector<double> clustered = random_numbers(300, 1);
  for (std::size_t i = 0; i < 200; ++i) clustered[i] = 0.4 + 1e-3 * clustered[i];
  const std::vector<std::vector<double>> clouds = {
      random_numbers(2, 2), random_numbers(400, 3), clustered, {0, 0, 0.25, 0, 0.5, 0, 0.5, 0.25}};
  std::vector<double> places = random_numbers(100, 4);
  places.insert(places.end(), {0.25, 0.0, 5.0, -3.0, 1.25, 0.5});  // on a point, far away, and beyond an end
  for (const std::vector<double>& points : clouds) {
    for (const double radius : {1e-4, 0.03, 0.25, 3.0}) {
      NeighbourLists expected;
      for (std::size_t place = 0; place < places.size(); place += 2) {
        for (std::size_t point = 0; point < points.size(); point += 2) {
          const double x = points[point] - places[place], y = points[point + 1] - places[place + 1];
          if (x * x + y * y <= radius * radius) expected.indices.push_back(static_cast<std::int64_t>(point / 2));
        }
        expected.splits.push_back(expected.edges());
      }
      EXPECT_EQ(expected, operators::neighbours_within(points, places, radius)) << radius;
    }
  }
  EXPECT_EQ(0, operators::neighbours_within({}, places, 1).edges());
  EXPECT_THROW(operators::neighbours_within(clustered, places, 0), InvalidArgument);
}

// Counted by an independent program on the same float32 coordinates.
TEST(Neighbours, OfTheGoldenMeshesAreTheCountedOnes) {
  struct Row {
    std::int64_t points, edges, sum_in, sum_out, most_in, most_out;
  };
  const std::vector<double> latent = latent_places(64);
  for (const Row& row : {Row{200, 6073, 605875, 12396702, 3, 33}, Row{1900, 57582, 54682137, 117902343, 18, 33}}) {
    const std::vector<double> points = golden_places(row.points);
    const auto check = [&](const NeighbourLists& lists, std::int64_t sum, std::int64_t most) {
      std::int64_t found_sum = 0, found_most = 0;
      for (const std::int64_t index : lists.indices) found_sum += index;
      for (std::size_t i = 0; i + 1 < lists.splits.size(); ++i)
        found_most = std::max(found_most, lists.splits[i + 1] - lists.splits[i]);
      EXPECT_EQ(row.edges, lists.edges());
      EXPECT_EQ(sum, found_sum);
      EXPECT_EQ(most, found_most);
    };
    check(operators::neighbours_within(points, latent, 0.05), row.sum_in, row.most_in);
    check(operators::neighbours_within(latent, points, 0.05), row.sum_out, row.most_out);
  }
}

TEST(Neighbours, FromElsewhereMustBeCompressedRows) {
  const NeighbourLists good{.splits = {0, 2, 2, 3}, .indices = {0, 4, 1}};
  EXPECT_EQ(good, operators::neighbours_given(good, 3, 5));
  EXPECT_THROW(operators::neighbours_given(good, 4, 5), InvalidArgument);
  EXPECT_THROW(operators::neighbours_given(good, 3, 4), InvalidArgument);
  EXPECT_THROW(operators::neighbours_given({.splits = {0, 2, 1, 3}, .indices = {0, 4, 1}}, 3, 5), InvalidArgument);
  EXPECT_THROW(operators::neighbours_given({.splits = {0, 2, 2, 4}, .indices = {0, 4, 1}}, 3, 5), InvalidArgument);
  EXPECT_THROW(operators::neighbours_given({.splits = {0, 2, 2, 3}, .indices = {4, 4, 1}}, 3, 5), InvalidArgument);
}

TEST(CoordinateWaves, HaveSineAndCosineOfEachFrequencyOfEachCoordinate) {
  const std::vector<double> places = {0.3, 0.7}, waves = numbers(operators::coordinate_waves(places, torch::kFloat64));
  ASSERT_EQ(128U, waves.size());
  const std::vector<double> row = {0.2955, 0.9553, 0.1679, 0.9858, 0.0947, 0.9955,
                                   0.0533, 0.9986, 0.0300, 0.9996, 0.0169, 0.9999};
  for (std::size_t i = 0; i < row.size(); ++i) EXPECT_NEAR(row[i], waves[i], 5e-5);  // four digits were printed
  EXPECT_DOUBLE_EQ(std::sin(0.7), waves[64]);
  EXPECT_DOUBLE_EQ(std::cos(0.7), waves[65]);
}

TEST(RowsOfEdges, AreSummedByPointAndEachIsTheDerivativeOfTheOther) {
  const Tensor index = torch::tensor({2, 0, 2, 2}, torch::kInt64),
               weights = torch::arange(1, 13, torch::kFloat64).view({4, 3});
  const Tensor rows = weights.clone().set_requires_grad(true),
               x = torch::rand({4, 3}, torch::kFloat64).set_requires_grad(true);
  const Tensor sums = operators::sums_of_edges(rows, index, 4);
  EXPECT_EQ((std::vector<double>{4, 5, 6, 0, 0, 0, 1 + 7 + 10, 2 + 8 + 11, 3 + 9 + 12, 0, 0, 0}), numbers(sums));
  EXPECT_EQ(numbers(x.index_select(0, index)), numbers(operators::rows_of_edges(x, index)));
  EXPECT_EQ(numbers(x.index_select(0, index)), numbers(torch::autograd::grad({(sums * x.detach()).sum()}, {rows})[0]));
  EXPECT_EQ(numbers(sums),
            numbers(torch::autograd::grad({(operators::rows_of_edges(x, index) * weights).sum()}, {x})[0]));
}

// The reference's distances come from a float32 matrix product, which misses one pair.
TEST(Gino, GivesTheGoldenValuesOfTheReferencesNeighbours) {
  constexpr std::int64_t latent_point = 2428, node = 370, points = 1900;
  const torch::NoGradGuard no_grad;
  operators::Gino network({.in_channels = 2,
                           .in_transform = "nonlinear",
                           .out_transform = "nonlinear",
                           .in_radius = 0.05,
                           .out_radius = 0.05},
                          torch::kFloat64);
  operators::set_golden_parameters(network);
  const Domain domain = mesh_of(golden_places(points));
  const auto without = [](NeighbourLists lists, std::int64_t row, std::int64_t index) {
    const auto begin = lists.indices.begin() + lists.splits[static_cast<std::size_t>(row)],
               end = lists.indices.begin() + lists.splits[static_cast<std::size_t>(row) + 1];
    const auto found = std::find(begin, end, index);
    EXPECT_NE(end, found);
    lists.indices.erase(found);
    for (auto split = static_cast<std::size_t>(row) + 1; split < lists.splits.size(); ++split) --lists.splits[split];
    return lists;
  };
  const auto exact = network.mesh(domain);
  const operators::GinoMesh mesh =
      network.mesh(domain, without(exact->in, latent_point, node), without(exact->out, node, latent_point));
  FieldBatch input = FieldBatch::zeros(domain, 1, 2), output = FieldBatch::zeros(domain, 1, 1);
  for (std::uint64_t point = 0; point < points; ++point)
    for (std::uint64_t channel = 0; channel < 2; ++channel)
      input.values[channel * points + point] = static_cast<float>(operators::golden_number(1000, 2 * point + channel));
  operators::from_tensor(network.forward_on(operators::to_tensor(input, 0, 1, network.options()), mesh), output, 0);
  for (const CsvRow& row : operator_golden_rows("gino_golden")) {
    if (row.text("id") == "G2r") {
      EXPECT_LT(relative_error(golden_values(row), operators::golden_values(output)), 1e-6);
    }
  }
}

TEST(Gino, ComputesWhatNeuraloperatorComputes) {
  const std::vector<std::pair<std::string, operators::GinoConfig>> cases = {
      {"gino_nonlinear", fixture_gino(2, 2, "nonlinear", "nonlinear")},
      {"gino_linear", fixture_gino(1, 1, "linear", "linear")},
      {"gino_mixed", fixture_gino(2, 1, "nonlinear", "linear")}};
  for (const auto& [name, config] : cases) {
    const data::NpyArray output =
        data::read_npy(OPSHAP_SOURCE_DIR "/reference_data/neuraloperator/" + name + "_output.npy");  // [2, 150, C]
    const std::vector<double> stored = output.reals(name);
    const auto found = operators::golden_output(config, {2, config.in_channels, 150}, networks::Precision::float32);
    std::vector<double> expected(stored.size());
    const auto channels = static_cast<std::size_t>(config.out_channels);
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t p = 0; p < 150; ++p)
        for (std::size_t c = 0; c < channels; ++c)
          expected[(b * channels + c) * 150 + p] = stored[(b * 150 + p) * channels + c];
    EXPECT_LT(l2_distance(expected, found.values), float32_layers) << name;
  }
}

std::unique_ptr<operators::Gino> small_network(const operators::GinoConfig& config) {
  auto network = std::make_unique<operators::Gino>(config, torch::kFloat64);
  operators::initialise(*network, 2);
  for (operators::Parameter& parameter : network->parameters()) parameter.value.set_requires_grad(true);
  return network;
}

/// One point is a mesh as well. A query without latent neighbours gets the projection of nothing.
TEST(Gino, TakesOnePointAndNoNeighbours) {
  operators::GinoConfig config = small_gino();
  config.out_radius = 1e-3;
  const auto network = small_network(config);
  const Domain one = mesh_of({0.013, 1.017});
  const Tensor fields = operators::to_tensor(random_fields(one, 2, 2, 3), 0, 2, network->options());
  const Tensor whole = network->forward(fields, one)[0], at = network->forward_at(fields, one, 0);
  EXPECT_EQ(numbers(whole), numbers(at));
  EXPECT_EQ(numbers(at[0]), numbers(at[1]));
  for (const Tensor& derivative : torch::autograd::grad({at.sum()}, {network->parameters().back().value}))
    EXPECT_GT(derivative.abs().max().item<double>(), 0);
}

TEST(Gino, TakesNeighboursFromElsewhere) {
  const auto network = small_network(small_gino());
  const Domain domain = small_mesh();
  const auto exact = network->mesh(domain);
  const Tensor fields = operators::to_tensor(random_fields(domain, 1, 2, 4), 0, 1, network->options());
  EXPECT_EQ(numbers(network->forward(fields, domain)),
            numbers(network->forward_on(fields, network->mesh(domain, exact->in, exact->out))));
  NeighbourLists fewer = exact->out;
  ASSERT_GT(fewer.splits.back(), 1);
  fewer.indices.pop_back();
  --fewer.splits.back();
  EXPECT_NE(numbers(network->forward(fields, domain)),
            numbers(network->forward_on(fields, network->mesh(domain, exact->in, fewer))));
}

TEST(Gino, PlaysTheGameOfItsMaskedInputsByItsSparseSums) {
  const auto op = operators::untrained_operator(small_gino(), 1, networks::Precision::float64);
  const FieldBatch input = random_fields(small_mesh(), 1, 2, 5), baseline = random_fields(small_mesh(), 1, 2, 6);
  EXPECT_TRUE(has(op->coalition_path(), "sparse"));
  for (const int players : {12, 4}) {
    std::vector<std::int64_t> labels;
    for (int point = 0; point < 12; ++point) labels.push_back(point % players);
    const Partition partition = Partition::from_labels(input.domain, labels);
    for (const std::int64_t point : {0, 7}) {
      const Query query{.point = point, .channel = 1};
      const Coalitions all = Coalitions::enumerate(players, 0, 16);
      const std::vector<double> values = games::cell_mask_game(*op, {input, baseline, partition, query})->values(all);
      FieldBatch masked = FieldBatch::zeros(input.domain, 16, 2);
      for (std::int64_t row = 0; row < 16; ++row)
        for (std::size_t i = 0; i < masked.field_size(); ++i)
          masked.field(row)[i] = all.contains(static_cast<std::size_t>(row), partition.player_of[i % 12])
                                     ? input.values[i]
                                     : baseline.values[i];
      EXPECT_EQ("", mismatch(op->values_at(masked, query), values, rounding(1e4, 1)));
      EXPECT_GT(std::abs(values[0] - values[15]), 1e-6);
    }
  }
}

TEST(Gino, IsAskedForEachOfSeveralGamesByItsSparseSums) {
  const auto op = operators::untrained_operator(small_gino(), 1, networks::Precision::float64);
  const FieldBatch baseline = random_fields(small_mesh(), 1, 2, 6);
  std::vector<Scenario> scenarios;
  Coalitions both(12);
  std::vector<double> expected;
  for (const std::uint64_t item : {5, 7}) {
    scenarios.push_back({random_fields(small_mesh(), 1, 2, item), baseline,
                         Partition::one_player_per_point(baseline.domain), Query{.point = 3}});
    const Coalitions own = Coalitions::enumerate(12, item, 9);
    for (std::size_t row = 0; row < own.size(); ++row) both.append(own.row(row));
    const std::vector<double> values = games::cell_mask_game(*op, scenarios.back())->values(own);
    expected.insert(expected.end(), values.begin(), values.end());
  }
  EXPECT_EQ(games::engine_together(*op, scenarios), nullptr);
  EXPECT_EQ(games::values_together(*op, scenarios, both), expected);
}

TEST(Gino, HasAConfigThatIsReadBackAndNoParametersOfAnother) {
  const operators::GinoConfig config = small_gino();
  EXPECT_EQ(config, operators::GinoConfig::parse(config));

  const auto kind = operators::architecture("gino");
  EXPECT_THROW(kind->parameter_name("gno_in.channel_mlp.fcs.0.weight", config), DataError);
  EXPECT_THROW(kind->parameter_name("lifting.fcs.2.weight", config), DataError);
  EXPECT_EQ("lifting.fcs.1.weight", kind->parameter_name("lifting.fcs.1.weight", config));
}

TEST(Gino, RefusesPointsInOnePlaceAndPointsOutsideOfItsBox) {
  const auto network = small_network(small_gino());
  EXPECT_THROW(network->mesh(mesh_of({0, 1, 0.5, 1, 0, 1})), InvalidArgument);
  EXPECT_THROW(network->mesh(mesh_of({0, 1, 1.01, 1})), InvalidArgument);
  EXPECT_THROW(network->mesh(mesh_of({0, 1, 1, -0.01})), InvalidArgument);
  EXPECT_NO_THROW(network->mesh(mesh_of({-1, 0, 1, 2})));
}

}  // namespace
}  // namespace opshap
