#include "games/masked_operator.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace opshap::games {

MaskedOperator::MaskedOperator(std::string_view who, const Operator& op, FieldBatch input, FieldBatch baseline,
                               Readout readout)
    : operator_(op), input_(std::move(input)), baseline_(std::move(baseline)), readout_(std::move(readout)) {
  require(input_.batch == 1 && baseline_.batch == 1, who, ": batch=", input_.batch, " and ", baseline_.batch,
          " (a game explains one input against one baseline). Take one sample of each.");
  require(input_.domain == baseline_.domain && input_.channels == baseline_.channels, who,
          ": baseline (its domain or channels are not those of the input). Give a baseline of the input's shape.");
  require(input_.domain.dimension() == op.dimension() && input_.channels == op.input_channels(), who,
          ": channels=", input_.channels, ", axes=", input_.domain.dimension(), " (", op.describe(), " takes ",
          op.input_channels(), " channels on ", op.dimension(), " axes). Give a field it takes.");
  require_readout(op, input_.domain, readout_);
  require_finite(input_, std::string(who).append(": input").c_str());
  require_finite(baseline_, std::string(who).append(": baseline").c_str());
}

template <typename Work>
void MaskedOperator::for_each_batch(std::size_t count, int channels, const Work& work) const {
  const auto preferred = static_cast<std::size_t>(std::max<std::int64_t>(1, operator_.preferred_batch(input_.domain)));
  FieldBatch fields = FieldBatch::zeros(input_.domain, 0, channels);
  for (std::size_t first = 0; first < count; first += preferred) {
    fields.batch = static_cast<std::int64_t>(std::min(preferred, count - first));
    fields.values.resize(static_cast<std::size_t>(fields.batch) * fields.field_size());
    work(first, fields);
  }
}

MaskedOperator::Weigh MaskedOperator::constant(std::span<const double> nodes) {
  return [nodes](std::size_t index, std::span<double> weights) { std::ranges::fill(weights, nodes[index]); };
}

void MaskedOperator::mix(std::span<const double> weights, std::span<double> field) const {
  const std::size_t points = weights.size();
  for (std::size_t channel = 0; channel < field.size(); channel += points) {
    for (std::size_t point = 0; point < points; ++point) {
      // Not u_b + w·h: this is exactly u for w = 1.
      field[channel + point] =
          (1 - weights[point]) * baseline_.values[channel + point] + weights[point] * input_.values[channel + point];
    }
  }
}

std::vector<double> MaskedOperator::values(std::size_t count, const Weigh& weigh) const {
  std::vector<double> values, weights(static_cast<std::size_t>(input_.domain.points()));
  values.reserve(count);
  for_each_batch(count, input_.channels, [&](std::size_t first, FieldBatch& fields) {
    for (std::int64_t index = 0; index < fields.batch; ++index) {
      weigh(first + static_cast<std::size_t>(index), weights);
      mix(weights, fields.field(index));
    }
    const std::vector<double> found = operator_.values_at(fields, readout_);
    values.insert(values.end(), found.begin(), found.end());
  });
  return values;
}

void MaskedOperator::slopes(std::size_t count, const Weigh& weigh, const UseSlopes& use) const {
  std::vector<double> weights(static_cast<std::size_t>(input_.domain.points())), slopes(weights.size());
  for_each_batch(count, input_.channels, [&](std::size_t first, FieldBatch& fields) {
    for (std::int64_t index = 0; index < fields.batch; ++index) {
      weigh(first + static_cast<std::size_t>(index), weights);
      mix(weights, fields.field(index));
    }
    const FieldBatch gradients = operator_.gradient_at(fields, readout_).gradient;
    for (std::int64_t index = 0; index < fields.batch; ++index) {
      const auto gradient = gradients.field(index);
      std::ranges::fill(slopes, 0.0);
      for (std::size_t i = 0; i < gradient.size(); ++i)
        slopes[i % slopes.size()] += gradient[i] * (input_.values[i] - baseline_.values[i]);
      use(first + static_cast<std::size_t>(index), slopes);
    }
  });
}

void MaskedOperator::mean_field_slopes(std::size_t count, const Weigh& weigh, const UseSlopes& use) const {
  for_each_batch(count, 1, [&](std::size_t first, FieldBatch& inclusion) {
    for (std::int64_t index = 0; index < inclusion.batch; ++index)
      weigh(first + static_cast<std::size_t>(index), inclusion.field(index));
    const FieldBatch slopes = operator_.mean_field_at(input_, baseline_, inclusion, readout_).gradient;
    for (std::int64_t index = 0; index < inclusion.batch; ++index)
      use(first + static_cast<std::size_t>(index), slopes.field(index));
  });
}

}  // namespace opshap::games
