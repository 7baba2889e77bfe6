#include "methods/method.hpp"

#include "core/error.hpp"
#include "core/names.hpp"
#include "estimators/registry.hpp"

namespace opshap::methods {

bool Method::uses_budget() const {
  const std::optional<Guarantees> promised = guarantees();
  return promised && promised->uses_budget();
}

std::unique_ptr<Method> resolve(std::string_view name, const Kinds& kinds) {
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    const auto kind = kinds.find(name.substr(0, colon));
    require(kind != kinds.end(), "method: ", name,
            " (methods of this kind are not known here). Give the name of an estimator",
            kinds.empty() ? "" : message(", or ", kinds.begin()->first, ":FILE"), ".");
    return kind->second(std::string(name.substr(colon + 1)));
  }
  return name == uniform()->name() ? uniform() : of_estimator(estimators::find(name));
}

}  // namespace opshap::methods
