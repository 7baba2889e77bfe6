#pragma once

#include <memory>
#include <string>
#include <vector>

#include "operators/network.hpp"

namespace opshap::operators {

std::vector<std::string> names();

/// Throws InvalidArgument, naming the nearest one, when there is no architecture of that name.
std::unique_ptr<Architecture> architecture(const std::string& name);
/// The architecture of a CONFIG's model. Throws as above, and DataError for a CONFIG that is no JSON object.
std::unique_ptr<Architecture> architecture_of(const networks::NetworkConfig& config);

}  // namespace opshap::operators
