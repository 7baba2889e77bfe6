#pragma once

#include <memory>
#include <string>
#include <vector>

#include "networks/recipe.hpp"
#include "operators/config_reader.hpp"
#include "operators/network.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

/// An architecture with a class of networks, which are made from a Config.
template <typename Net, typename Config>
class ArchitectureOf : public Architecture {
 public:
  std::unique_ptr<Network> make(const networks::NetworkConfig& config,
                                const torch::TensorOptions& options) const final {
    return std::make_unique<Net>(Config::parse(config), options);
  }
  networks::NetworkConfig fitted(const networks::NetworkSettings& settings,
                                 networks::NetworkSpaces spaces) const final {
    ConfigReader reader(settings);
    return fit(reader, spaces);
  }

 private:
  /// As fitted(), from a reader of the settings.
  virtual Config fit(ConfigReader& reader, networks::NetworkSpaces spaces) const = 0;
};

std::vector<std::string> names();

/// Throws InvalidArgument, naming the nearest one, when there is no architecture of that name.
std::unique_ptr<Architecture> architecture(const std::string& name);
/// The architecture of a CONFIG's model. Throws as above, and DataError for a CONFIG that is no JSON object.
std::unique_ptr<Architecture> architecture_of(const networks::NetworkConfig& config);

}  // namespace opshap::operators
