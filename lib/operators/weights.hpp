#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/operator.hpp"
#include "networks/network_config.hpp"

namespace opshap::operators {

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
/// tells). Throws DataError for a file that is not one, for missing or unexpected tensors (all listed), wrong shapes,
/// and values that are not finite; EnvironmentError when the device is not there.
std::unique_ptr<Operator> load_operator(const std::filesystem::path& path, const std::string& device = "cpu",
                                        networks::Precision precision = networks::Precision::float32,
                                        bool engine = true, const std::vector<std::int64_t>& input = {});

/// An untrained operator with parameters drawn as the Python reference does.
std::unique_ptr<Operator> untrained_operator(const networks::NetworkConfig& config, std::uint64_t seed,
                                             networks::Precision precision = networks::Precision::float32,
                                             const std::string& device = "cpu");

}  // namespace opshap::operators
