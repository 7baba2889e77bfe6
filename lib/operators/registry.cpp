#include "operators/registry.hpp"

#include "core/names.hpp"

namespace opshap::operators {

std::vector<std::string> names() {
#define OPERATOR(name) #name,
  return {
#include "operators/registry.def"
  };
#undef OPERATOR
}

std::unique_ptr<Network> make(const OperatorConfig& config, const torch::TensorOptions& options) {
#define OPERATOR(name) \
  if (config.model == #name) return name(config, options);
#include "operators/registry.def"
#undef OPERATOR
  throw_unknown_name("operator", config.model, names());
}

}  // namespace opshap::operators
