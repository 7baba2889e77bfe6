// Operators with normalisers: in physical units they are the network between two maps of each point, whatever path
// computes, and their files say all of it or are refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/rng.hpp"
#include "data/safetensors.hpp"
#include "games/cell_mask_game.hpp"
#include "games/games_together.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "operators/normalisation.hpp"
#include "operators/weights.hpp"
#include "support/networks.hpp"
#include "support/operator_inputs.hpp"
#include "support/refusal.hpp"
#include "support/test_seed.hpp"
#include "support/tolerance.hpp"
#include "support/weight_files.hpp"

namespace opshap {
namespace {

using nlohmann::ordered_json;
using operators::Normalisation;
using operators::Normaliser;

constexpr int channels_in = 3, channels_out = 3;

/// Numbers of very different sizes: fields in physical units often are. All are float32.
Normaliser random_normaliser(std::vector<std::int64_t> shape, Rng& rng) {
  Normaliser made{.shape = std::move(shape), .mean = {}, .std = {}, .eps = 1e-3};
  std::int64_t count = 1;
  for (const std::int64_t size : made.shape) count *= size;
  for (std::int64_t i = 0; i < count; ++i) {
    made.mean.push_back(static_cast<float>(300 * rng.normal()));
    made.std.push_back(static_cast<float>(rng.uniform(0.5, 40)));
  }
  return made;
}

/// The shapes that neuraloperator's buffers have on a grid: for channels, for points, for all, and some between.
std::vector<std::vector<std::int64_t>> shapes_on(const std::vector<int>& grid, int channels) {
  std::vector<std::int64_t> ones(grid.size(), 1), points(grid.begin(), grid.end());
  const auto with = [](std::vector<std::int64_t> first, const std::vector<std::int64_t>& rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
  };
  std::vector<std::int64_t> last = ones;
  last.back() = grid.back();
  return {with({1, channels}, ones), with({1, channels}, points), {}, {1},
          with({1, 1}, points),      with({1, channels}, last)};
}

std::unique_ptr<operators::Network> network_on(const std::vector<int>& grid, Normalisation normalisation,
                                               torch::Dtype dtype = torch::kFloat32) {
  const operators::FnoConfig config{.n_modes = std::vector<int>(grid.size(), 4),
                                    .hidden_channels = 6,
                                    .n_layers = 2,
                                    .in_channels = channels_in,
                                    .out_channels = channels_out,
                                    .domain_padding = 0.25};
  auto network = operators::make_network(config, dtype);
  operators::initialise(*network, 5);
  network->set_normalisation(std::move(normalisation));
  return network;
}

/// A normalised field of size one in physical units.
FieldBatch physical_field(const std::vector<int>& grid, const Normalisation& normalisation, std::int64_t batch,
                          Rng& rng) {
  FieldBatch fields = FieldBatch::zeros(Domain::unit(grid), batch, channels_in);
  for (double& value : fields.values) value = rng.normal();
  return normalisation.input ? normalisation.input->physical(std::move(fields)) : fields;
}

/// The number of a normaliser for a channel and point, from the rule of broadcasting: axes of size one are left out.
double broadcast(const Normaliser& of, const std::vector<double>& numbers, const Domain& domain, int channel,
                 std::int64_t point) {
  if (of.shape.size() < 3) return numbers.front();
  std::vector<std::int64_t> index = {0, channel};
  if (domain.dimension() == 2) index.push_back(point / domain.shape()[1]);
  index.push_back(domain.dimension() == 2 ? point % domain.shape()[1] : point);
  std::int64_t flat = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis)
    flat = flat * of.shape[axis] + (of.shape[axis] == 1 ? 0 : index[axis]);
  return numbers[static_cast<std::size_t>(flat)];
}

/// (x − mean)/(std + eps), or back.
FieldBatch by_hand(FieldBatch fields, const std::optional<Normaliser>& by, bool back) {
  if (!by) return fields;
  const std::int64_t points = fields.domain.points();
  for (std::size_t i = 0; i < fields.values.size(); ++i) {
    const std::int64_t place = static_cast<std::int64_t>(i) % (fields.channels * points);
    const int channel = static_cast<int>(place / points);
    const double mean = broadcast(*by, by->mean, fields.domain, channel, place % points),
                 scale = broadcast(*by, by->std, fields.domain, channel, place % points) + by->eps;
    fields.values[i] = back ? fields.values[i] * scale + mean : (fields.values[i] - mean) / scale;
  }
  return fields;
}

/// All pairs of normalisers, the absent ones among them.
template <typename Work>
void for_all_normalisations(const std::vector<int>& grid, const Work& work) {
  Rng rng(test_seed(), "normalised operators");
  const auto ins = shapes_on(grid, channels_in), outs = shapes_on(grid, channels_out);
  for (std::size_t i = 0; i <= ins.size(); ++i)
    for (std::size_t o = 0; o <= outs.size(); ++o) {
      if (i == ins.size() && o == outs.size()) continue;
      Normalisation normalisation;
      if (i < ins.size()) normalisation.input = random_normaliser(ins[i], rng);
      if (o < outs.size()) normalisation.output = random_normaliser(outs[o], rng);
      normalisation.of_change = normalisation.output && rng.below(2) == 0;
      SCOPED_TRACE(normalisation.describe() + ", " + replay());
      work(normalisation, rng);
    }
}

const std::vector<std::vector<int>> uneven_grids = {{9}, {5, 6}};

TEST(NormalisedOperator, IsTheNetworkBetweenTwoMapsOfEachPoint) {
  for (const std::vector<int>& grid : uneven_grids) {
    const auto inner = operators::as_operator(network_on(grid, {}, torch::kFloat64));
    for_all_normalisations(grid, [&](const Normalisation& normalisation, Rng& rng) {
      const auto op = operators::as_operator(network_on(grid, normalisation, torch::kFloat64));
      const FieldBatch fields = physical_field(grid, normalisation, 3, rng);
      FieldBatch expected =
          by_hand(inner->apply(by_hand(fields, normalisation.input, false)), normalisation.output, true);
      if (normalisation.of_change)
        std::ranges::transform(expected.values, fields.values, expected.values.begin(), std::plus<>());
      // A dozen layers of 64-bit sums, in numbers of up to a thousand.
      EXPECT_EQ("", mismatch(expected.values, op->apply(fields).values, rounding(1e4, 1e3)));
      const Query query{.point = 4, .channel = 2};
      const Readout several({{query, 0.75}, {{.point = 1, .channel = 0}, -2.0}});
      const std::vector<double> values = op->values_at(fields, query), sums = op->values_at(fields, several);
      for (std::size_t index = 0; index < 3; ++index) {
        const auto field = expected.field(static_cast<std::int64_t>(index));
        const double here = field[static_cast<std::size_t>(2 * fields.domain.points() + 4)];
        EXPECT_EQ("", mismatch(here, values[index], rounding(1e4, 1e3)));
        EXPECT_EQ("", mismatch(0.75 * here - 2 * field[1], sums[index], rounding(1e4, 3e3)));
      }
    });
  }
}

// By physical inputs, so a step in a channel with a large deviation moves little.
TEST(NormalisedOperator, HasTheGradientOfCentralDifferences) {
  for (const std::vector<int>& grid : uneven_grids)
    for_all_normalisations(grid, [&](const Normalisation& normalisation, Rng& rng) {
      const auto op = operators::as_operator(network_on(grid, normalisation, torch::kFloat64));
      const FieldBatch field = physical_field(grid, normalisation, 1, rng);
      const Query query{.point = 3, .channel = 1};
      const auto found = op->gradient_at(field, query);
      EXPECT_EQ("", mismatch(op->values_at(field, query), found.values, rounding(1e4, 1e3)));
      for (std::size_t i = 0; i < field.values.size(); i += 5) {
        FieldBatch above = field, below = field;
        constexpr double step = 1e-3;
        above.values[i] += step;
        below.values[i] -= step;
        const double difference = (op->values_at(above, query)[0] - op->values_at(below, query)[0]) / (2 * step);
        // Differences err by step² and by the rounding of values of up to a thousand over the step, 1e-10.
        EXPECT_NEAR(difference, found.gradient.values[i], 1e-5 * (1 + std::abs(difference))) << i;
      }
    });
}

// The engine sees normalised fields; a mask commutes with the map. The plain path masks physical fields.
TEST(NormalisedOperator, HasTheSameGamesByItsEngineAndByMaskedFields) {
  for (const std::vector<int>& grid : uneven_grids)
    for_all_normalisations(grid, [&](const Normalisation& normalisation, Rng& rng) {
      const auto engine = operators::as_operator(network_on(grid, normalisation)),
                 plain = operators::as_operator(network_on(grid, normalisation), false),
                 exact = operators::as_operator(network_on(grid, normalisation, torch::kFloat64));
      ASSERT_TRUE(engine->coalition_path().starts_with("engine")) << engine->coalition_path();
      const FieldBatch input = physical_field(grid, normalisation, 1, rng),
                       baseline = physical_field(grid, normalisation, 1, rng);
      Readout readout = Query{.point = 2, .channel = 1};
      if (rng.below(2) == 0)
        readout = Readout({{{.point = 2, .channel = 1}, 0.75}, {{.point = 5, .channel = 0}, -2.0}});
      const auto game = [&](const std::unique_ptr<Operator>& op) {
        return games::cell_mask_game(*op, {input, baseline, Partition::one_player_per_point(input.domain), readout});
      };
      const Coalitions coalitions = random_coalitions(static_cast<int>(input.domain.points()), 12, rng);
      const std::vector<double> nodes = {0, 0.3, 1};
      const auto compare = [&](const auto& numbers_of, const char* what) {
        const std::vector<double> expected = numbers_of(*game(exact)), found = numbers_of(*game(engine)),
                                  masked = numbers_of(*game(plain));
        // The numbers move with the output's deviation, times what single precision keeps of the network's own.
        double scale = 0;
        for (const auto& [query, weight] : readout.terms())
          scale +=
              std::abs(weight) *
              (normalisation.output ? normalisation.output->scale_at(input.domain, query.channel, query.point) : 1);
        EXPECT_EQ("", mismatch(expected, found, rounding(100 * 0x1p29, scale))) << what;
        EXPECT_EQ("", mismatch(expected, masked, rounding(100 * 0x1p29, scale))) << what;
      };
      compare([&](const Game& of) { return of.values(coalitions); }, "values");
      std::vector<double> last(7);
      engine->coalition_engine(input, baseline, Partition::one_player_per_point(input.domain), readout)
          ->values(coalitions, 5, last);
      const std::vector<double> all = game(engine)->values(coalitions);
      EXPECT_EQ(std::vector<double>(all.begin() + 5, all.end()), last) << "whatever else is in the batch";
      compare([&](const Game& of) { return of.extension()->gradients(on_diagonal(nodes, of.players())); }, "diagonal");
      compare([&](const Game& of) { return of.mean_field()->gradients(on_diagonal(nodes, of.players())); },
              "mean field");
      compare([&](const Game& of) { return of.slopes()->gradients(corners(coalitions)); }, "coalitions");
    });
}

// What a change adds of the input is another one for each.
TEST(NormalisedOperator, HasTheGamesOfSeveralInputsThatEachHasAlone) {
  for (const std::vector<int>& grid : uneven_grids)
    for_all_normalisations(grid, [&](const Normalisation& normalisation, Rng& rng) {
      const auto op = operators::as_operator(network_on(grid, normalisation, torch::kFloat64));
      std::vector<Scenario> scenarios;
      for (int i = 0; i < 3; ++i) {
        const FieldBatch input = physical_field(grid, normalisation, 1, rng);
        scenarios.push_back({.input = input,
                             .baseline = physical_field(grid, normalisation, 1, rng),
                             .partition = Partition::one_player_per_point(input.domain),
                             .readout = Query{.point = 2, .channel = 1}});
      }
      const Coalitions coalitions = random_coalitions(scenarios[0].partition.players, 5, rng);
      const auto asked = [&](const Game& of) {
        const std::vector<double> levels = on_diagonal(std::vector{0.0, 0.3, 1.0}, of.players());
        return std::vector{of.values(coalitions), of.extension()->gradients(levels),
                           of.mean_field()->gradients(levels)};
      };
      std::vector<std::vector<std::vector<double>>> together(scenarios.size());
      games::play_together(*op, scenarios, [&](std::size_t b, const Game& game) { together[b] = asked(game); });
      for (std::size_t b = 0; b < scenarios.size(); ++b) {
        const auto alone = asked(*games::cell_mask_game(*op, scenarios[b]));
        for (std::size_t kind = 0; kind < alone.size(); ++kind)
          EXPECT_EQ("", mismatch(alone[kind], together[b][kind], rounding(1e4, 1e3))) << b << ' ' << kind;
      }
    });
}

TEST(NormalisedOperator, RefusesChangesThatTheInputHasNoChannelsFor) {
  Rng rng(1, "normalised operators");
  auto network = operators::make_network(
      operators::FnoConfig{.n_modes = {4}, .hidden_channels = 4, .n_layers = 1, .in_channels = 1, .out_channels = 2},
      torch::kFloat32);
  network->set_normalisation({.input = {}, .output = random_normaliser({1, 2, 1}, rng), .of_change = true});
  EXPECT_TRUE(
      has(refusal<DataError>([&] { operators::as_operator(std::move(network)); }), "1 input channels for 2 outputs"));
}

TEST(NormalisedOperator, RefusesAnotherGridThanItsPointsAreOf) {
  Rng rng(1, "normalised operators");
  const auto refused = [](const Operator& op, const std::vector<int>& grid) {
    return refusal<InvalidArgument>([&] { op.apply(FieldBatch::zeros(Domain::unit(grid), 1, channels_in)); });
  };
  const auto of_points =
                 operators::as_operator(network_on({9}, {.input = random_normaliser({1, 3, 9}, rng), .output = {}})),
             of_outputs =
                 operators::as_operator(network_on({9}, {.input = {}, .output = random_normaliser({1, 3, 9}, rng)})),
             of_channels =
                 operators::as_operator(network_on({9}, {.input = random_normaliser({1, 3, 1}, rng), .output = {}}));
  EXPECT_TRUE(has(refused(*of_points, {18}), "input=18 points (the model's normaliser is per point on 9)"));
  EXPECT_TRUE(has(refused(*of_outputs, {18}), "output=18 points"));
  EXPECT_EQ("", refused(*of_points, {9}));
  EXPECT_EQ("", refused(*of_channels, {18}));
  EXPECT_TRUE(has(of_points->describe(), "normalised: input per point on 9"));
}

class NormaliserFiles : public WeightsFolder {
 protected:
  void SetUp() override {
    WeightsFolder::SetUp();
    Rng rng(1, "normaliser files");
    const Normalisation normalisation{
        .input = random_normaliser({1, 3, 1}, rng), .output = random_normaliser({1, 3, 9}, rng), .of_change = true};
    operators::save_network(*network_on({9}, normalisation), file_);
  }
};

TEST_F(NormaliserFiles, KeepThemApartFromTheWeights) {
  const data::Safetensors content = data::read_safetensors(file_);
  EXPECT_EQ(ordered_json::parse(R"({"input": {"eps": 1e-3}, "output": {"eps": 1e-3, "of": "change"}})"),
            ordered_json::parse(content.metadata.at("config"))["normalization"]);
  EXPECT_EQ((std::vector<std::int64_t>{1, 3, 1}), content.tensors.at("in_normalizer.mean").shape);
  EXPECT_EQ("F32", content.tensors.at("out_normalizer.std").dtype);
  expect_same_parameters(*network_on({9}, {}), *operators::load_network(file_, torch::kFloat32));
  EXPECT_TRUE(operators::load_network(file_, torch::kFloat32)->normalisation().of_change);
  operators::save_network(*operators::load_network(file_, torch::kFloat32), changed_);
  EXPECT_EQ(content.tensors.at("out_normalizer.mean").bytes,
            data::read_safetensors(changed_).tensors.at("out_normalizer.mean").bytes);
}

TEST_F(NormaliserFiles, SayAllOrAreRefused) {
  using Content = data::Safetensors;
  using Change = std::function<void(Content&, ordered_json&)>;
  const auto change = [&](const Change& by) {
    data::Safetensors content = data::read_safetensors(file_);
    ordered_json config = ordered_json::parse(content.metadata.at("config"));
    by(content, config);
    content.metadata["config"] = config.dump();
    data::write_safetensors(changed_, content);
    operators::load_operator(changed_);
  };
  const auto with_first = [](const char* name, float number) {
    return [=](Content& content, ordered_json&) {
      std::memcpy(content.tensors.at(name).bytes.data(), &number, sizeof number);
    };
  };
  EXPECT_NO_THROW(change([](Content&, ordered_json&) {}));
  EXPECT_NO_THROW(change(with_first("in_normalizer.std", 0))) << "a channel that never changes has eps alone";
  expect_refusals<DataError>(
      Refusals<Change>{
          {[](Content& content, ordered_json&) { content.tensors.erase("in_normalizer.std"); },
           "in_normalizer.std (is missing"},
          {[](Content&, ordered_json& config) { config["normalization"].erase("input"); },
           "in_normalizer.mean (the config of"},
          {[](Content&, ordered_json& config) { config.erase("normalization"); }, "has no normalization."},
          {[](Content&, ordered_json& config) { config["normalization"]["output"] = {}; }, "normalization.output="},
          {[](Content&, ordered_json& config) { config["normalization"]["output"]["eps"] = -1; }, "e not negative"},
          {[](Content&, ordered_json& config) { config["normalization"]["between"] = {}; }, "normalization={"},
          {[](Content&, ordered_json& config) { config["normalization"]["output"]["of"] = "field"; },
           "output.of=\"field\""},
          {[](Content&, ordered_json& config) { config["normalization"]["input"]["of"] = "change"; },
           "normalization.input="},
          {[](Content&, ordered_json& config) { config["normalization"] = 3; }, "normalization=3"},
          {[](Content& content, ordered_json&) {
             data::StoredTensor& tensor = content.tensors.at("out_normalizer.std");
             tensor.shape = {1, 3, 1};
             tensor.bytes.resize(12);
           },
           "out_normalizer.std=[1,3,1]"},
          {[](Content& content, ordered_json&) {
             for (const char* name : {"in_normalizer.mean", "in_normalizer.std"})
               content.tensors.at(name).shape = {3, 1, 1};
           },
           "in_normalizer.mean=[3,1,1]"},
          {with_first("in_normalizer.std", -1), "in_normalizer.std=-1"},
          {with_first("out_normalizer.mean", std::numeric_limits<float>::quiet_NaN()), "out_normalizer.mean ("},
          {[&](Content& content, ordered_json& config) {
             with_first("in_normalizer.std", 0)(content, config);
             config["normalization"]["input"]["eps"] = 0;
           },
           "divides by it plus eps=0"}},
      change);
  const std::string deep =
      R"({"normalization": {}, "more": )" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  EXPECT_NE("", refused_after([&](Content& content) { content.metadata["config"] = deep; }));
}

}  // namespace
}  // namespace opshap
