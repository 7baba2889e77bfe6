#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "core/game.hpp"

namespace opshap::games {

/// The gradients of a game beside its values, for games that are not made as differentiable ones. Refers to the game.
class DiagonalExtension final : public DifferentiableGame {
 public:
  /// `gradient(t, slopes)` fills ∂f/∂a_i(t, …, t), [n].
  DiagonalExtension(const Game& game, std::function<void(double t, std::span<double> slopes)> gradient)
      : game_(game), gradient_(std::move(gradient)) {}

  int players() const override { return game_.players(); }
  std::vector<double> evaluate(const Coalitions& coalitions) const override { return game_.values(coalitions); }
  std::vector<double> diagonal_gradients(std::span<const double> nodes) const override {
    const auto n = static_cast<std::size_t>(players());
    std::vector<double> gradients(nodes.size() * n, 0.0);
    for (std::size_t node = 0; node < nodes.size(); ++node)
      gradient_(nodes[node], std::span(gradients).subspan(node * n, n));
    return gradients;
  }

 private:
  const Game& game_;
  std::function<void(double, std::span<double>)> gradient_;
};

}  // namespace opshap::games
