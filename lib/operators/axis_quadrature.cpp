#include "operators/axis_quadrature.hpp"

#include <cstddef>

namespace opshap::operators {

namespace {

/// The lengths of the parts of [begin, end] that belong to these places. Neighbours share what is between them. Where a
/// place lies beyond the next one, the stretch in between counts negatively, as in an integral.
std::vector<double> parts(const std::vector<double>& places, double begin, double end) {
  std::vector<double> lengths;
  double border = begin;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double next = i + 1 < places.size() ? (places[i] + places[i + 1]) / 2 : end;
    lengths.push_back(next - border);
    border = next;
  }
  return lengths;
}

}  // namespace

AxisQuadrature volume_quadrature(const Axis& axis, const AxisPadding& padding) {
  const bool padded = padding.before + padding.behind > 0;
  const auto points = static_cast<std::size_t>(axis.points);
  AxisQuadrature rule{.weights = {}, .period = axis.intervals * (padded ? 1 + padding.length : 1)};
  if (axis.periodic && !padded) {
    rule.weights.assign(points, 1);
    return rule;
  }
  // Places from the beginning of the axis on, once around: its points, the padding behind them, the padding before.
  std::vector<double> inside, outside;
  for (std::size_t index = 0; index < points; ++index) inside.push_back(axis.offset + static_cast<double>(index));
  for (std::int64_t step = 1; step <= padding.behind; ++step)
    outside.push_back(inside.back() + static_cast<double>(step));
  for (std::int64_t step = padding.before; step >= 1; --step)
    outside.push_back(rule.period + axis.offset - static_cast<double>(step));
  const std::vector<double> of_field = parts(inside, 0, axis.intervals),
                            of_padding = parts(outside, axis.intervals, rule.period);
  rule.weights.assign(of_padding.end() - padding.before, of_padding.end());
  rule.weights.insert(rule.weights.end(), of_field.begin(), of_field.end());
  rule.weights.insert(rule.weights.end(), of_padding.begin(), of_padding.end() - padding.before);
  return rule;
}

}  // namespace opshap::operators
