#pragma once

#include <memory>
#include <string>
#include <vector>

#include "networks/network_config.hpp"
#include "operators/network.hpp"

namespace opshap::operators {

/// One kind of neural operator: what can be done without a network in hand.
///
/// Adding one: a file in lib/operators with its configuration, its layers and its engines, and a line in registry.def.
/// Properties, benchmarks and `opshap list` find it there.
class Architecture {
 public:
  virtual ~Architecture() = default;

  /// The dimensions of the grids that its networks work on.
  virtual std::vector<int> dimensions() const = 0;
  /// Whether its networks work on the points of any domain, meshes among them, and not on grids alone.
  virtual bool on_meshes() const { return false; }
  /// Whether its CONFIG has the key of an InverseShift.
  virtual bool shifts_spectra() const { return false; }
  /// The network of a CONFIG with parameters that are zero. Throws DataError for a key that is unknown and for a value
  /// that cannot work, naming it. An absent key has the default of the reference's constructor.
  virtual std::unique_ptr<Network> make(const networks::NetworkConfig& config,
                                        const torch::TensorOptions& options) const = 0;
  /// The CONFIG for these spaces of a network with a profile's settings. Throws InvalidArgument for a setting that is
  /// unknown or cannot work, naming it.
  virtual networks::NetworkConfig fitted(const networks::NetworkSettings& settings,
                                         networks::NetworkSpaces spaces) const = 0;
  /// The name that a tensor of a weight file has among the parameters of the network with this CONFIG. An architecture
  /// knows the names of older versions of its reference, and further names for one tensor. Throws DataError for a name
  /// of a version whose networks compute something else.
  virtual std::string parameter_name(const std::string& stored, const networks::NetworkConfig& /*config*/) const {
    return stored;
  }
  /// The paper's settings: those of profile `paper`.
  virtual networks::NetworkSettings of_the_paper() const = 0;
};

}  // namespace opshap::operators
