#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/domain.hpp"
#include "core/operator.hpp"
#include "methods/method.hpp"

namespace opshap::cli {

/// The trained explainer of a weight file as a method; in opshap-networks only. `name` tells it apart from others.
/// Throws as load_explainer().
std::unique_ptr<methods::Method> trained_explainer(const std::filesystem::path& weights, const Operator& explained,
                                                   const std::string& device,
                                                   std::optional<std::string> name = std::nullopt);

/// Throws InvalidArgument, starting with `who`, unless the centre is the only point to explain: that is what explainers
/// are trained for.
void require_centre(const std::string& who, const std::filesystem::path& weights, const Domain& domain,
                    const std::vector<std::int64_t>& queries);

}  // namespace opshap::cli
