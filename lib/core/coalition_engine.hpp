#pragma once

#include <cstddef>
#include <span>

#include "core/coalitions.hpp"

namespace opshap {

/// G(u_b + 1_S (u − u_b))(x*) for many S, one input u, baseline u_b and query x*, by an operator that knows its own structure.
///
/// Immutable; may be called from several threads at once. Does not refer to the operator's inputs.
class CoalitionEngine {
 public:
  virtual ~CoalitionEngine() = default;
  /// values[i] = v(S) for row first + i of the coalitions; S shows the points p with player_of[p] in S. On the calling thread, or a device in its
  /// turn. An engine of the CPU gives the same bits whatever else is in the batch; one of a device the same values to rounding.
  virtual void values(std::span<const int> player_of, const Coalitions& coalitions, std::size_t first,
                      std::span<double> values) const = 0;
  /// How many coalitions it likes to see in one call of a thread.
  virtual std::size_t batch() const = 0;
};

}  // namespace opshap
