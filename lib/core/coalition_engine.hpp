#pragma once

#include <cstddef>
#include <span>

#include "core/coalitions.hpp"

namespace opshap {

/// G(u_b + 1_S (u − u_b))(x*) for many S, one input u, baseline u_b, partition into players and query x*, by an
/// operator that knows its own structure.
///
/// Immutable; may be called from several threads at once. Does not refer to the operator's inputs.
class CoalitionEngine {
 public:
  virtual ~CoalitionEngine() = default;
  /// values[i] = v(S) for row first + i of the coalitions. On the calling thread, or a device in its turn. An engine of
  /// the CPU gives the same bits whatever else is in the batch; one of a device the same values to rounding.
  virtual void values(const Coalitions& coalitions, std::size_t first, std::span<double> values) const = 0;
  /// Whether it has the slopes below; where it has not, the operator's own reverse passes have them. They throw
  /// std::logic_error then.
  virtual bool has_slopes() const { return false; }
  /// ∂f/∂w_p at the constant w = t of f(w) = G(u_b + w ⊙ (u − u_b))(x*), for each point p: one reverse pass, on the
  /// calling thread.
  virtual void diagonal_slopes(double t, std::span<double> slopes) const;
  /// The same of the operator's mean-field closure (Operator::mean_field_at).
  virtual void mean_field_slopes(double t, std::span<double> slopes) const;
  /// The closure's slopes at w = 1_S for a row of the coalitions.
  virtual void mean_field_slopes(const Coalitions& coalitions, std::size_t row, std::span<double> slopes) const;
  /// How many coalitions it likes to see in one call of a thread.
  virtual std::size_t batch() const = 0;
};

}  // namespace opshap
