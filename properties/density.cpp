// The network of an explainer: it knows where the query is, its answer hardly depends on the grid where the domain is
// periodic and nothing is padded, and the query's own cell keeps its value on any grid.

#include "operators/density.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <numbers>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "explainers/operator_shap.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "operators/weights.hpp"
#include "support/tolerance.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;
using operators::DensityConfig;

DensityConfig config(const std::string& coordinates, bool atom, double padding,
                     DensityConfig::Query query = DensityConfig::Query::centre) {
  DensityConfig made{.network = {}, .coordinates = coordinates, .atom = atom, .query = query};
  made.network = operators::FnoConfig{.n_modes = {8},
                                      .hidden_channels = 16,
                                      .n_layers = 3,
                                      .in_channels = 1 + made.place_channels(1),
                                      .out_channels = atom ? 2 : 1,
                                      .domain_padding = padding,
                                      .positional_embedding = coordinates == "grid" ? "grid" : "none"};
  return made;
}

std::unique_ptr<Operator> network(const DensityConfig& config) {
  return operators::untrained_operator(config, 7, operators::Precision::float64);
}

FieldBatch wave(const Domain& domain) {
  FieldBatch field = FieldBatch::zeros(domain, 1, 1);
  for (std::int64_t point = 0; point < domain.points(); ++point) {
    const double angle = 2 * std::numbers::pi * domain.position(point)[0];
    field.values[static_cast<std::size_t>(point)] = 0.3 + std::cos(angle) - 0.5 * std::sin(3 * angle);
  }
  return field;
}

/// How far densities of one field at 128 and at 1024 points are apart at the common points, relative to their size.
double drift(const Operator& op) {
  const FieldBatch coarse = op.apply(wave(Domain::unit({128}))), fine = op.apply(wave(Domain::unit({1024})));
  double difference = 0, size = 0;
  for (std::size_t point = 0; point < 128; ++point) {
    difference += std::pow(coarse.values[point] - fine.values[8 * point], 2);
    size += std::pow(fine.values[8 * point], 2);
  }
  return std::sqrt(difference / size);
}

TEST(Density, DoesNotDriftWithTheGridOnAPeriodicDomainWithoutPadding) {
  // Sums over a period of smooth functions; what is left are waves beyond the grid that the activations make.
  EXPECT_LT(drift(*network(config("query_angle", false, 0))), 1e-6);
  // The same network with the paper's coordinate or padding has jumps, and an error of O(1/n).
  EXPECT_GT(drift(*network(config("grid", false, 0))), 1e-4);
  EXPECT_GT(drift(*network(config("query_angle", false, 0.5))), 1e-4);
}

TEST(Density, IsToldOfCoarseGridsAlone) {
  DensityConfig plain = config("query_angle", false, 0), told = plain;
  told.trained_at = {16, 32};
  told.fine_from = 64;
  told.network = operators::FnoConfig{.n_modes = {8},
                                      .hidden_channels = 16,
                                      .n_layers = 3,
                                      .in_channels = 1 + told.place_channels(1),
                                      .out_channels = 1,
                                      .domain_padding = 0,
                                      .positional_embedding = "none"};
  EXPECT_EQ(plain.place_channels(1) + 1, told.place_channels(1));
  const auto op = network(told);
  const auto drift_from = [&](int points) {
    const FieldBatch coarse = op->apply(wave(Domain::unit({points}))), fine = op->apply(wave(Domain::unit({512})));
    double difference = 0, size = 0;
    for (int point = 0; point < points; ++point) {
      const auto i = static_cast<std::size_t>(point);
      difference = std::hypot(difference, coarse.values[i] - fine.values[i * 512 / static_cast<std::size_t>(points)]);
      size = std::hypot(size, coarse.values[i]);
    }
    return difference / size;
  };
  EXPECT_LT(drift_from(64), 1e-3) << "waves beyond the modes of a nonlinear network";
  EXPECT_GT(drift_from(32), 10 * drift_from(64));
  EXPECT_EQ(told, DensityConfig::parse(told));
  told.trained_at = {64};
  EXPECT_THROW(DensityConfig::parse(told), DataError) << "no grid is coarse";
}

TEST(Density, GivesTheQuerysOwnCellAValueThatStaysOnFinerGrids) {
  const auto with = network(config("query_angle", true, 0)), without = network(config("query_angle", false, 0));
  std::vector<double> own, beside;
  for (const int points : {64, 512}) {
    const FieldBatch density = with->apply(wave(Domain::unit({points})));
    own.push_back(density.values[static_cast<std::size_t>(points) / 2] / points);
    beside.push_back(density.values[static_cast<std::size_t>(points) / 2 + 1] / points);
  }
  EXPECT_NEAR(own[1], own[0], 0.2 * std::abs(own[0]));                // the atom, and a cell's share that goes away
  EXPECT_NEAR(beside[1], beside[0] / 8, 0.02 * std::abs(beside[0]));  // a share alone
  EXPECT_EQ(1, with->output_channels());
  EXPECT_EQ(1, without->output_channels());
}

TEST(Density, ExplainsTheQueryThatComesWithTheField) {
  const auto any = network(config("query_angle", true, 0, DensityConfig::Query::any));
  EXPECT_EQ(2, any->input_channels());
  const FieldBatch field = wave(Domain::unit({32}));
  FieldBatch both = FieldBatch::zeros(field.domain, 2, 2);
  for (const std::int64_t index : {0, 1}) {
    const FieldBatch one = explainers::with_query(field, {5 + 10 * index});
    EXPECT_EQ(one.values[32], field.domain.position(5 + 10 * index)[0]);
    std::ranges::copy(one.values, both.field(index).begin());
  }
  const FieldBatch together = any->apply(both);
  for (const std::int64_t index : {0, 1}) {
    const auto found = together.field(index);
    EXPECT_EQ("", mismatch(any->apply(explainers::with_query(field, {5 + 10 * index})).values,
                           {found.begin(), found.end()}, rounding(1e4, 1)));
  }
  EXPECT_NE(together.field(0)[5], together.field(1)[5]);
}

// A fixed query is a point of the domain, whatever the grid; any query tells it by a channel. Both see the same places.
TEST(Density, SeesTheSamePlacesWhicheverWayItKnowsTheQuery) {
  const FieldBatch field = wave(Domain::unit({32}));
  DensityConfig fixed = config("query_offset", true, 0, DensityConfig::Query::point);
  fixed.position = {0.5};
  EXPECT_EQ("", mismatch(network(config("query_offset", true, 0))->apply(field).values,
                         network(fixed)->apply(field).values, rounding(1, 1)));
  fixed.position = {0.25};
  EXPECT_NE(network(config("query_offset", true, 0))->apply(field).values, network(fixed)->apply(field).values);
}

TEST(Density, TakesItsConfigThroughAFile) {
  const fs::path folder = fs::temp_directory_path() / ("opshap_density_" + std::to_string(getpid()));
  for (const auto query : {DensityConfig::Query::centre, DensityConfig::Query::point, DensityConfig::Query::any}) {
    DensityConfig written = config("query_angle", true, 0, query);
    if (query == DensityConfig::Query::point) written.position = {0.75};
    const auto network = operators::make_network(written, torch::kFloat32);
    operators::initialise(*network, 1);
    operators::save_network(*network, folder / "model.safetensors");
    const auto read = operators::load_network(folder / "model.safetensors", torch::kFloat32);
    EXPECT_EQ(written, DensityConfig::parse(read->config()));
    EXPECT_EQ(query == DensityConfig::Query::any, operators::takes_any_query(read->config()));
    EXPECT_EQ(query == DensityConfig::Query::any,
              explainers::load_explainer(folder / "model.safetensors", WeightedMeanOperator(0))->any_query());
  }
  fs::remove_all(folder);
}

std::string refusal(const std::string& json) {
  try {
    operators::make_network({json}, torch::kFloat32);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(Density, RefusesWhatCannotWork) {
  EXPECT_NE(std::string::npos, refusal(R"({"model": "density", "query": "corner"})").find("query=\"corner\""));
  EXPECT_NE(std::string::npos, refusal(R"({"model": "density", "query": [0, 0, 0]})").find("query="));
  EXPECT_NE(std::string::npos, refusal(R"({"model": "density", "atom": 1})").find("atom=1 (needs true or false)"));
  EXPECT_NE(std::string::npos, refusal(R"({"model": "density", "coordinates": "polar"})").find("coordinates=polar"));
  EXPECT_NE(std::string::npos, refusal(R"({"model": "density", "network": 3})").find("JSON object"));
  EXPECT_NE(std::string::npos, refusal(R"({"model": "density", "atoms": true})").find("Did you mean atom"));
  const auto angle = network(config("query_angle", true, 0));
  EXPECT_THROW(angle->apply(wave(Domain::grid({Axis::cells(16)}))), InvalidArgument);
  EXPECT_NO_THROW(network(config("query_offset", true, 0.25))->apply(wave(Domain::grid({Axis::cells(16)}))));
}

}  // namespace
}  // namespace opshap
