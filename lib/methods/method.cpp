#include "methods/method.hpp"

#include "core/error.hpp"
#include "core/names.hpp"
#include "estimators/registry.hpp"
#include "methods/of_peer.hpp"

namespace opshap::methods {

bool Method::uses_budget() const {
  const std::optional<Guarantees> promised = guarantees();
  return promised && promised->uses_budget();
}

std::unique_ptr<Method> resolve(std::string_view name, const Kinds& kinds) {
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    const std::string_view word = name.substr(0, colon), argument = name.substr(colon + 1);
    if (word == "peer") return of_peer(std::filesystem::path(argument));
    const auto kind = kinds.find(word);
    require(kind != kinds.end(), "method: ", name,
            " (methods of this kind are not known here). Give the name of an estimator, or ",
            kinds.empty() ? "" : message(kinds.begin()->first, ":FILE, or "), "peer:FOLDER.");
    return kind->second(std::string(argument));
  }
  return name == uniform()->name() ? uniform() : of_estimator(estimators::find(name));
}

}  // namespace opshap::methods
