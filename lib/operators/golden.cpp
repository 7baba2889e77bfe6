#include "operators/golden.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.hpp"
#include "operators/network.hpp"

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

void set_golden_parameters(Network& network) {
  std::vector<Parameter*> sorted;
  for (Parameter& parameter : network.parameters()) sorted.push_back(&parameter);
  std::sort(sorted.begin(), sorted.end(), [](const Parameter* a, const Parameter* b) { return a->name < b->name; });
  for (std::size_t tensor = 0; tensor < sorted.size(); ++tensor) {
    torch::Tensor values = torch::empty(sorted[tensor]->value.sizes(), torch::kFloat32);
    float* to = values.data_ptr<float>();
    for (std::int64_t index = 0; index < values.numel(); ++index) {
      to[index] = golden_parameter(*sorted[tensor], tensor, static_cast<std::uint64_t>(index));
    }
    sorted[tensor]->value.copy_(values);
  }
}

}  // namespace

double golden_number(std::uint64_t tensor, std::uint64_t index) {
  return static_cast<double>(split_mix((tensor << 32) + index) >> 11) * 0x1p-53 * 2 - 1;
}

FieldBatch golden_output(const NetworkConfig& config, const std::vector<std::int64_t>& input_shape,
                         Precision precision) {
  const torch::NoGradGuard no_grad;
  const torch::TensorOptions options = precision == Precision::float64 ? torch::kFloat64 : torch::kFloat32;
  const auto network = make_network(config, options);
  const int axes = network->dimension(), channels = network->input_channels();
  require(static_cast<int>(input_shape.size()) == axes + 2, "golden: --input-shape has ", input_shape.size(),
          " numbers (the config has ", axes, " axes). Give B,C and one size for each axis.");
  std::int64_t entries = 1;
  for (const std::int64_t size : input_shape) {
    require(size >= 1 && size <= 1 << 20, "golden: --input-shape=", size, " (needs 1..1048576). Give positive sizes.");
    entries *= size;
    require(entries <= 1 << 26, "golden: --input-shape (more than 2^26 numbers). Give a smaller one.");
  }
  require(input_shape[1] == channels, "golden: --input-shape=", input_shape[1],
          " channels (the config has in_channels=", channels, "). Make them equal.");

  set_golden_parameters(*network);
  FieldBatch input =
      FieldBatch::zeros(Domain::unit({input_shape.begin() + 2, input_shape.end()}), input_shape[0], channels);
  for (std::size_t index = 0; index < input.values.size(); ++index)
    input.values[index] = static_cast<float>(golden_number(1000, index));

  const torch::Tensor output = network->forward(to_tensor(input, 0, input.batch, options), input.domain);
  FieldBatch fields = FieldBatch::zeros(input.domain, input.batch, network->output_channels());
  from_tensor(output, fields, 0);
  return fields;
}

GoldenValues golden_values(const FieldBatch& output) {
  const std::vector<double>& values = output.values;
  GoldenValues golden{.first = values.front(), .middle = values[values.size() / 2], .last = values.back()};
  for (const double value : values) {
    golden.mean += value / static_cast<double>(values.size());
    golden.l2 += value * value;
  }
  golden.l2 = std::sqrt(golden.l2);
  return golden;
}

}  // namespace opshap::operators
