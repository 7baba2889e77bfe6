#include "pde/registry.hpp"

#include "core/names.hpp"

namespace opshap::pde {

#define PROBLEM(name) std::unique_ptr<Problem> name();
#include "pde/registry.def"
#undef PROBLEM

const std::vector<std::unique_ptr<Problem>>& all() {
  static const std::vector<std::unique_ptr<Problem>> problems = [] {
    std::vector<std::unique_ptr<Problem>> made;
#define PROBLEM(name) made.push_back(name());
#include "pde/registry.def"
#undef PROBLEM
    return made;
  }();
  return problems;
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& problem : all()) names.emplace_back(problem->name());
  return names;
}

const Problem& find(std::string_view name) {
  for (const auto& problem : all()) {
    if (problem->name() == name) return *problem;
  }
  throw_unknown_name("pde", name, names());
}

}  // namespace opshap::pde
