#pragma once

#include <memory>
#include <string>
#include <vector>

#include "operators/network.hpp"

namespace opshap::operators {

#define OPERATOR(name) std::unique_ptr<Network> name(const OperatorConfig& config, const torch::TensorOptions& options);
#include "operators/registry.def"
#undef OPERATOR

std::vector<std::string> names();

/// The network of config.model, parameters not initialised. Throws InvalidArgument, naming the nearest one, when there is no such model.
std::unique_ptr<Network> make(const OperatorConfig& config, const torch::TensorOptions& options);

}  // namespace opshap::operators
