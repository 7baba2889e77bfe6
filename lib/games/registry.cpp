#include "games/registry.hpp"

#include "games/additive_game.hpp"
#include "games/table_game.hpp"
#include "games/unanimity_sum.hpp"

namespace opshap::games {

const std::vector<Kind>& all() {
  static const std::vector<Kind> kinds = {
#define GAME(name, summary) {#name, summary, random_##name},
#define OPERATOR_GAME(name, summary) {#name, summary, nullptr},
#include "games/registry.def"
#undef GAME
#undef OPERATOR_GAME
  };
  return kinds;
}

}  // namespace opshap::games
