#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::games {

#define GAME(name, ...) std::unique_ptr<Game> random_##name(int players, Rng& rng);
#define OPERATOR_GAME(name, summary)
#include "games/registry.def"
#undef GAME
#undef OPERATOR_GAME

/// What becomes of the Shapley values of fixed regions when the players are cells that get finer and finer.
enum class Limit {
  not_refined,     ///< the players are not cells of anything
  aumann_shapley,  ///< they converge to the Aumann–Shapley value, the integral of the gradient along the diagonal
  not_diagonal,    ///< they converge, but the diagonal formula fails: no gradient there, or it misses a jump
  atom,            ///< one cell keeps a value of its own however small it gets: there is no density
  depends_on_refinement,  ///< two ways to refine have two limits
  unbounded,              ///< they grow without bound
};

/// What is known of every random instance of a kind.
struct Properties {
  Limit limit = Limit::not_refined;
  int interaction_order = 0;  ///< no interaction involves more players than this; 0 for no such bound
};

/// A kind of game.
struct Kind {
  std::string_view name;
  std::string_view summary;  ///< one line for `opshap list games`
  std::unique_ptr<Game> (*random)(int players,
                                  Rng& rng) = nullptr;  ///< a random instance; nullptr for games that need an operator
  Properties properties = {};
};

/// Every kind of game in registry.def.
const std::vector<Kind>& all();

/// Throws InvalidArgument naming the nearest one.
const Kind& find(std::string_view name);

std::vector<std::string> names();

/// What can be had of a kind's instances without sampling.
struct Known {
  bool shapley = false;         ///< a SolvedGame
  bool aumann_shapley = false;  ///< by SolvedGame::aumann_shapley_values, or as the integral of the gradients
  bool gradients = false;       ///< an Extension
};

/// Of a small random instance; nothing for games that need an operator.
Known known_of(const Kind& kind);

}  // namespace opshap::games
