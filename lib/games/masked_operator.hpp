#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/field.hpp"
#include "core/operator.hpp"

namespace opshap::games {

/// f(w) = G(u_b + w ⊙ (u − u_b))(x*) of a field of weights w: what the games of an operator are made of. All channels
/// of a point have its weight.
///
/// f(0) and f(1) are the operator's answers to exactly the baseline and the input. Memory: one batch of
/// Operator::preferred_batch fields, however many are asked for.
class MaskedOperator {
 public:
  /// `input` and `baseline` are batches of one on the same grid; the operator is referred to. `who` starts the
  /// messages. Throws InvalidArgument when shapes or query do not fit, DataError when a field has a value that is not
  /// finite.
  MaskedOperator(std::string_view who, const Operator& op, FieldBatch input, FieldBatch baseline, Readout readout);

  const Domain& domain() const { return input_.domain; }
  const FieldBatch& input() const { return input_; }
  const FieldBatch& baseline() const { return baseline_; }
  bool has_mean_field() const { return operator_.has_mean_field(); }

  /// Writes all points of the field of weights with that number.
  using Weigh = std::function<void(std::size_t index, std::span<double> weights)>;
  /// Takes the derivatives by the weight of each point, at the field of weights with that number.
  using UseSlopes = std::function<void(std::size_t index, std::span<const double> slopes)>;

  /// f of `count` fields of weights.
  std::vector<double> values(std::size_t count, const Weigh& weigh) const;

  /// ∂f/∂w at `count` fields of weights: one reverse pass for each.
  void slopes(std::size_t count, const Weigh& weigh, const UseSlopes& use) const;

  /// ∂F/∂w of the operator's mean-field closure F, Operator::mean_field_at, at `count` fields of weights. Throws
  /// InvalidArgument when it has none.
  void mean_field_slopes(std::size_t count, const Weigh& weigh, const UseSlopes& use) const;

  /// The constant fields of weights with these values.
  static Weigh constant(std::span<const double> nodes);

 private:
  /// The field under these weights.
  void mix(std::span<const double> weights, std::span<double> field) const;
  /// Calls work(first, fields) for batches of the size the operator likes; `fields` is one buffer, used again for each.
  template <typename Work>
  void for_each_batch(std::size_t count, int channels, const Work& work) const;

  const Operator& operator_;
  FieldBatch input_, baseline_;
  Readout readout_;
};

}  // namespace opshap::games
