#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/field.hpp"
#include "core/operator.hpp"

namespace opshap {

/// f(w) = G(u_b + w ⊙ (u − u_b))(x*) of a field of weights w: what the games of an operator are made of. All channels of a point have its weight.
///
/// f(0) and f(1) are the operator's answers to exactly the baseline and the input. Memory: one batch of Operator::preferred_batch fields, however many are asked for.
class MaskedOperator {
 public:
  /// `input` and `baseline` are batches of one on the same grid; the operator is referred to. `who` starts the messages.
  /// Throws InvalidArgument when shapes or query do not fit, DataError when a field has a value that is not finite.
  MaskedOperator(std::string_view who, const Operator& op, FieldBatch input, FieldBatch baseline, Query query);

  const Domain& domain() const { return input_.domain; }

  /// f of `count` fields of weights; weigh(index, w) writes all points of the one with that number.
  std::vector<double> values(std::size_t count,
                             const std::function<void(std::size_t index, std::span<double> w)>& weigh) const;

  /// Gives use(index, slopes) ∂f/∂w [points] at the constant w = t, for each t: one reverse pass a node.
  void diagonal_slopes(std::span<const double> nodes,
                       const std::function<void(std::size_t index, std::span<const double> slopes)>& use) const;

 private:
  template <typename Work>
  void for_each_batch(std::size_t count, const Work& work) const;

  const Operator& operator_;
  FieldBatch input_, baseline_;
  Query query_;
};

}  // namespace opshap
