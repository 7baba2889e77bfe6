#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engines/fno_engine.hpp"

namespace opshap::engines {

/// Derivatives of an engine's games by the weight of each point, by a reverse pass of the same structure: activations
/// from tables, transforms by orbits, the last block at the queries alone.
///
/// Immutable after construction; refers to the engine. Memory of a call: some twelve states of every point, twice for
/// the mean field.
class FnoSlopes {
 public:
  explicit FnoSlopes(const FnoEngine& engine);
  ~FnoSlopes();

  /// ∂f/∂w_p at a field of weights w, [points], of f(w) = G(u_b + w ⊙ (u − u_b))(x*): [points]. Cost: about three
  /// coalitions.
  void of_input(const FnoEngine::Subject& subject, const FnoEngine::Heads& heads, std::span<const double> weights,
                std::span<double> slopes) const;
  /// The same of the mean-field closure, Operator::mean_field_at. Cost: about five coalitions where all weights are
  /// the same, and six where they differ. At w = 1_S nothing flows back through the states that the mask leaves out, so
  /// it costs about four.
  void of_mean_field(const FnoEngine::Subject& subject, const FnoEngine::Heads& heads, std::span<const double> weights,
                     std::span<double> slopes) const;

 private:
  class Pass;

  auto pass() const;
  /// Transposed weights.
  struct Block {
    AlignedFloats skip, mlp0, mlp1, spectral;
  };

  const FnoEngine& engine_;
  FnoEngine::Frequencies frequencies_;
  std::vector<Block> blocks_;
  AlignedFloats lifting0_, lifting1_;
  mutable Spares<Pass> passes_;
};

}  // namespace opshap::engines
