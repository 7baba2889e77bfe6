#include "pde/registry.hpp"

#include "core/names.hpp"

namespace opshap::pde {

const std::vector<std::unique_ptr<Pde>>& all() {
  static const std::vector<std::unique_ptr<Pde>> pde = [] {
    std::vector<std::unique_ptr<Pde>> made;
#define PDE(name) made.push_back(name());
#include "pde/registry.def"
#undef PDE
    return made;
  }();
  return pde;
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& pde : all()) names.emplace_back(pde->name());
  return names;
}

const Pde& find(std::string_view name) {
  for (const auto& pde : all()) {
    if (pde->name() == name) return *pde;
  }
  throw_unknown_name("pde", name, names());
}

}  // namespace opshap::pde
