#pragma once

#include <vector>

#include "core/game.hpp"

namespace opshap {

/// A game without its slopes and closures: a black box. Refers to the game.
class ValuesAlone final : public Game {
 public:
  explicit ValuesAlone(const Game& game) : game_(game) {}
  int players() const override { return game_.players(); }

 private:
  std::vector<double> evaluate(const Coalitions& coalitions) const override { return game_.values(coalitions); }

  const Game& game_;
};

}  // namespace opshap
