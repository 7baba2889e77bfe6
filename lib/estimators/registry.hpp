#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/estimator.hpp"

namespace opshap::estimators {

/// One of each in registry.def.
const std::vector<std::unique_ptr<Estimator>>& all();

/// Throws InvalidArgument naming the nearest one.
const Estimator& find(std::string_view name);

std::vector<std::string> names();

}  // namespace opshap::estimators
