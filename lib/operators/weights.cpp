#include "operators/weights.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "data/dataset.hpp"
#include "data/npy.hpp"
#include "operators/config_reader.hpp"
#include "operators/normalisation.hpp"
#include "operators/registry.hpp"
#include "operators/spectral_convolution.hpp"
#include "operators/torch_script.hpp"

namespace opshap::operators {

namespace {

constexpr const char* domain_key = "domain";
/// Before the name of each fact of Network::trained_for().
constexpr std::string_view trained_for_prefix = "trained_for.";

/// All of them, up to a length that only a file made to annoy has.
std::string list(const std::set<std::string>& entries) {
  constexpr std::size_t longest = 1 << 16;
  std::string text;
  for (const std::string& entry : entries) {
    if (!text.empty()) text += ", ";
    if (text.size() > longest) return message(text, "... (", entries.size(), " in all)");
    text += entry;
  }
  return text;
}

/// Leaves out how many batches a norm has seen in training. Throws unless the rest are floating-point numbers.
void keep_weights(data::Safetensors& content, const std::string& who) {
  std::erase_if(content.tensors, [](const auto& entry) { return entry.first.ends_with("num_batches_tracked"); });
  for (const auto& [name, tensor] : content.tensors)
    require<DataError>(tensor.dtype != "I64", "weights: ", name, "=I64 (", who,
                       " has whole numbers there, and weights are F32, F64 or C64). Convert it to float32.");
}

using StoredParameters = std::map<std::string, const data::StoredTensor*>;

/// The tensors of a file under the names that they have in its architecture. One tensor may be stored under several.
StoredParameters stored_parameters(const data::Safetensors& content, const networks::NetworkConfig& config,
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

/// The sizes that the numbers have as real ones, complex ones as pairs.
std::vector<std::int64_t> real_shape(const data::StoredTensor& stored) {
  std::vector<std::int64_t> shape = stored.shape;
  if (stored.dtype == "C64") shape.push_back(2);
  return shape;
}

/// Whether a tensor of the file is of the parameter's kind and shape. Pairs may stand for complex numbers, but complex
/// numbers are never pairs of real weights.
bool fits(const Parameter& parameter, const data::StoredTensor& stored) {
  return (parameter.complex || stored.dtype != "C64") && parameter.value.sizes() == real_shape(stored);
}

/// Throws where names, shapes or types are not those of the network. The message lists all of them.
void check_fit(const Network& network, const StoredParameters& stored, const std::string& who) {
  std::set<std::string> missing, unexpected, others;
  for (const auto& [name, tensor] : stored) unexpected.insert(name);
  for (const Parameter& parameter : network.parameters()) {
    if (unexpected.erase(parameter.name) == 0) {
      missing.insert(parameter.name);
    } else if (const data::StoredTensor& found = *stored.at(parameter.name); !fits(parameter, found)) {
      const std::string pairs = "F32 " + data::shape_text(parameter.value.sizes().vec());
      others.insert(message(
          parameter.name, "=", found.dtype, " ", data::shape_text(found.shape), " where ",
          parameter.complex ? message("C64 ", data::shape_text(parameter.shape), " or ", pairs) : pairs, " is needed"));
    }
  }
  for (const Constant& constant : network.constants()) unexpected.erase(constant.name);
  std::string problems;
  for (const auto& [what, entries] :
       {std::pair{"missing", &missing}, std::pair{"unexpected", &unexpected}, std::pair{"of other shapes", &others}})
    if (!entries->empty()) problems += message("; ", what, ": ", list(*entries));
  require<DataError>(problems.empty(), "weights: file=", who, " (does not fit its config", problems,
                     "). Correct the config, or export the model again.");
}

void check_constant(const Constant& constant, const data::StoredTensor& stored, const std::string& who) {
  // The reference computes its constants in float64 to about 1e-8 and keeps them in float32.
  constexpr double accuracy = 1e-6;
  const torch::Tensor expected = constant.value.to(torch::kCPU, torch::kFloat64),
                      found = stored_values(stored).to(torch::kFloat64);
  require<DataError>(found.sizes() == expected.sizes() && torch::allclose(found, expected, 0, accuracy),
                     "weights: ", constant.name, "=", data::shape_text(stored.shape), " (", who,
                     " has other values there than its config asks for). Export a model of this config.");
}

constexpr const char* advice =
    "Serve it from its own program, which has one line, torch_operator(model, dimension=2).serve(): --operator "
    "peer:FOLDER";

std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// The last axis of a transform on the sphere keeps m/2 of m modes, where FNO's keeps m/2 + 1.
bool is_of_the_sphere(const data::Safetensors& content) {
  const auto config = content.metadata.find(stored_config_key);
  if (config == content.metadata.end()) return false;
  const auto json = nlohmann::json::parse(config->second, nullptr, false);
  if (!json.is_object() || !json.contains("n_modes") || !json["n_modes"].is_array() || json["n_modes"].size() != 2 ||
      !json["n_modes"][1].is_number_integer())
    return false;
  const auto modes = json["n_modes"][1].get<std::int64_t>();
  const auto weight = content.tensors.find("fno_blocks.convs.0.weight.tensor");
  return modes > 0 && modes % 2 == 0 && weight != content.tensors.end() && weight->second.shape.size() >= 4 &&
         weight->second.shape[3] == modes / 2;
}

/// Whether it is "fno_blocks.<number>.convs." and more: each block of a UNO is a network of blocks.
bool has_numbered_blocks(std::string_view name) {
  constexpr std::string_view blocks = "fno_blocks.";
  if (!name.starts_with(blocks)) return false;
  name.remove_prefix(blocks.size());
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return digits > 0 && name.substr(digits).starts_with(".convs.");
}

/// "" where it is none of them.
std::string foreign_model(const data::Safetensors& content) {
  const auto any = [&](const auto& of_name) {
    return std::ranges::any_of(content.tensors, [&](const auto& entry) { return of_name(entry.first); });
  };
  const auto has = [&](const char* start) {
    return any([start](const std::string& name) { return name.starts_with(start); });
  };
  if (has("horizontal_skips.") || any(has_numbered_blocks)) return "UNO";
  if (has("attention_layers.")) return "CODANO";
  if (has("gno.")) return "FNOGNO";
  if (has("base_model.") && has("residual_model.")) return "UQNO";
  return is_of_the_sphere(content) ? "SFNO" : "";
}

}  // namespace

torch::Tensor stored_values(const data::StoredTensor& stored) {
  torch::Tensor tensor = torch::empty(real_shape(stored), stored.dtype == "F64" ? torch::kFloat64 : torch::kFloat32);
  std::memcpy(tensor.data_ptr(), stored.bytes.data(), stored.bytes.size());
  return tensor;
}

data::StoredTensor stored_tensor(const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.detach().to(torch::kCPU).contiguous();
  const auto* bytes = static_cast<const std::byte*>(values.data_ptr());
  return {.shape = values.sizes().vec(),
          .dtype = values.scalar_type() == torch::kFloat64 ? "F64" : "F32",
          .bytes = {bytes, bytes + values.nbytes()}};
}

std::unique_ptr<Network> network_of(data::Safetensors content, const std::string& who,
                                    const torch::TensorOptions& options) {
  const torch::NoGradGuard no_grad;
  Normalisation normalisation = take_normalisation(content, who);
  keep_weights(content, who);
  refuse_foreign_tensors(content, who);
  expand_factors(content, who);
  const auto said = content.metadata.find(stored_config_key);
  require<DataError>(said != content.metadata.end(), "weights: file=", who,
                     " (has no \"config\" in its metadata, so the model is unknown). Give it one: opshap operator "
                     "import FILE --config CONFIG --out FILE.safetensors.");
  // Trainings have written the domain since before they wrote the shift.
  const bool own = content.own && content.metadata.contains(domain_key);
  const networks::NetworkConfig config = own ? of_own_training({said->second}) : networks::NetworkConfig{said->second};
  const StoredParameters stored = stored_parameters(content, config, who);
  // A config may ask for more memory than there is. The check comes first, on a network without any.
  check_fit(*make_network(config, options.device(torch::kMeta)), stored, who);
  auto network = make_network(config, options);
  if (const auto domain = content.metadata.find(domain_key); domain != content.metadata.end())
    network->set_native_domain(data::domain_from_json(nlohmann::ordered_json::parse(domain->second, nullptr, false),
                                                      message("weights: file=", who)));
  network->set_normalisation(std::move(normalisation));
  TrainedFor facts;
  for (const auto& [key, value] : content.metadata)
    if (key.starts_with(trained_for_prefix)) facts.emplace(key.substr(trained_for_prefix.size()), value);
  network->set_trained_for(std::move(facts));
  for (Parameter& parameter : network->parameters()) {
    parameter.value.copy_(stored_values(*stored.at(parameter.name)));
    require<DataError>(torch::isfinite(parameter.value).all().item<bool>(), "weights: ", parameter.name, " (", who,
                       " has values there that are NaN or infinite). Train or export the model again.");
  }
  for (const Constant& constant : network->constants())
    if (const auto found = stored.find(constant.name); found != stored.end())
      check_constant(constant, *found->second, who);
  return network;
}

data::Safetensors content_of(const Network& network) {
  data::Safetensors content;
  content.metadata[stored_config_key] = network.config().json;
  if (network.native_domain()) content.metadata[domain_key] = data::to_json(*network.native_domain()).dump();
  for (const Parameter& parameter : network.parameters())
    content.tensors.emplace(parameter.name, stored_tensor(parameter.value));
  for (const Constant& constant : network.constants())
    content.tensors.emplace(constant.name, stored_tensor(constant.value));
  put_normalisation(network.normalisation(), content);
  for (const auto& [fact, value] : network.trained_for())
    content.metadata[std::string(trained_for_prefix) + fact] = value;
  return content;
}

std::string Network::checksum() const {
  const data::Safetensors content = content_of(*this);
  std::string bytes = nlohmann::json::parse(content.metadata.at(stored_config_key)).dump();  // with sorted keys
  for (const auto& [name, tensor] : content.tensors)
    bytes.append(message(' ', name, ' ', tensor.dtype, ' ', data::shape_text(tensor.shape), ' '))
        .append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  return xxh64(bytes);
}

torch::TensorOptions tensor_options(networks::Precision precision, const std::string& device) {
  const auto dtype = precision == networks::Precision::float64 ? torch::kFloat64 : torch::kFloat32;
  if (device == "cpu" || device == "emulated") return dtype;
  const std::string prefix = "cuda:";
  const std::string digits = device.starts_with(prefix) ? device.substr(prefix.size()) : "";
  require(!digits.empty() && digits.size() <= 2 &&
              std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }),
          "device: --device=", device, " (neither cpu nor a GPU). Give cpu, cuda:0, or emulated.");
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

namespace {

std::optional<devices::Arithmetic> arithmetic_of(networks::Precision precision) {
  switch (precision) {
    case networks::Precision::tf32x3:
      return devices::Arithmetic::tf32x3;
    case networks::Precision::tf32:
      return devices::Arithmetic::tf32;
    case networks::Precision::bf16:
      return devices::Arithmetic::bf16;
    case networks::Precision::float32:
    case networks::Precision::float64:
      break;
  }
  return {};
}

EngineRequest engine_request(const std::string& device, networks::Precision precision, bool engine) {
  EngineRequest request(engine);
  request.arithmetic = arithmetic_of(precision);
  const std::string name = request.arithmetic ? devices::name_of(*request.arithmetic) : "float32";
  require(!request.arithmetic || device != "cpu", "operator: --device=cpu, --precision=", name,
          " (is of the kernels of GPUs). Give --device cuda:0, or --device emulated.");
  require(request.arithmetic || device != "emulated",
          "operator: --device=emulated, --precision=float32 (the kernels have the products of tensor cores). Give "
          "--precision tf32x3, tf32 or bf16.");
  require(!request.arithmetic || engine, "operator: --no-engine, --precision=", name,
          " (is of the kernels of an engine). Leave one of them out.");
  return request;
}

}  // namespace

std::unique_ptr<Operator> load_operator(const std::filesystem::path& path, const std::string& device,
                                        networks::Precision precision, bool engine,
                                        const std::vector<std::int64_t>& input) {
  const torch::TensorOptions options = tensor_options(precision, device);
  const EngineRequest request = engine_request(device, precision, engine);
  if (is_torch_script(path)) {
    require_no_kernel(request, "a TorchScript archive");
    return as_operator(load_torch_script(path, options, input));
  }
  auto network = load_network(path, options);
  require<DataError>(!network->trained_for().contains("players"), "operator: file=", path.string(),
                     " (holds an explainer). Give the weights of an operator.");
  return as_operator(std::move(network), request);
}

std::unique_ptr<Operator> untrained_operator(const networks::NetworkConfig& config, std::uint64_t seed,
                                             networks::Precision precision, const std::string& device) {
  auto network = make_network(config, tensor_options(precision, device));
  initialise(*network, seed);
  return as_operator(std::move(network));
}

void import_weights(const std::filesystem::path& from, const std::optional<networks::NetworkConfig>& config,
                    const std::filesystem::path& to) {
  const std::string who = from.string();
  if (is_torch_script(from)) {
    load_torch_script(from, torch::kFloat32);  // throws for a pickle, and for an archive that is no use either
    throw DataError(message("weights: file=", who,
                            " (is a TorchScript archive, which describes itself). Use it as it is: --operator ", who,
                            "."));
  }
  data::Safetensors content = data::read_safetensors(from);
  const bool known = content.metadata.contains(stored_config_key);
  require(known || config, "operator import: --config (is missing: ", who,
          " does not say which model it is of). Give the model's settings as JSON, or a file of them.");
  require(!known || !config, "operator import: --config (is not needed: ", who,
          " has a config of its own). Leave it out.");
  if (config) content.metadata[stored_config_key] = config->json;
  // Normalisers are kept apart from the weights.
  const bool doubles = std::ranges::any_of(content.tensors, [](const auto& entry) {
    return entry.second.dtype == "F64" && entry.first.find("_normalizer.") == std::string::npos;
  });
  const auto network = network_of(std::move(content), who, doubles ? torch::kFloat64 : torch::kFloat32);
  data::write_safetensors(to, content_of(*network));
}

void refuse_foreign_name(const std::string& name) {
  constexpr std::array<std::string_view, 6> foreign = {"UNO", "SFNO", "CODANO", "FNOGNO", "UQNO", "RNO"};
  const std::string capitals = in_capitals(name);
  require(std::ranges::find(foreign, capitals) == foreign.end(), "operator: name=", name,
          " (is a model of neuraloperator whose layers are not here). ", advice, ".");
}

void refuse_foreign_tensors(const data::Safetensors& content, const std::string& who) {
  const std::string found = foreign_model(content);
  require<DataError>(found.empty(), "weights: file=", who, " (holds the tensors of neuraloperator's ", found,
                     ", whose layers are not here). ", advice, ".");
}

}  // namespace opshap::operators
