#include "operators/registry.hpp"

#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/names.hpp"
#include "operators/config_reader.hpp"
#include "operators/weights.hpp"

namespace opshap::operators {

#define OPERATOR(name, summary) std::unique_ptr<Architecture> name();
#include "operators/registry.def"
#undef OPERATOR

std::vector<std::string> names() {
#define OPERATOR(name, summary) #name,
  return {
#include "operators/registry.def"
  };
#undef OPERATOR
}

std::unique_ptr<Architecture> architecture(const std::string& wanted) {
#define OPERATOR(name, summary) \
  if (wanted == #name) return name();
#include "operators/registry.def"
#undef OPERATOR
  refuse_foreign_name(wanted);
  throw_unknown_name("operator", wanted, names());
}

std::unique_ptr<Architecture> architecture_of(const networks::NetworkConfig& config) {
  return architecture(ConfigReader(config).text("model", "fno"));
}

std::unique_ptr<Network> make_network(const networks::NetworkConfig& config, const torch::TensorOptions& options) {
  return architecture_of(config)->make(config, options);
}

networks::NetworkConfig fitted(const networks::NetworkSettings& settings, networks::NetworkSpaces spaces) {
  return architecture(settings.model)->fitted(settings, spaces);
}

}  // namespace opshap::operators
