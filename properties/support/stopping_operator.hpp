#pragma once

#include "core/error.hpp"
#include "core/operator.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {

/// A WeightedMeanOperator that throws Stopped after a number of calls, as a signal would end the work at some point.
class StoppingOperator final : public WeightedMeanOperator {
 public:
  explicit StoppingOperator(int calls) : WeightedMeanOperator(0.5), left_(calls) {}
  FieldBatch apply(const FieldBatch& inputs) const override {
    require<Stopped>(left_-- > 0, "operator: calls=0 (planted). None.");
    return WeightedMeanOperator::apply(inputs);
  }
  bool has_mean_field() const override { return false; }
  /// Calls that it still answers.
  int left() const { return left_; }

 private:
  mutable int left_;
};

}  // namespace opshap
