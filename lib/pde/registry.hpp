#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pde/pde.hpp"

namespace opshap::pde {

#define PDE(name) std::unique_ptr<Pde> name();
#include "pde/registry.def"
#undef PDE

/// Every PDE with its default parameters, in the order of registry.def.
const std::vector<std::unique_ptr<Pde>>& all();
std::vector<std::string> names();
/// Throws InvalidArgument naming the nearest one when there is no such PDE.
const Pde& find(std::string_view name);

}  // namespace opshap::pde
