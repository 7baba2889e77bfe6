#include "operators/grid_padding.hpp"

#include <nlohmann/json.hpp>

#include "core/error.hpp"

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

using torch::Tensor;

engines::AxisFractions read_padding(ConfigReader& reader, const std::string& key, std::size_t axes) {
  constexpr double most = 4;
  std::vector<double> found = reader.fractions(key, {0}, most);
  if (found.size() > 1 && found.size() != axes)
    reader.reject(message(key, "=", padding_json(found).dump()),
                  message("needs one number, or one for each of the ", axes, axes == 1 ? " axis" : " axes"));
  return found;
}

nlohmann::ordered_json padding_json(const engines::AxisFractions& padding) {
  if (padding.all().size() == 1) return padding.all().front();
  return padding.all();
}

GridPadding::GridPadding(const Domain& domain, const engines::AxisFractions& fraction, bool both_sides)
    : axes_(domain.axes()),
      grid_(domain.shape(), fraction, both_sides),
      shape_(domain.shape().begin(), domain.shape().end()) {
  for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
    const std::size_t of_grid = axis + 2 - shape_.size();
    padded_.push_back(grid_.padded(of_grid));
    before_.push_back(grid_.before(of_grid));
    lengths_.push_back(fraction.at(axis) * (both_sides ? 2 : 1));
  }
}

Box GridPadding::inside() const {
  if (shape_.size() == 1) return {.first_line = 0, .lines = 1, .first = before_[0], .points = shape_[0]};
  return {.first_line = before_[0], .lines = shape_[0], .first = before_[1], .points = shape_[1]};
}

Box GridPadding::whole() const {
  return {.first_line = 0, .lines = shape_.size() == 1 ? 1 : padded_[0], .first = 0, .points = padded_.back()};
}

Box GridPadding::one(std::int64_t point) const {
  const std::int64_t place = padded_point(point);
  return {.first_line = place / padded_.back(), .lines = 1, .first = place % padded_.back(), .points = 1};
}

Tensor GridPadding::pad(const Tensor& x) const {
  if (none()) return x;
  std::vector<std::int64_t> amounts = {0, 0, 0, 0};
  for (std::size_t axis = shape_.size(); axis-- > 0;)
    amounts.insert(amounts.end(), {before_[axis], padded_[axis] - shape_[axis] - before_[axis]});
  std::vector<std::int64_t> field = shape_;
  field.insert(field.end(), {x.size(1), x.size(2)});
  return torch::constant_pad_nd(x.view(field), amounts).view({padded_points(), x.size(1), x.size(2)});
}

Tensor GridPadding::crop(const Tensor& x) const {
  if (none()) return x;
  Tensor cropped = shape_.size() == 1 ? x : x.view({padded_[0], padded_[1], x.size(1), x.size(2)});
  for (std::size_t axis = 0; axis < shape_.size(); ++axis)
    cropped = cropped.narrow(static_cast<std::int64_t>(axis), before_[axis], shape_[axis]);
  return cropped.reshape({points(), x.size(1), x.size(2)});
}

std::vector<AxisQuadrature> GridPadding::volume_quadratures() const {
  std::vector<AxisQuadrature> rules;
  for (std::size_t axis = 0; axis < shape_.size(); ++axis)
    rules.push_back(volume_quadrature(
        axes_[axis],
        {.before = before_[axis], .behind = padded_[axis] - shape_[axis] - before_[axis], .length = lengths_[axis]}));
  return rules;
}

}  // namespace opshap::operators
