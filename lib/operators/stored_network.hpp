#pragma once

#include <memory>
#include <string>

#include "data/safetensors.hpp"
#include "operators/network.hpp"

namespace opshap::operators {

/// The metadata entry of a weight file that holds the CONFIG.
inline constexpr const char* stored_config_key = "config";

/// The network that the content of a weight file describes, with its normalisers. Tensors may have names of older
/// versions of the reference, and spectral weights may be factors. `who` names the file in messages. Throws as
/// load_network().
std::unique_ptr<Network> network_of(data::Safetensors content, const std::string& who,
                                    const torch::TensorOptions& options);

/// The content of the weight file of a network: config, domain and normalisers (where there are any), parameters and
/// constants.
data::Safetensors content_of(const Network& network);

}  // namespace opshap::operators
