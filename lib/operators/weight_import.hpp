#pragma once

#include <filesystem>
#include <optional>

#include "networks/network_config.hpp"

namespace opshap::operators {

/// Makes a weight file of a safetensors file that has the tensors of a state_dict and no CONFIG, as
/// safetensors.torch.save_file() writes it. Tensors with names of older versions get today's, factors are expanded, and
/// what is no weight is left out. Normalisers stay where the CONFIG names them, see take_normalisation(). A file with a
/// CONFIG of its own needs none.
///
/// `to` is written in one step, after everything has been checked. Throws InvalidArgument when there is no CONFIG or
/// there are two, and DataError for a pickle, a TorchScript archive, and what load_network() refuses.
void import_weights(const std::filesystem::path& from, const std::optional<networks::NetworkConfig>& config,
                    const std::filesystem::path& to);

}  // namespace opshap::operators
