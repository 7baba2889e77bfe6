#include "games/registry.hpp"

#include "core/names.hpp"

namespace opshap::games {

const std::vector<Kind>& all() {
  static const std::vector<Kind> kinds = {
#define GAME(name, summary, ...) {#name, summary, random_##name __VA_OPT__(, ) __VA_ARGS__},
#define OPERATOR_GAME(name, summary) {#name, summary, nullptr},
#include "games/registry.def"
#undef GAME
#undef OPERATOR_GAME
  };
  return kinds;
}

const Kind& find(std::string_view name) {
  for (const Kind& kind : all()) {
    if (kind.name == name) return kind;
  }
  throw_unknown_name("game", name, names());
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Kind& kind : all()) names.emplace_back(kind.name);
  return names;
}

Known known_of(const Kind& kind) {
  if (kind.random == nullptr) return {};
  Rng rng(1, kind.name);
  const auto game = kind.random(3, rng);
  const auto* solved = dynamic_cast<const SolvedGame*>(game.get());
  const bool gradients = game->extension() != nullptr;
  const bool closed_form = solved != nullptr && solved->aumann_shapley_values().has_value();
  return {.shapley = solved != nullptr,
          .aumann_shapley = closed_form || (gradients && kind.properties.limit == Limit::aumann_shapley),
          .gradients = gradients};
}

}  // namespace opshap::games
