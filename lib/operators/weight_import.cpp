#include "operators/weight_import.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "data/safetensors.hpp"
#include "operators/stored_network.hpp"
#include "operators/torch_script.hpp"

namespace opshap::operators {

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

}  // namespace opshap::operators
