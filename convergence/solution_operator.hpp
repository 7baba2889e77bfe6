#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/operator.hpp"
#include "pde/problem.hpp"

namespace opshap {

/// The solution operator of a linear problem, without error: what a perfect backbone of it would be.
class SolutionOperator final : public Operator {
 public:
  explicit SolutionOperator(const pde::Problem& problem) : problem_(problem) {}

  std::string describe() const override { return message("solution of ", problem_.name()); }
  int dimension() const override { return 1; }
  int input_channels() const override { return 1; }
  int output_channels() const override { return 1; }

  FieldBatch apply(const FieldBatch& inputs) const override {
    FieldBatch outputs = inputs;
    for (std::int64_t index = 0; index < inputs.batch; ++index)
      std::ranges::copy(problem_.solve(inputs.one(index)).output.values, outputs.field(index).begin());
    return outputs;
  }

  /// The answers at the query to fields that are 1 at one point: the same for every input, since it is linear.
  Gradient gradient_at(const FieldBatch& inputs, const Readout& readout) const override {
    const auto points = inputs.domain.points();
    FieldBatch units = FieldBatch::zeros(inputs.domain, points, 1);
    for (std::int64_t y = 0; y < points; ++y) units.field(y)[static_cast<std::size_t>(y)] = 1;
    const std::vector<double> slopes = values_at(units, readout);
    Gradient result{.values = values_at(inputs, readout), .gradient = inputs};
    for (std::int64_t index = 0; index < inputs.batch; ++index)
      std::ranges::copy(slopes, result.gradient.field(index).begin());
    return result;
  }

 private:
  const pde::Problem& problem_;
};

}  // namespace opshap
