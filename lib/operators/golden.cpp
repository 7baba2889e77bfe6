#include "operators/golden.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.hpp"
#include "operators/config_reader.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"
#include "operators/torch_script.hpp"

namespace opshap::operators {

namespace {

std::uint64_t split_mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

float golden_parameter(const Parameter& parameter, std::uint64_t tensor, std::uint64_t index) {
  const double number = golden_number(tensor, index);
  if (parameter.complex) return static_cast<float>(0.15 * number);
  if (parameter.name.find("channel_mlp_skips") != std::string::npos) return static_cast<float>(1 + 0.1 * number);
  if (parameter.name.ends_with("bias")) return static_cast<float>(0.1 * number);
  return static_cast<float>(
      std::sqrt(3.0 * static_cast<double>(parameter.shape[0]) / static_cast<double>(parameter.value.numel())) * number);
}

/// Points of a low-discrepancy sequence in the unit square, rounded to float32, of equal volumes.
Domain golden_mesh(std::int64_t points) {
  std::vector<double> places;
  for (std::int64_t i = 1; i <= points; ++i)
    for (const double step : {0.7548776662466927, 0.5698402909980532}) {
      const double place = 0.5 + static_cast<double>(i) * step;
      places.push_back(static_cast<float>(place - std::floor(place)));
    }
  return Domain::mesh(Mesh::of_points(
      2, std::move(places), std::vector<double>(static_cast<std::size_t>(points), 1.0 / static_cast<double>(points))));
}

/// The domain of the golden input of these sizes. Networks on meshes have one size, the number of points.
Domain golden_domain(const networks::NetworkConfig& config, const std::vector<std::int64_t>& sizes, int axes) {
  const bool on_meshes = architecture_of(config)->on_meshes();
  const int wanted = on_meshes ? 1 : axes;
  require(static_cast<int>(sizes.size()) == wanted, "golden: --input-shape has ", sizes.size() + 2,
          " numbers (the config needs ", wanted + 2, "). Give B,C and ",
          on_meshes ? "the number of points." : "one size for each axis.");
  if (!on_meshes) return Domain::unit({sizes.begin(), sizes.end()});
  const int nodes = ConfigReader(config).whole("nodes", static_cast<int>(sizes[0]), {.least = 1, .most = 1 << 20});
  require(nodes == sizes[0], "golden: --input-shape has ", sizes[0], " points (the config has nodes=", nodes,
          "). Make them equal.");
  return golden_mesh(sizes[0]);
}

/// The values of fields in the order in which the reference has them: [B, C, points...] on a grid, [B, points, C] on a
/// mesh. Calls work(index in that order, value).
template <typename Fields, typename Work>
void in_reference_order(Fields& fields, const Work& work) {
  const std::int64_t points = fields.domain.points(), channels = fields.channels;
  const bool channels_last = !fields.domain.is_grid();
  for (std::int64_t index = 0; index < fields.batch * channels * points; ++index) {
    const std::int64_t field = index / (channels * points), within = index % (channels * points);
    const std::int64_t place = channels_last ? within % channels * points + within / channels : within;
    work(static_cast<std::size_t>(index), fields.values[static_cast<std::size_t>(field * channels * points + place)]);
  }
}

}  // namespace

double golden_number(std::uint64_t tensor, std::uint64_t index) {
  return static_cast<double>(split_mix((tensor << 32) + index) >> 11) * 0x1p-53 * 2 - 1;
}

FieldBatch golden_output(const networks::NetworkConfig& config, const std::vector<std::int64_t>& input_shape,
                         networks::Precision precision, const std::string& device) {
  const torch::NoGradGuard no_grad;
  const torch::TensorOptions options = tensor_options(precision, device);
  const auto network = make_network(config, options);
  const int axes = network->dimension(), channels = network->input_channels();
  require(input_shape.size() > 2, "golden: --input-shape has ", input_shape.size(),
          " numbers (needs B,C and sizes). Give them.");
  std::int64_t entries = 1;
  for (const std::int64_t size : input_shape) {
    require(size >= 1 && size <= 1 << 20, "golden: --input-shape=", size, " (needs 1..1048576). Give positive sizes.");
    entries *= size;
    require(entries <= 1 << 26, "golden: --input-shape (more than 2^26 numbers). Give a smaller one.");
  }
  require(input_shape[1] == channels, "golden: --input-shape=", input_shape[1],
          " channels (the config has in_channels=", channels, "). Make them equal.");

  set_golden_parameters(*network);
  FieldBatch input = FieldBatch::zeros(golden_domain(config, {input_shape.begin() + 2, input_shape.end()}, axes),
                                       input_shape[0], channels);
  in_reference_order(input,
                     [](std::size_t index, double& value) { value = static_cast<float>(golden_number(1000, index)); });

  const torch::Tensor output = network->forward(to_tensor(input, 0, input.batch, options), input.domain);
  FieldBatch fields = FieldBatch::zeros(input.domain, input.batch, network->output_channels());
  from_tensor(output, fields, 0);
  return fields;
}

void set_golden_parameters(Network& network) {
  std::vector<Parameter*> sorted;
  for (Parameter& parameter : network.parameters()) sorted.push_back(&parameter);
  std::sort(sorted.begin(), sorted.end(), [](const Parameter* a, const Parameter* b) { return a->name < b->name; });
  for (std::size_t tensor = 0; tensor < sorted.size(); ++tensor) {
    torch::Tensor values = torch::empty(sorted[tensor]->value.sizes(), torch::kFloat32);
    float* to = values.data_ptr<float>();
    for (std::int64_t index = 0; index < values.numel(); ++index)
      to[index] = golden_parameter(*sorted[tensor], tensor, static_cast<std::uint64_t>(index));
    sorted[tensor]->value.copy_(values);
  }
}

networks::GoldenValues golden_values(const FieldBatch& output) {
  const std::size_t count = output.values.size();
  networks::GoldenValues golden;
  in_reference_order(output, [&](std::size_t index, double value) {
    if (index == 0) golden.first = value;
    if (index == count / 2) golden.middle = value;
    if (index + 1 == count) golden.last = value;
    golden.mean += value / static_cast<double>(count);
    golden.l2 += value * value;
  });
  golden.l2 = std::sqrt(golden.l2);
  return golden;
}

nlohmann::ordered_json inspected(const std::filesystem::path& weights, const std::vector<std::int64_t>& input,
                                 const std::string& device) {
  const torch::TensorOptions options = tensor_options(networks::Precision::float32, device);
  nlohmann::ordered_json grids = nlohmann::ordered_json::array();
  std::unique_ptr<Network> network;
  std::vector<torch::Tensor> weights_of;
  if (is_torch_script(weights)) {
    auto script = load_torch_script(weights, options, input);
    for (const GridTest& test : script->test_grids()) {
      nlohmann::ordered_json row = {{"shape", test.shape}};
      if (!test.failure.empty()) row["failure"] = test.failure;
      if (test.change >= 0) row["change_to_twice_as_many"] = test.change;
      grids.push_back(row);
    }
    weights_of = script->weights();
    network = std::move(script);
  } else {
    network = load_network(weights, options);
    for (const Parameter& parameter : network->parameters()) weights_of.push_back(parameter.value);
  }
  std::int64_t numbers = 0;
  for (const torch::Tensor& tensor : weights_of) numbers += tensor.numel() * (tensor.is_complex() ? 2 : 1);
  nlohmann::ordered_json object = {{"operator", network->describe()},
                                   {"config", nlohmann::ordered_json::parse(network->config().json)},
                                   {"dimension", network->dimension()},
                                   {"in_channels", network->input_channels()},
                                   {"out_channels", network->output_channels()},
                                   {"parameters", weights_of.size()},
                                   {"real_numbers", numbers},
                                   {"mean_field", network->has_mean_field()}};
  if (network->native_domain()) object["domain"] = network->native_domain()->describe();
  if (object["config"].contains(inverse_shift_key)) object[inverse_shift_key] = object["config"][inverse_shift_key];
  if (!network->normalisation().empty()) object["normalisers"] = network->normalisation().describe();
  object["coalitions"] = as_operator(std::move(network))->coalition_path();
  if (!grids.empty()) object["grids"] = grids;
  return object;
}

}  // namespace opshap::operators
