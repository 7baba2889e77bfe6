#pragma once

#include <string>

#include "core/error.hpp"
#include "core/operator.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {

/// A WeightedMeanOperator that throws Stopped after a number of calls, as a signal would end the work at some point.
class StoppingOperator final : public Operator {
 public:
  explicit StoppingOperator(int calls) : left_(calls) {}
  std::string describe() const override { return inner_.describe(); }
  int dimension() const override { return 1; }
  int input_channels() const override { return 1; }
  int output_channels() const override { return 1; }
  FieldBatch apply(const FieldBatch& inputs) const override {
    require<Stopped>(left_-- > 0, "operator: calls=0 (planted). None.");
    return inner_.apply(inputs);
  }
  Gradient gradient_at(const FieldBatch& inputs, const Readout& readout) const override {
    return inner_.gradient_at(inputs, readout);
  }

 private:
  WeightedMeanOperator inner_{0.5};
  mutable int left_;
};

}  // namespace opshap
