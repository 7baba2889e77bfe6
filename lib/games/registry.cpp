#include "games/registry.hpp"

#include "core/names.hpp"
#include "games/additive_game.hpp"
#include "games/table_game.hpp"
#include "games/unanimity_sum.hpp"

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

}  // namespace opshap::games
