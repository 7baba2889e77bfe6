#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/operator.hpp"
#include "data/safetensors.hpp"
#include "networks/recipe.hpp"
#include "operators/network.hpp"

namespace opshap::operators {

/// The metadata entry of a weight file that holds the CONFIG.
inline constexpr const char* stored_config_key = "config";

/// The stored numbers in their own precision, complex ones as pairs.
torch::Tensor stored_values(const data::StoredTensor& stored);
/// A real tensor as a file has it: F64 where it is float64, else F32.
data::StoredTensor stored_tensor(const torch::Tensor& tensor);

/// The network that the content of a weight file describes, with its normalisers. Tensors may have names of older
/// versions of the reference, and spectral weights may be factors. `who` names the file in messages. Throws as
/// load_network().
std::unique_ptr<Network> network_of(data::Safetensors content, const std::string& who,
                                    const torch::TensorOptions& options);

/// The content of the weight file of a network: config, domain and normalisers (where there are any), parameters and
/// constants.
data::Safetensors content_of(const Network& network);

/// Throws InvalidArgument for a device that is neither "cpu" nor "cuda:0" (any number), EnvironmentError when there is
/// no such GPU.
void require_device(const std::string& device);

/// The operator of a safetensors file: tensors under the names of the Python reference's state_dict (complex ones as
/// C64 or with a last dimension of 2) and the config as JSON in the metadata entry "config". The entry "domain" says on
/// which domain it learned; a file without it is of the unit interval or square. With normalisers, as
/// take_normalisation() reads them, the operator is in physical units.
///
/// Or the model of a TorchScript archive, as load_torch_script() has it; `input` is the shape of an array that it is to
/// get, where there is one.
///
/// With `engine`, games of masked inputs use the coalition engine where it covers the network (Operator::coalition_path
/// tells). Throws DataError for a file that is not one, for an explainer, for missing or unexpected tensors (all
/// listed), wrong shapes, and values that are not finite; EnvironmentError when the device is not there.
std::unique_ptr<Operator> load_operator(const std::filesystem::path& path, const std::string& device = "cpu",
                                        networks::Precision precision = networks::Precision::float32,
                                        bool engine = true, const std::vector<std::int64_t>& input = {});

/// An untrained operator with parameters drawn as the Python reference does.
std::unique_ptr<Operator> untrained_operator(const networks::NetworkConfig& config, std::uint64_t seed,
                                             networks::Precision precision = networks::Precision::float32,
                                             const std::string& device = "cpu");

/// Makes a weight file of a safetensors file that has the tensors of a state_dict and no CONFIG, as
/// safetensors.torch.save_file() writes it. Tensors with names of older versions get today's, factors are expanded, and
/// what is no weight is left out. Normalisers stay where the CONFIG names them, see take_normalisation(). A file with a
/// CONFIG of its own needs none.
///
/// `to` is written in one step, after everything has been checked. Throws InvalidArgument when there is no CONFIG or
/// there are two, and DataError for a pickle, a TorchScript archive, and what load_network() refuses.
void import_weights(const std::filesystem::path& from, const std::optional<networks::NetworkConfig>& config,
                    const std::filesystem::path& to);

/// Throws InvalidArgument where the name is one of neuraloperator's models that are not here, in any case of letters:
/// the message says what works instead.
void refuse_foreign_name(const std::string& name);

/// Throws DataError where the content of a weight file is a state_dict of such a model, by the names and sizes of its
/// tensors. `who` names the file.
void refuse_foreign_tensors(const data::Safetensors& content, const std::string& who);

}  // namespace opshap::operators
