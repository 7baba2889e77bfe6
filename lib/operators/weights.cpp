#include "operators/weights.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "data/safetensors.hpp"
#include "data/space_json.hpp"
#include "operators/factorised_weights.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"
#include "operators/torch_script.hpp"

namespace opshap::operators {

namespace {

constexpr const char *config_key = "config", *domain_key = "domain";

std::string list(const std::set<std::string>& names) {
  constexpr std::size_t shown = 8;
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    if (text.size() > 60 * shown) return message(text, "... (", names.size(), " in all)");
    text += name;
  }
  return text;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) text += message(text.size() > 1 ? ", " : "", size);
  return text + "]";
}

using StoredParameters = std::map<std::string, const data::StoredTensor*>;

/// The tensors of a file under the names that they have in its architecture. One tensor may be stored under several.
StoredParameters stored_parameters(const data::Safetensors& content, const NetworkConfig& config,
                                   const std::string& who) {
  const auto kind = architecture_of(config);
  StoredParameters found;
  for (const auto& [stored, tensor] : content.tensors) {
    const std::string name = kind->parameter_name(stored, config);
    const auto [known, added] = found.emplace(name, &tensor);
    require<DataError>(added || (known->second->dtype == tensor.dtype && known->second->shape == tensor.shape &&
                                 known->second->bytes == tensor.bytes),
                       "weights: ", stored, " (", who, " has other numbers under another name of this tensor, ", name,
                       "). Export the model again.");
  }
  return found;
}

void check_names(const Network& network, const StoredParameters& stored, const std::string& who) {
  std::set<std::string> missing, unexpected;
  for (const auto& [name, tensor] : stored) unexpected.insert(name);
  for (const Parameter& parameter : network.parameters()) {
    if (unexpected.erase(parameter.name) == 0) missing.insert(parameter.name);
  }
  for (const Constant& constant : network.constants()) unexpected.erase(constant.name);
  require<DataError>(missing.empty() && unexpected.empty(), "weights: file=", who, " (does not fit its config;",
                     missing.empty() ? "" : " missing: ", list(missing),
                     missing.empty() || unexpected.empty() ? "" : ";",
                     unexpected.empty() ? "" : " unexpected: ", list(unexpected),
                     "). Export the model again together with its config.");
}

/// The stored numbers in their own precision, complex ones as pairs.
torch::Tensor stored_values(const data::StoredTensor& stored) {
  std::vector<std::int64_t> shape = stored.shape;
  if (stored.dtype == "C64") shape.push_back(2);
  torch::Tensor tensor = torch::empty(shape, stored.dtype == "F64" ? torch::kFloat64 : torch::kFloat32);
  std::memcpy(tensor.data_ptr(), stored.bytes.data(), stored.bytes.size());
  return tensor;
}

Domain stored_domain(const std::string& text, const std::string& file) {
  return data::domain_from_json(nlohmann::ordered_json::parse(text, nullptr, false), message("weights: file=", file));
}

void set_parameter(Parameter& parameter, const data::StoredTensor& stored, const std::string& who) {
  const torch::Tensor values = stored_values(stored);
  require<DataError>(values.sizes() == parameter.value.sizes(), "weights: ", parameter.name, "=",
                     shape_text(stored.shape), " (", who, " has a config that needs ",
                     shape_text(parameter.value.sizes().vec()), parameter.complex ? ", the last 2 for re and im" : "",
                     "). Export the model again together with its config.");
  require<DataError>(torch::isfinite(values).all().item<bool>(), "weights: ", parameter.name, " (", who,
                     " has values there that are NaN or infinite). Train or export the model again.");
  parameter.value.copy_(values);
}

void check_constant(const Constant& constant, const data::StoredTensor& stored, const std::string& who) {
  // The reference computes its constants in float64 to about 1e-8 and keeps them in float32.
  constexpr double accuracy = 1e-6;
  const torch::Tensor expected = constant.value.to(torch::kCPU, torch::kFloat64),
                      found = stored_values(stored).to(torch::kFloat64);
  require<DataError>(found.sizes() == expected.sizes() && torch::allclose(found, expected, 0, accuracy),
                     "weights: ", constant.name, "=", shape_text(stored.shape), " (", who,
                     " has other values there than its config asks for). Export a model of this config.");
}

data::StoredTensor stored_tensor(const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.detach().to(torch::kCPU).contiguous();
  data::StoredTensor made{
      .shape = values.sizes().vec(), .dtype = values.scalar_type() == torch::kFloat64 ? "F64" : "F32", .bytes = {}};
  made.bytes.resize(values.nbytes());
  std::memcpy(made.bytes.data(), values.data_ptr(), values.nbytes());
  return made;
}

}  // namespace

torch::TensorOptions tensor_options(Precision precision, const std::string& device) {
  const auto dtype = precision == Precision::float64 ? torch::kFloat64 : torch::kFloat32;
  if (device == "cpu") return dtype;
  const std::string prefix = "cuda:";
  const std::string digits = device.starts_with(prefix) ? device.substr(prefix.size()) : "";
  require(!digits.empty() && digits.size() <= 2 &&
              std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }),
          "device: --device=", device, " (neither cpu nor a GPU). Give cpu or cuda:0.");
  const int index = std::stoi(digits);
  const int devices = torch::cuda::is_available() ? static_cast<int>(torch::cuda::device_count()) : 0;
  require<EnvironmentError>(
      index < devices, "device: --device=", device, " (", devices,
      " CUDA devices here). Use --device cpu or a CUDA build of LibTorch on a machine with a GPU.");
  return torch::TensorOptions(dtype).device(torch::kCUDA, static_cast<std::int8_t>(index));
}

std::unique_ptr<Network> load_network(const std::filesystem::path& path, const torch::TensorOptions& options) {
  const torch::NoGradGuard no_grad;
  data::Safetensors content = data::read_safetensors(path);
  expand_factors(content, path.string());
  const auto config = content.metadata.find(config_key);
  require<DataError>(config != content.metadata.end(), "weights: file=", path.string(),
                     " (has no \"config\" in its metadata, so the model is unknown). Export it with its config.");
  auto network = make_network({config->second}, options);
  if (const auto domain = content.metadata.find(domain_key); domain != content.metadata.end())
    network->set_native_domain(stored_domain(domain->second, path.string()));
  const StoredParameters stored = stored_parameters(content, {config->second}, path.string());
  check_names(*network, stored, path.string());
  for (Parameter& parameter : network->parameters())
    set_parameter(parameter, *stored.at(parameter.name), path.string());
  for (const Constant& constant : network->constants())
    if (const auto found = stored.find(constant.name); found != stored.end())
      check_constant(constant, *found->second, path.string());
  return network;
}

void save_network(const Network& network, const std::filesystem::path& path) {
  data::Safetensors content;
  content.metadata[config_key] = network.config().json;
  if (network.native_domain()) content.metadata[domain_key] = data::to_json(*network.native_domain()).dump();
  for (const Parameter& parameter : network.parameters())
    content.tensors.emplace(parameter.name, stored_tensor(parameter.value));
  for (const Constant& constant : network.constants())
    content.tensors.emplace(constant.name, stored_tensor(constant.value));
  data::write_safetensors(path, content);
}

std::unique_ptr<Operator> load_operator(const std::filesystem::path& path, const std::string& device,
                                        Precision precision, bool engine) {
  const torch::TensorOptions options = tensor_options(precision, device);
  if (is_torch_script(path)) return as_operator(load_torch_script(path, options));
  return as_operator(load_network(path, options), engine);
}

std::unique_ptr<Operator> untrained_operator(const NetworkConfig& config, std::uint64_t seed, Precision precision,
                                             const std::string& device) {
  auto network = make_network(config, tensor_options(precision, device));
  initialise(*network, seed);
  return as_operator(std::move(network));
}

}  // namespace opshap::operators
