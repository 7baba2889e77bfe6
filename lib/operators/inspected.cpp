#include "operators/inspected.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "operators/inverse_shift.hpp"
#include "operators/network.hpp"
#include "operators/torch_script.hpp"

namespace opshap::operators {

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
