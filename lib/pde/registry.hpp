#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pde/problem.hpp"

namespace opshap::pde {

/// Every problem with its default parameters, in the order of registry.def.
const std::vector<std::unique_ptr<Problem>>& all();
std::vector<std::string> names();
/// Throws InvalidArgument naming the nearest one when there is no such problem.
const Problem& find(std::string_view name);

}  // namespace opshap::pde
