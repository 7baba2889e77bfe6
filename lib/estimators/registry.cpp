#include "estimators/registry.hpp"

#include "core/names.hpp"

namespace opshap::estimators {

#define ESTIMATOR(name) std::unique_ptr<Estimator> name();
#include "estimators/registry.def"
#undef ESTIMATOR

const std::vector<std::unique_ptr<Estimator>>& all() {
  static const std::vector<std::unique_ptr<Estimator>> estimators = [] {
    std::vector<std::unique_ptr<Estimator>> list;
#define ESTIMATOR(name) list.push_back(name());
#include "estimators/registry.def"
#undef ESTIMATOR
    return list;
  }();
  return estimators;
}

const Estimator& find(std::string_view name) {
  for (const auto& estimator : all()) {
    if (estimator->name() == name) return *estimator;
  }
  throw_unknown_name("estimator", name, names());
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& estimator : all()) names.emplace_back(estimator->name());
  return names;
}

}  // namespace opshap::estimators
