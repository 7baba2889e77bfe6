// What every architecture promises: the numbers of its reference, shapes, batches, resolutions, gradients, files,
// refusals, and the paths that must agree. A new architecture has the laws of registered ones at once, and a row in
// each table below.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/rng.hpp"
#include "games/cell_mask_game.hpp"
#include "operators/fno.hpp"
#include "operators/gino.hpp"
#include "operators/golden.hpp"
#include "operators/registry.hpp"
#include "operators/weights.hpp"
#include "support/networks.hpp"
#include "support/operator_golden.hpp"
#include "support/refusal.hpp"
#include "support/run_folder.hpp"
#include "support/small_gino.hpp"
#include "support/test_seed.hpp"
#include "support/tolerance.hpp"
#include "training/loop.hpp"

namespace opshap {
namespace {

using networks::NetworkConfig;
using networks::Precision;
using torch::Tensor;

/// The shape of a batch of fields with one channel, by the columns of a row.
std::vector<std::int64_t> shape_of(const CsvRow& row, std::int64_t axes) {
  std::vector<std::int64_t> shape = {row.whole("batch"), 1};
  shape.insert(shape.end(), static_cast<std::size_t>(axes), row.whole("points"));
  return shape;
}

/// The tables of reference_data/ with the output of golden_output(), made by each architecture's reference.
struct GoldenTable {
  std::string name;
  std::size_t rows = 0;
  NetworkConfig (*config)(const CsvRow& row);
  std::vector<std::int64_t> (*shape)(const CsvRow& row);
  double off;  ///< how far a number may be off: the tables have ten digits, the last one rounded
};

const std::vector<GoldenTable> golden_tables = {
    {"fno_golden", 6,
     [](const CsvRow& row) -> NetworkConfig {
       return operators::FnoConfig{.n_modes = std::vector<int>(static_cast<std::size_t>(row.whole("dimension")), 16),
                                   .domain_padding = 0.5,
                                   .domain_padding_mode = row.text("padding_mode")};
     },
     [](const CsvRow& row) { return shape_of(row, row.whole("dimension")); }, 1e-8},
    {"local_no_golden", 4,
     [](const CsvRow& row) -> NetworkConfig {
       return {message(R"({"model": "local_no", "domain_padding": 0.5, "default_in_shape": )",
                       message("[", row.whole("default_points"), ", ", row.whole("default_points"), "]"),
                       R"(, "disco_layers": )", row.text("disco_layers"), R"(, "diff_layers": )",
                       row.text("diff_layers"), "}")};
     },
     [](const CsvRow& row) { return shape_of(row, 2); }, 1e-8},
    {"mwt_golden", 2,
     [](const CsvRow&) -> NetworkConfig { return {R"({"model": "mwt", "c": 16, "k": 4, "alpha": 10, "n_cz": 2})"}; },
     [](const CsvRow& row) { return shape_of(row, 1); }, 1e-8},
    // Single entries of the output differ by roundings of the waves and of the reference's coordinates. The second row
    // is that of the reference's own neighbours: gino.cpp.
    {"gino_golden", 2,
     [](const CsvRow&) -> NetworkConfig {
       return operators::GinoConfig{.in_channels = 2,
                                    .in_transform = "nonlinear",
                                    .out_transform = "nonlinear",
                                    .in_radius = 0.05,
                                    .out_radius = 0.05};
     },
     [](const CsvRow& row) {
       return std::vector<std::int64_t>{1, row.whole("in_channels"), row.whole("points")};
     },
     1e-6}};

TEST(Architectures, GiveTheGoldenValues) {
  for (const GoldenTable& table : golden_tables) {
    const auto rows = operator_golden_rows(table.name);
    EXPECT_EQ(table.rows, rows.size()) << table.name;
    for (const CsvRow& row : rows) {
      if (row.text("id") == "G2r") continue;
      const FieldBatch exact = operators::golden_output(table.config(row), table.shape(row), Precision::float64),
                       single = operators::golden_output(table.config(row), table.shape(row), Precision::float32);
      EXPECT_LT(relative_error(golden_values(row), operators::golden_values(exact)), table.off) << row.text("id");
      EXPECT_LT(l2_distance(exact.values, single.values), float32_layers) << row.text("id");
    }
  }
}

NetworkConfig gino_of(int out_channels, const char* out) {
  return operators::GinoConfig{
      .in_channels = 2, .out_channels = out_channels, .in_transform = "nonlinear", .out_transform = out};
}

TEST(Architectures, HaveTheReferencesParameters) {
  const std::vector<std::pair<NetworkConfig, std::int64_t>> counts = {
      {operators::FnoConfig{.n_modes = {16}}, 198'209},
      {operators::FnoConfig{.n_modes = {16, 16}}, 2'410'177},
      {{R"({"model": "local_no", "default_in_shape": [128, 128]})"}, 2'622'785},
      {{R"({"model": "local_no", "default_in_shape": [32, 32], "diff_layers": false})"}, 2'475'329},
      {{R"({"model": "local_no", "default_in_shape": [32, 32], "in_channels": 2, "out_channels": 2})"}, 2'623'042},
      {{R"({"model": "mwt", "c": 16, "k": 4, "alpha": 10, "n_cz": 2})"}, 254'441},
      {gino_of(1, "nonlinear"), 2'764'467},
      {gino_of(2, "nonlinear"), 2'764'724},
      {gino_of(2, "linear"), 2'731'956}};
  for (const auto& [config, count] : counts)
    EXPECT_EQ(count, parameter_count(*operators::make_network(config, torch::kFloat32))) << config.json;
  std::int64_t reals = 0;
  const auto mwt = operators::make_network(counts[5].first, torch::kFloat32);
  for (const operators::Parameter& parameter : mwt->parameters()) reals += parameter.value.numel();
  EXPECT_EQ(500'201, reals) << "most of an MWT's numbers are complex";
}

// Standard deviations. Uniform on (−k, k) has k/√3. Real and imaginary parts of an FNO's complex weights have 1/√2 of
// √(2/(64 + 64)). An MWT's are uniform on (0, 1/64²), and the weights of its head are normal with variance
// 2/(inputs + outputs).
TEST(Architectures, StartFromTheReferencesDistributions) {
  const NetworkConfig fno = operators::FnoConfig{}, local{R"({"model": "local_no", "default_in_shape": [128, 128]})"},
                      mwt{R"({"model": "mwt", "c": 16, "k": 4, "alpha": 10, "n_cz": 2})"};
  const std::vector<std::tuple<NetworkConfig, std::string, double>> rows = {
      {fno, "fno_blocks.convs.1.weight.tensor", std::sqrt(2.0 / 128) / std::sqrt(2.0)},
      {fno, "fno_blocks.convs.2.bias", std::sqrt(2.0 / 128)},
      {fno, "fno_blocks.channel_mlp.0.fcs.1.weight", 1 / std::sqrt(32.0) / std::sqrt(3.0)},
      {fno, "lifting.fcs.0.weight", 1 / std::sqrt(2.0) / std::sqrt(3.0)},
      {local, "local_no_blocks.differential.1.conv.weight", 1 / 24.0 / std::sqrt(3.0)},
      {local, "local_no_blocks.local_convs.2.weight", 1 / 8.0},
      {local, "local_no_blocks.local_no_skips.0.conv.weight", 1 / 8.0 / std::sqrt(3.0)},
      {mwt, "MWT_CZ.1.B.weights1", 1.0 / 4096 / std::sqrt(12.0)},
      {mwt, "Lc0.weight", std::sqrt(2.0 / (64 + 128))},
      {mwt, "Lc1.weight", std::sqrt(2.0 / (128 + 1))},
      {mwt, "Lk.weight", 1 / std::sqrt(2.0) / std::sqrt(3.0)}};
  for (const auto& [config, name, deviation] : rows) {
    const auto network = operators::make_network(config, torch::kFloat64);
    operators::initialise(*network, 5);
    const auto found = std::ranges::find(network->parameters(), name, &operators::Parameter::name);
    ASSERT_NE(network->parameters().end(), found) << name;
    const double standard_error =
        deviation / std::sqrt(2 * static_cast<double>(found->value.numel()));  // of the normal law, the larger one
    EXPECT_EQ("", mismatch(deviation, found->value.std().item<double>(), sampling(standard_error))) << name;
    if (name.ends_with("weights1")) {
      EXPECT_GT(found->value.min().item<double>(), 0);
      EXPECT_LT(found->value.max().item<double>(), 1.0 / 4096);
    }
  }
}

const ScenarioRule four_blocks{.players = ScenarioRule::Players::blocks, .blocks = 4};

constexpr int in_channels = 2, out_channels = 3;  // of the registered ones; small ones have two of either

/// A registered operator in one of its dimensions, with the paper's settings.
struct Case {
  std::string name;
  int dimension = 1;

  NetworkConfig config() const {
    NetworkConfig config =
        operators::fitted(operators::architecture(name)->of_the_paper(),
                          {.dimension = dimension, .in_channels = in_channels, .out_channels = out_channels});
    // The laws are the same on a sixteenth of its latent points, and take a quarter of the time.
    auto json = nlohmann::ordered_json::parse(config.json);
    if (json.contains("latent_shape")) json["latent_shape"] = {16, 16};
    config.json = json.dump();
    return config;
  }
  std::vector<int> shape(int points) const { return std::vector<int>(static_cast<std::size_t>(dimension), points); }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string& name : operators::names())
    for (const int dimension : operators::architecture(name)->dimensions())
      all.push_back({.name = name, .dimension = dimension});
  return all;
}

/// A network and domains for its fields. All laws below hold for all of them.
struct Subject {
  std::string name;
  NetworkConfig config;
  std::vector<Domain> domains;                  ///< where values are compared
  std::vector<Domain> slope_domains = domains;  ///< where derivatives are
  double smallest_slope = 1e-4;                 ///< of the largest derivative: that there is one
  bool small = true;  ///< whether derivatives are cheap enough for all domains and several points
};

void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

std::vector<Domain> grids(const std::vector<std::vector<int>>& shapes) {
  std::vector<Domain> domains;
  for (const std::vector<int>& shape : shapes) domains.push_back(Domain::unit(shape));
  return domains;
}

operators::FnoConfig small_fno(int dimension, const char* padding) {
  return {.n_modes = std::vector<int>(static_cast<std::size_t>(dimension), 6),
          .hidden_channels = 8,
          .n_layers = 3,
          .in_channels = 2,
          .out_channels = 2,
          .domain_padding = std::string(padding) == "symmetric" ? 0.5 : 0.25,
          .domain_padding_mode = padding};
}

/// Layers with both branches, one of them, or none.
NetworkConfig small_local_no(const std::string& padding) {
  return {R"({"model": "local_no", "n_modes": [6, 4], "hidden_channels": 6, "n_layers": 4, "in_channels": 2,
             "out_channels": 2, "domain_padding": 0.25, "default_in_shape": [8, 8],
             "disco_layers": [true, false, false, true], "diff_layers": [true, true, false, false],
             "domain_padding_mode": ")" +
          padding + "\"}"};
}

/// Small networks with every branch of their architecture, and the paper's of all that are registered.
std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const Case& each : cases())
    all.push_back({.name = "paper_" + each.name + std::to_string(each.dimension) + "d",
                   .config = each.config(),
                   .domains = grids({each.shape(8)}),
                   .slope_domains = grids({each.shape(4)}),
                   .smallest_slope = each.name == "gino" ? 1e-5 : 1e-4,
                   .small = false});
  for (const auto& [end, padding] : {std::pair("", "symmetric"), std::pair("_padded_at_the_end", "one-sided")}) {
    all.push_back({std::string("fno_line") + end, small_fno(1, padding), grids({{1}, {2}, {5}, {8}, {16}, {33}})});
    all.push_back({std::string("fno_plane") + end, small_fno(2, padding), grids({{3, 5}, {4, 4}, {8, 6}}),
                   grids({{3, 5}, {4, 4}})});
    all.push_back({std::string("local_no") + end, small_local_no(padding), grids({{1, 1}, {2, 9}, {5, 4}, {8, 8}}),
                   grids({{1, 1}, {2, 9}, {5, 4}})});
  }
  for (const char* transform : {"nonlinear", "linear"})
    all.push_back({std::string("gino_") + transform, small_gino(transform), {small_mesh()}, {small_mesh()}, 1e-5});
  all.push_back({"mwt",
                 {R"({"model": "mwt", "in_channels": 2, "out_channels": 2, "c": 2, "k": 3, "alpha": 3, "n_cz": 2})"},
                 grids({{2}, {4}})});
  return all;
}

/// Untrained, and made once for all tests: to draw the millions of numbers of the paper's takes a tenth of a second.
const Operator* made_once(const NetworkConfig& config, Precision precision) {
  static std::map<std::pair<std::string, Precision>, std::unique_ptr<Operator>> made;
  std::unique_ptr<Operator>& found = made[{config.json, precision}];
  if (!found) found = operators::untrained_operator(config, 1, precision);
  return found.get();
}

class EveryNetwork : public ::testing::TestWithParam<Subject> {
 protected:
  const Operator* op(Precision precision = Precision::float64) const { return made_once(GetParam().config, precision); }
  static FieldBatch fields(const Domain& domain, std::int64_t batch, std::uint64_t item = 0) {
    return random_fields(domain, batch, in_channels, 16 * test_seed() + item);
  }
  std::vector<std::int64_t> few_points(const Domain& domain) const {
    return GetParam().small ? std::vector{std::int64_t{0}, domain.centre(), domain.points() - 1}
                            : std::vector{domain.centre()};
  }
  /// Where values are compared.
  std::vector<std::int64_t> points(const Domain& domain) const {
    if (!GetParam().small) return {0, domain.centre(), domain.points() - 1};
    std::vector<std::int64_t> all(static_cast<std::size_t>(domain.points()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  ::testing::ScopedTrace trace_{__FILE__, __LINE__, replay()};
};

INSTANTIATE_TEST_SUITE_P(All, EveryNetwork, ::testing::ValuesIn(subjects()),
                         [](const auto& of) { return of.param.name; });

TEST_P(EveryNetwork, HasAtAPointTheValuesOfTheWholeField) {
  const auto found = op();
  for (const Domain& domain : GetParam().domains) {
    const FieldBatch inputs = fields(domain, 3), outputs = found->apply(inputs);
    for (const std::int64_t point : points(domain)) {
      std::vector<double> whole;
      for (std::int64_t b = 0; b < 3; ++b)
        whole.push_back(outputs.field(b)[static_cast<std::size_t>(domain.points() + point)]);
      // Other order of the same sums.
      EXPECT_EQ("", mismatch(whole, found->values_at(inputs, Query{.point = point, .channel = 1}), rounding(1e4, 1)));
    }
  }
}

TEST_P(EveryNetwork, HasTheGradientOfCentralDifferences) {
  constexpr double h = 1e-5;
  const auto found = op();
  for (const Domain& domain : GetParam().slope_domains) {
    const FieldBatch inputs = fields(domain, GetParam().small ? 2 : 1);
    for (const std::int64_t point : few_points(domain)) {
      const Query query{.point = point, .channel = 1};
      const Operator::Gradient gradient = found->gradient_at(inputs, query);
      EXPECT_EQ("", mismatch(found->values_at(inputs, query), gradient.values, rounding(1e4, 1)));
      EXPECT_EQ("", mismatch(central_differences(*found, inputs, query, h), gradient.gradient.values,
                             discretisation(10, h, 2)));
      EXPECT_GT(largest(gradient.gradient.values), GetParam().smallest_slope);
    }
  }
}

TEST_P(EveryNetwork, GivesAFieldWhatItGivesItInABatch) {
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    const auto found = op(precision);
    // In float32 too, sums are in another order.
    const Tolerance tolerance = rounding(precision == Precision::float64 ? 1e4 : 10 * 0x1p29, 1);
    for (const Domain& domain : GetParam().domains) {
      const FieldBatch inputs = fields(domain, GetParam().small ? 32 : 5), outputs = found->apply(inputs);
      for (const std::int64_t index : {std::int64_t{0}, std::int64_t{3}, inputs.batch - 1}) {
        const auto whole = outputs.field(index);
        EXPECT_EQ("", mismatch({whole.begin(), whole.end()}, found->apply(inputs.one(index)).values, tolerance));
      }
    }
  }
}

#if TORCH_VERSION_MAJOR >= 2  // Debian's has half of the operations
// LibTorch's device meta has shapes and no numbers: a step that asked for one on the host would throw.
TEST_P(EveryNetwork, TakesATrainingStepWithoutANumberOnTheHost) {
  const auto options = torch::TensorOptions(torch::kFloat32).device(torch::kMeta);
  const auto network = operators::make_network(GetParam().config, options);
  EXPECT_FALSE(network->fused());
  training::AdamW::Tensors parameters;
  for (operators::Parameter& parameter : network->parameters())
    parameters[parameter.name] = parameter.value.set_requires_grad(true);
  training::AdamW optimiser(parameters, 1e-4, /*together=*/true);
  Tensor length = torch::zeros({}, options.dtype(torch::kFloat64));
  for (const Domain& domain : GetParam().slope_domains) {
    const Tensor inputs = torch::empty({domain.points(), 3, in_channels}, options);
    const training::BatchOfTensors batch{
        .size = 3,
        .domain = domain,
        .tensors = {inputs},
        .part = [&](const std::vector<Tensor>& of, std::int64_t first, std::int64_t count) {
          const Tensor outputs = network->forward(of[0].narrow(1, first, count), domain);
          EXPECT_EQ(outputs.sizes(), (std::vector<std::int64_t>{domain.points(), 3, network->output_channels()}));
          return outputs.square().mean();
        }};
    EXPECT_TRUE(training::batch_loss(*network, batch, nullptr).is_meta());
    training::RecordedLoss recorded({});
    EXPECT_TRUE(training::batch_loss(*network, batch, &recorded).is_meta());
    for (const auto& [name, parameter] : parameters) EXPECT_EQ(parameter.grad().sizes(), parameter.sizes()) << name;
    training::clip_gradients(*network, 2, length);
    optimiser.step(1e-3);
  }
}
#endif

TEST_P(EveryNetwork, HasTheValuesAndDerivativesOfLibTorchByItsKernels) {
  const auto network = operators::make_network(GetParam().config, torch::kFloat64);
  operators::initialise(*network, 2);
  for (operators::Parameter& parameter : network->parameters()) {
    parameter.value.add_(0.01);  // no bias is zero
    parameter.value.set_requires_grad(true);
  }
  for (const Domain& domain : GetParam().slope_domains) {
    const FieldBatch inputs = fields(domain, 3);
    const Tensor tensors = operators::to_tensor(inputs, 0, 3, network->options());
    for (const std::int64_t point : few_points(domain)) {
      const auto whole = [&](const Tensor& of) { return network->forward(of, domain); };
      const auto at = [&](const Tensor& of) { return network->forward_at(of, domain, point); };
      network->set_fused(true);
      ASSERT_TRUE(network->fused());
      const Tensor fused = whole(tensors), fused_at = at(tensors);
      const auto of_whole = derivatives(*network, inputs, whole), of_point = derivatives(*network, inputs, at);
      network->set_fused(false);
      EXPECT_EQ("", mismatch(numbers(whole(tensors)), numbers(fused), rounding(1e4, 1)));
      EXPECT_EQ("", mismatch(numbers(at(tensors)), numbers(fused_at), rounding(1e4, 1)));
      EXPECT_EQ("", mismatch(numbers(fused[point]), numbers(fused_at), rounding(1e4, 1)));
      const auto plain_whole = derivatives(*network, inputs, whole), plain_point = derivatives(*network, inputs, at);
      // Derivatives by a parameter are sums over all edges or points.
      const auto expect_equal = [](const Tensor& plain, const Tensor& by_kernels, const std::string& name) {
        const std::vector<double> expected = numbers(plain);
        EXPECT_EQ("", mismatch(expected, numbers(by_kernels), rounding(1e5, std::max(10.0, largest(expected)))))
            << name;
      };
      for (std::size_t i = 0; i < of_whole.size(); ++i) {
        const std::string name = i == 0 ? "fields" : network->parameters()[i - 1].name;
        expect_equal(plain_whole[i], of_whole[i], name);
        expect_equal(plain_point[i], of_point[i], name);
      }
    }
  }
}

// A central difference errs by h²/6 times a third derivative, of size 1 for these weights, and by rounding over h.
TEST_P(EveryNetwork, HasAMeanFieldThatEndsAtInputAndBaselineAndHasTheSlopeOfItsValue) {
  constexpr double step = 1e-4;
  const auto found = op();
  if (!found->has_mean_field()) {
    EXPECT_TRUE(has(GetParam().name, "mwt") || has(GetParam().name, "density"));
    return;
  }
  for (const Domain& domain : GetParam().slope_domains) {
    const FieldBatch input = fields(domain, 1, 2), baseline = fields(domain, 1, 3);
    FieldBatch levels = FieldBatch::zeros(domain, 3, 1);
    std::ranges::fill(levels.field(1), 1.0);
    std::ranges::fill(levels.field(2), 0.4);
    for (const std::int64_t point : few_points(domain)) {
      const Query query{.point = point, .channel = 1};
      const Operator::Gradient closure = found->mean_field_at(input, baseline, levels, query);
      EXPECT_EQ("", mismatch(found->values_at(baseline, query)[0], closure.values[0], rounding(1e4, 1)));
      EXPECT_EQ("", mismatch(found->values_at(input, query)[0], closure.values[1], rounding(1e4, 1)));
      for (std::size_t shown = 0; shown < static_cast<std::size_t>(domain.points()); ++shown) {
        FieldBatch sides = FieldBatch::zeros(domain, 2, 1);
        std::ranges::fill(sides.values, 0.4);
        sides.field(0)[shown] += step;
        sides.field(1)[shown] -= step;
        const auto values = found->mean_field_at(input, baseline, sides, query).values;
        EXPECT_EQ("", mismatch((values[0] - values[1]) / (2 * step), closure.gradient.field(2)[shown],
                               discretisation(10, step, 2)));
      }
    }
  }
}

TEST_P(EveryNetwork, HasTheMeanFieldOfSeveralInputsThatEachHasAlone) {
  const auto found = op();
  if (!found->has_mean_field()) return;  // said above
  const Domain& domain = GetParam().slope_domains.front();
  const std::int64_t chunk = found->preferred_batch(domain) / 16, batch = chunk + 3;  // so there are two chunks
  const FieldBatch inputs = fields(domain, batch, 2), many = fields(domain, batch, 3);
  FieldBatch inclusion = FieldBatch::zeros(domain, batch, 1);
  std::ranges::generate(inclusion.values, [rng = Rng(test_seed(), "many")]() mutable { return rng.uniform(0, 1); });
  const Query query{.point = domain.centre(), .channel = 1};
  for (const FieldBatch& baselines : {many, many.one(0)}) {
    const Operator::Gradient together = found->mean_field_at(inputs, baselines, inclusion, query);
    for (const std::int64_t index : {std::int64_t{0}, chunk - 1, chunk, chunk + 1, chunk + 2}) {
      const Operator::Gradient alone = found->mean_field_at(
          inputs.one(index), baselines.one(std::min(index, baselines.batch - 1)), inclusion.one(index), query);
      EXPECT_EQ("", mismatch(alone.values[0], together.values[static_cast<std::size_t>(index)], rounding(1e4, 1)));
      EXPECT_EQ("", mismatch(alone.gradient.values, together.gradient.one(index).values, rounding(1e4, 1)));
    }
  }
  EXPECT_TRUE(has(refusal<InvalidArgument>([&] { found->mean_field_at(inputs, many, inclusion.one(0), query); }),
                  message("batch=", batch, " and ", batch, ", fields of inclusion=1 of 1 channels")));
}

TEST_P(EveryNetwork, RefusesFieldsThatDoNotFit) {
  const auto found = op();
  const Domain& domain = GetParam().domains.back();
  const Domain other = Domain::unit(domain.dimension() == 1 ? std::vector{4, 4} : std::vector{8});
  EXPECT_THROW(found->apply(fields(other, 1)), InvalidArgument);
  EXPECT_THROW(found->apply(random_fields(domain, 1, 3)), InvalidArgument);
  EXPECT_THROW(found->values_at(fields(domain, 1), Query{.point = domain.points()}), InvalidArgument);
  EXPECT_THROW(found->values_at(fields(domain, 1), Query{.point = 0, .channel = found->output_channels()}),
               InvalidArgument);
  EXPECT_TRUE(found->apply(fields(domain, 0)).values.empty());
}

class EveryOperator : public RunFolder, public ::testing::WithParamInterface<Case> {
 protected:
  NetworkConfig config() const { return GetParam().config(); }
  const Operator* op(Precision precision) const { return made_once(config(), precision); }
  std::vector<int> shape(int points) const { return GetParam().shape(points); }
  FieldBatch fields(int points, std::int64_t batch) const {
    return random_fields(Domain::unit(shape(points)), batch, in_channels, test_seed());
  }
};

INSTANTIATE_TEST_SUITE_P(Registered, EveryOperator, ::testing::ValuesIn(cases()),
                         [](const auto& of) { return of.param.name + std::to_string(of.param.dimension) + "d"; });

TEST_P(EveryOperator, SaysItsDimensionAndItsChannels) {
  const auto found = op(Precision::float32);
  EXPECT_EQ(GetParam().dimension, found->dimension());
  EXPECT_EQ(in_channels, found->input_channels());
  EXPECT_EQ(out_channels, found->output_channels());
  EXPECT_TRUE(found->describe().starts_with(GetParam().name)) << found->describe();
}

TEST_P(EveryOperator, WorksAtAnyResolution) {
  const auto found = op(Precision::float32);
  for (const int points : {4, 8, 16}) {
    const FieldBatch inputs = fields(points, 2), outputs = found->apply(inputs);
    EXPECT_EQ(inputs.domain, outputs.domain);
    EXPECT_EQ(2, outputs.batch);
    EXPECT_EQ(out_channels, outputs.channels);
    EXPECT_NO_THROW(require_finite(outputs, "operator laws"));
    EXPECT_GT(largest(outputs.values), 0);
  }
}

/// Numbers of a readout's terms, added up.
std::vector<double> added_up(const Readout& readout, const auto& at) {
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
  const auto found = op(Precision::float64), with = op(Precision::float32);
  const FieldBatch inputs = fields(8, 1), hidden = FieldBatch::zeros(inputs.domain, 1, in_channels);
  const std::int64_t last = inputs.domain.points() - 1;
  Rng rng(test_seed(), "readouts");
  FieldBatch inclusion = FieldBatch::zeros(inputs.domain, 1, 1);
  for (double& value : inclusion.values) value = rng.uniform(0, 1);
  const Tolerance tolerance = rounding(1e5, 1);  // a dozen layers of sums of a few thousand products
  const Readout few({{{.point = 3, .channel = 2}, -2.0}, {{.point = last, .channel = 0}, 0.5}});
  const auto compare = [&](const auto& at) {
    const auto values = [&](const Readout& of) { return at(of).values; };
    const auto slopes = [&](const Readout& of) { return at(of).gradient.values; };
    EXPECT_EQ("", mismatch(added_up(few, values), values(few), tolerance));
    EXPECT_EQ("", mismatch(added_up(few, slopes), slopes(few), tolerance));
  };
  compare([&](const Readout& of) { return found->gradient_at(inputs, of); });
  if (found->has_mean_field())
    compare([&](const Readout& of) { return found->mean_field_at(inputs, hidden, inclusion, of); });
  std::vector<double> weights(static_cast<std::size_t>(out_channels * inputs.domain.points()));
  for (double& weight : weights) weight = rng.uniform(-1, 1);
  const Coalitions some = Coalitions::enumerate(4, 6, 4);  // {1, 2}, {0, 1, 2}, {3} and {0, 3}
  for (const Readout& readout : {few, Readout::of_weights(weights, inputs.domain.points())}) {
    EXPECT_EQ("", mismatch(readout.of(found->apply(inputs).values, inputs.domain.points()),
                           found->values_at(inputs, readout).front(), tolerance));
    Scenario scenario = make_scenario(four_blocks, inputs);
    scenario.readout = readout;
    // A dozen layers of products of 64 float32 numbers, up to 200 of them added up.
    EXPECT_EQ("", mismatch(games::cell_mask_game(*found, scenario)->values(some),
                           games::cell_mask_game(*with, scenario)->values(some), rounding(1e-4 * 0x1p52, 1)));
  }
}

TEST_P(EveryOperator, PlaysTheGameOfItsMaskedInputsWithAndWithoutItsEngine) {
  SCOPED_TRACE(replay());
  const auto with = op(Precision::float32), exact = op(Precision::float64);
  const FieldBatch input = fields(8, 1);
  const Coalitions all = Coalitions::enumerate(4, 0, 16);
  const std::vector<double> values = games::cell_mask_game(*with, make_scenario(four_blocks, input))->values(all),
                            expected = games::cell_mask_game(*exact, make_scenario(four_blocks, input))->values(all);
  // A dozen layers of products of 64 float32 numbers.
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(expected[i], values[i], 1e-5) << i;
}

TEST_P(EveryOperator, TakesItsDomainAndItsConfigThroughAFile) {
  const auto file = folder_ / "model.safetensors";
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
  axes.resize(GetParam().dimension == 1 ? 2 : 1, Axis::ring(4));
  EXPECT_THROW(network->set_native_domain(Domain::grid(axes)), InvalidArgument);
}

TEST_P(EveryOperator, NamesWhatItDoesNotKnow) {
  networks::NetworkSettings settings = operators::architecture(GetParam().name)->of_the_paper();
  EXPECT_NO_THROW(operators::fitted(settings, {.dimension = GetParam().dimension}));
  settings.json = settings.json.substr(0, settings.json.rfind('}')) + ", \"no_such_setting\": 1}";
  EXPECT_TRUE(has(refusal<InvalidArgument>([&] { operators::fitted(settings, {.dimension = GetParam().dimension}); }),
                  "no_such_setting"));
}

TEST(Operators, SayWhetherTheirSlopesJump) {
  for (const Subject& subject : subjects()) {
    const bool expected = subject.name.find("mwt") != std::string::npos;
    EXPECT_EQ(expected, made_once(subject.config, Precision::float64)->has_kinks()) << subject.name;
  }
  operators::FnoConfig config = small_fno(1, "symmetric");
  config.options.block.activation = operators::Activation::relu;
  EXPECT_TRUE(operators::untrained_operator(config, 1)->has_kinks());
}

TEST(Operators, AreRefusedByANameThatIsNotRegistered) {
  EXPECT_THROW(operators::architecture("fnoo"), InvalidArgument);
  EXPECT_THROW(operators::fitted({.model = "fnoo"}, {}), InvalidArgument);
}

// One multiplication that another process interrupts is measured at a fraction of what the machine can.
}  // namespace
}  // namespace opshap
