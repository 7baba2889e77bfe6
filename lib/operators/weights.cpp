#include "operators/weights.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/error.hpp"
#include "data/safetensors.hpp"
#include "operators/network.hpp"
#include "operators/stored_network.hpp"
#include "operators/torch_script.hpp"

namespace opshap::operators {

torch::TensorOptions tensor_options(networks::Precision precision, const std::string& device) {
  const auto dtype = precision == networks::Precision::float64 ? torch::kFloat64 : torch::kFloat32;
  if (device == "cpu") return dtype;
  const std::string prefix = "cuda:";
  const std::string digits = device.starts_with(prefix) ? device.substr(prefix.size()) : "";
  require(!digits.empty() && digits.size() <= 2 &&
              std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }),
          "device: --device=", device, " (neither cpu nor a GPU). Give cpu or cuda:0.");
  const int index = std::stoi(digits);
  // Else convolutions round to ten bits where a traced archive says so, and tracing says so by default. The libraries
  // of the GPU read this when they start.
  setenv("NVIDIA_TF32_OVERRIDE", "0", 0);
  const int devices = torch::cuda::is_available() ? static_cast<int>(torch::cuda::device_count()) : 0;
  require<EnvironmentError>(
      index < devices, "device: --device=", device, " (", devices,
      " CUDA devices here). Use --device cpu or a CUDA build of LibTorch on a machine with a GPU.");
  return torch::TensorOptions(dtype).device(torch::kCUDA, static_cast<std::int8_t>(index));
}

void require_device(const std::string& device) { tensor_options(networks::Precision::float32, device); }

std::unique_ptr<Network> load_network(const std::filesystem::path& path, const torch::TensorOptions& options) {
  return network_of(data::read_safetensors(path), path.string(), options);
}

void save_network(const Network& network, const std::filesystem::path& path) {
  data::write_safetensors(path, content_of(network));
}

std::unique_ptr<Operator> load_operator(const std::filesystem::path& path, const std::string& device,
                                        networks::Precision precision, bool engine,
                                        const std::vector<std::int64_t>& input) {
  const torch::TensorOptions options = tensor_options(precision, device);
  if (is_torch_script(path)) return as_operator(load_torch_script(path, options, input));
  return as_operator(load_network(path, options), engine);
}

std::unique_ptr<Operator> untrained_operator(const networks::NetworkConfig& config, std::uint64_t seed,
                                             networks::Precision precision, const std::string& device) {
  auto network = make_network(config, tensor_options(precision, device));
  initialise(*network, seed);
  return as_operator(std::move(network));
}

}  // namespace opshap::operators
