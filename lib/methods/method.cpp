#include "methods/method.hpp"

#include "estimators/registry.hpp"

namespace opshap::methods {

bool Method::uses_budget() const {
  const std::optional<Guarantees> promised = guarantees();
  return promised && promised->uses_budget();
}

std::unique_ptr<Method> find(std::string_view name) {
  return name == uniform()->name() ? uniform() : of_estimator(estimators::find(name));
}

}  // namespace opshap::methods
