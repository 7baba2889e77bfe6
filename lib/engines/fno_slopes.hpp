#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engines/fno_engine.hpp"

namespace opshap::engines {

/// Derivatives of an engine's games by the weight of each point, by a reverse pass of the same structure: activations
/// from tables, transforms by orbits, the last block at the queries alone.
///
/// Fields of weights are computed in groups of four, which share the products of the spectral layers: on grids of up to
/// 128 points a group costs about half of what its fields cost one by one. A field's slopes have the same bits whatever
/// else is asked for. Immutable after construction; refers to the engine. Memory of a call: some twelve states of every
/// point for each field of a group, twice for the mean field.
class FnoSlopes {
 public:
  explicit FnoSlopes(const FnoEngine& engine);
  ~FnoSlopes();

  /// ∂f/∂w_p at fields of weights w, [B, points], of f(w) = G(u_b + w ⊙ (u − u_b))(x*): [B, points]. Cost of one: about
  /// three coalitions.
  void of_input(const FnoEngine::Subject& subject, const FnoEngine::Heads& heads, std::span<const double> weights,
                std::span<double> slopes) const;
  /// The same of the mean-field closure, Operator::mean_field_at. Cost of one: about five coalitions where all weights
  /// of a field are the same, and six where they differ. At w = 1_S nothing flows back through the states that the mask
  /// leaves out, so it costs about four.
  void of_mean_field(const FnoEngine::Subject& subject, const FnoEngine::Heads& heads, std::span<const double> weights,
                     std::span<double> slopes) const;

 private:
  class Pass;
  /// Fields that the kernel of the mixing computes at once.
  static constexpr Index most_fields = 4;

  /// Calls work(pass, weights, slopes) for one group of fields after the other.
  template <typename Work>
  void in_groups(std::span<const double> weights, std::span<double> slopes, const Work& work) const;
  void mean_field_of_group(Pass& pass, const FnoEngine::Subject& subject, const FnoEngine::Heads& heads,
                           std::span<const double> weights, std::span<double> slopes) const;
  void input_of_group(Pass& pass, const FnoEngine::Subject& subject, const FnoEngine::Heads& heads,
                      std::span<const double> weights, std::span<double> slopes) const;
  /// Transposed weights.
  struct Block {
    AlignedFloats skip, mlp0, mlp1, spectral;
  };

  const FnoEngine& engine_;
  const Index group_;  ///< fields of a group
  FnoEngine::Frequencies frequencies_;
  std::vector<Block> blocks_;
  AlignedFloats lifting0_, lifting1_;
  mutable Spares<Pass> passes_;
};

}  // namespace opshap::engines
