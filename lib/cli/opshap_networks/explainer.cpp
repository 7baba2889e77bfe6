#include "cli/opshap_networks/explainer.hpp"

#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "explainers/operator_shap.hpp"

namespace opshap::cli {

std::unique_ptr<methods::Method> trained_explainer(const std::filesystem::path& weights, const Operator& explained,
                                                   const std::string& device, std::optional<std::string> name) {
  return methods::of_explainer(explainers::load_explainer(weights, explained, device), std::move(name),
                               xxh64(read_file(weights)));
}

void require_centre(const std::string& who, const std::filesystem::path& weights, const Domain& domain,
                    const std::vector<std::int64_t>& queries) {
  require(queries == std::vector<std::int64_t>{domain.centre()}, who, ": --query (", weights.filename().string(),
          " was trained for the centre of the domain). Ask for the centre, or use other methods.");
}

}  // namespace opshap::cli
