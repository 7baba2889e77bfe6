#include "operators/spectral_convolution.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <mutex>
#include <numbers>
#include <string>
#include <tuple>

#include "core/error.hpp"
#include "operators/weights.hpp"

namespace opshap::operators {

namespace {

using torch::Tensor;

/// The factors of one weight.
struct Factors {
  Tensor core, scales;  ///< of Tucker and of CP; not defined where there is none
  std::map<int, Tensor> of_axis;
};

/// Tucker: the core in the bases that the factors [size, rank] are. CP: Σ_r scale_r · Π factor[i, r]. Tensor train: the
/// matrix product of the factors [rank, size, next rank].
Tensor expanded(const Factors& factors) {
  Tensor whole = factors.core;
  if (whole.defined()) {
    // Σ_r whole[.., r, ..]·factor[i, r] at each axis.
    for (const auto& [axis, factor] : factors.of_axis)
      whole = torch::tensordot(whole, factor, {axis}, {1}).movedim(-1, axis);
    return whole;
  }
  if (factors.scales.defined()) {
    whole = factors.scales.view({1, -1});
    for (const auto& [axis, factor] : factors.of_axis)
      whole = (whole.unsqueeze(1) * factor.unsqueeze(0)).reshape({-1, factor.size(1)});
    whole = whole.sum(1);
  } else {
    whole = torch::ones({1, 1}, torch::kComplexDouble);
    for (const auto& [axis, factor] : factors.of_axis)
      whole = torch::mm(whole, factor.reshape({factor.size(0), -1})).reshape({-1, factor.size(2)});
  }
  std::vector<std::int64_t> shape;
  for (const auto& [axis, factor] : factors.of_axis) shape.push_back(factor.size(factors.scales.defined() ? 0 : 1));
  return whole.reshape(shape);
}

/// 2π·k·p/N with the product reduced modulo N first, so that the angle keeps all its digits.
double angle(std::int64_t frequency, std::int64_t point, double period) {
  return 2 * std::numbers::pi * std::fmod(static_cast<double>(frequency * point), period) / period;
}

AxisQuadrature rule_of(std::size_t axis, std::int64_t points, const std::vector<AxisQuadrature>& quadrature) {
  if (!quadrature.empty()) return quadrature[axis];
  return {.weights = std::vector<double>(static_cast<std::size_t>(points), 1), .period = static_cast<double>(points)};
}

}  // namespace

void expand_factors(data::Safetensors& content, const std::string& who) {
  const std::string of_axis = ".factors.factor_";
  std::map<std::string, Factors> weights;
  for (const auto& [name, stored] : content.tensors)
    if (const auto at = name.find(of_axis); at != std::string::npos) weights[name.substr(0, at)];
  for (auto& [name, factors] : weights) {
    const auto take = [&](const std::string& part) {
      const auto node = content.tensors.extract(name + part);
      if (node.empty()) return Tensor();
      return torch::view_as_complex(stored_values(node.mapped()).to(torch::kFloat64).contiguous());
    };
    try {
      factors.core = take(".core");
      factors.scales = take(".weights");
      for (int axis = 0; content.tensors.contains(name + of_axis + std::to_string(axis)); ++axis)
        factors.of_axis[axis] = take(of_axis + std::to_string(axis));
      content.tensors[name + ".tensor"] = stored_tensor(torch::view_as_real(expanded(factors)).to(torch::kFloat32));
    } catch (const std::exception&) {  // LibTorch's own, of several types
      throw DataError(message("weights: ", name, " (", who,
                              " has factors there that do not fit each other). Export the model again."));
    }
  }
}

FourierBasis::FourierBasis(const std::vector<std::int64_t>& shape, const std::vector<int>& modes,
                           const torch::TensorOptions& options, InverseShift shift,
                           const std::vector<AxisQuadrature>& quadrature)
    : shape_(shape) {
  const bool plane = shape.size() == 2;
  const std::int64_t size = shape.back();
  const auto [weights, period] = rule_of(shape.size() - 1, size, quadrature);
  columns_ = std::min<std::int64_t>(static_cast<std::int64_t>(period) / 2 + 1, modes.back() / 2 + 1);

  // Last axis. The row of Re c is 2c and that of Im c is 2c+1 on a line; in a plane all real parts come first, as the
  // first axis wants them.
  torch::Tensor forward = torch::zeros({2 * columns_, size}, torch::kFloat64),
                inverse = torch::zeros({size, 2 * columns_}, torch::kFloat64);
  auto to = forward.accessor<double, 2>();
  auto back = inverse.accessor<double, 2>();
  for (std::int64_t column = 0; column < columns_; ++column) {
    const std::int64_t re = plane ? column : 2 * column, im = plane ? column + columns_ : 2 * column + 1;
    // Of a real field, and of what the inverse uses.
    const bool real = column == 0 || static_cast<double>(2 * column) == period;
    for (std::int64_t point = 0; point < size; ++point) {
      const double theta = angle(column, point, period), weight = weights[static_cast<std::size_t>(point)];
      to[re][point] = weight * std::cos(theta) / period;
      back[point][re] = (real ? 1 : 2) * std::cos(theta);
      if (real) continue;
      to[im][point] = -weight * std::sin(theta) / period;
      back[point][im] = -2 * std::sin(theta);
    }
  }
  last_forward_ = forward.to(options);
  last_inverse_ = inverse.to(options);
  if (!plane) return;

  // First axis: complex, as real matrices between (point, re|im) and (row, re|im).
  const std::int64_t points = shape[0], wanted = modes[0];
  const auto [first_weights, first_period] = rule_of(0, points, quadrature);
  weighted_rows_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(first_period), 1, wanted);
  first_weight_row_ = (wanted - weighted_rows_) / 2;
  const std::int64_t zero = weighted_rows_ / 2;
  const bool shifted = shift == InverseShift::fftshift && quadrature.empty() && points > 1 && points % 2 == 1;
  const std::int64_t lower = shifted ? 1 : 0;  // by so much the frequencies of the inverse are
  constant_row_ = zero + lower;
  rows_ = std::max(weighted_rows_, constant_row_ + 1);
  forward = torch::zeros({2 * rows_, 2 * points}, torch::kFloat64),
  inverse = torch::zeros({2 * points, 2 * rows_}, torch::kFloat64);
  auto ahead = forward.accessor<double, 2>();
  auto behind = inverse.accessor<double, 2>();
  for (std::int64_t row = 0; row < rows_; ++row)
    for (std::int64_t point = 0; point < points; ++point) {
      const double theta = angle(row - zero, point, first_period);
      const double back = angle(row - zero - lower, point, first_period);
      const double scale = first_weights[static_cast<std::size_t>(point)] / first_period;
      const std::int64_t re = 2 * row, im = re + 1, point_re = 2 * point, point_im = point_re + 1;
      ahead[re][point_re] = ahead[im][point_im] = scale * std::cos(theta);
      ahead[re][point_im] = scale * std::sin(theta);
      ahead[im][point_re] = -scale * std::sin(theta);
      behind[point_re][re] = behind[point_im][im] = std::cos(back);
      behind[point_re][im] = -std::sin(back);
      behind[point_im][re] = std::sin(back);
    }
  first_forward_ = forward.to(options);
  first_inverse_ = inverse.to(options);
}

FourierBasis FourierBasis::inside(const std::vector<std::int64_t>& first,
                                  const std::vector<std::int64_t>& shape) const {
  FourierBasis box = *this;
  box.shape_ = shape;
  box.last_forward_ = last_forward_.narrow(1, first.back(), shape.back()).contiguous();
  box.last_inverse_ = last_inverse_.narrow(0, first.back(), shape.back());
  if (shape.size() == 1) return box;
  box.first_forward_ = first_forward_.narrow(1, 2 * first[0], 2 * shape[0]).contiguous();
  box.first_inverse_ = first_inverse_.narrow(0, 2 * first[0], 2 * shape[0]);
  return box;
}

torch::Tensor FourierBasis::from_lines(const torch::Tensor& lines, std::int64_t first_line) const {
  const std::int64_t batch = lines.size(2), channels = lines.size(3), width = batch * channels;
  if (shape_.size() == 1) return lines.view({columns_, 2, batch, channels});
  const auto spectrum =
      torch::mm(first_forward_.narrow(1, 2 * first_line, 2 * lines.size(0)),
                lines.reshape({2 * lines.size(0), columns_ * width}));  // [(row, re|im), (column, B·C)]
  return spectrum.view({rows_, 2, columns_, batch, channels})
      .transpose(1, 2)
      .reshape({frequencies(), 2, batch, channels})
      .contiguous();  // with one frequency on an axis the transposed view needs no copy to have this shape
}

torch::Tensor FourierBasis::to_lines(const torch::Tensor& coefficients, std::int64_t first, std::int64_t count) const {
  const std::int64_t batch = coefficients.size(2), channels = coefficients.size(3), width = batch * channels;
  if (shape_.size() == 1) return coefficients.view({1, 2 * columns_, batch, channels});
  const auto spectrum =
      coefficients.view({rows_, columns_, 2, width}).transpose(1, 2).reshape({2 * rows_, columns_ * width});
  return torch::mm(first_inverse_.narrow(0, 2 * first, 2 * count), spectrum)
      .view({count, 2 * columns_, batch, channels});
}

torch::Tensor FourierBasis::analysed(const torch::Tensor& fields, std::int64_t first_point) const {
  const std::int64_t lines = fields.size(0), points = fields.size(1), batch = fields.size(2), channels = fields.size(3);
  const torch::Tensor basis = last_forward_.narrow(1, first_point, points);
  const torch::Tensor values = lines == 1 ? torch::mm(basis, fields.reshape({points, batch * channels}))
                                          : torch::matmul(basis, fields.reshape({lines, points, batch * channels}));
  return values.view({lines, 2 * columns_, batch, channels});
}

torch::Tensor FourierBasis::transform(const torch::Tensor& fields) const {
  return from_lines(analysed(fields.reshape({-1, shape_.back(), fields.size(1), fields.size(2)})));
}

torch::Tensor FourierBasis::inverse(const torch::Tensor& coefficients) const {
  const std::int64_t batch = coefficients.size(2), channels = coefficients.size(3), width = batch * channels;
  if (shape_.size() == 1)
    return torch::mm(last_inverse_, coefficients.view({2 * columns_, width})).view({shape_[0], batch, channels});
  return torch::matmul(last_inverse_, to_lines(coefficients, 0, shape_[0]).view({shape_[0], 2 * columns_, width}))
      .view({shape_[0] * shape_[1], batch, channels});
}

torch::Tensor FourierBasis::inverse_at(const torch::Tensor& coefficients, std::int64_t point) const {
  const std::int64_t batch = coefficients.size(2), channels = coefficients.size(3), width = batch * channels;
  const auto line = to_lines(coefficients, point / shape_.back(), 1).view({2 * columns_, width});
  return torch::mv(line.t(), last_inverse_[point % shape_.back()]).view({batch, channels});
}

std::shared_ptr<const FourierBasis> fourier_basis(const std::vector<std::int64_t>& shape, const std::vector<int>& modes,
                                                  const torch::TensorOptions& options, InverseShift shift,
                                                  const std::vector<AxisQuadrature>& quadrature) {
  using Key = std::tuple<std::vector<std::int64_t>, std::vector<int>, int, std::string, InverseShift,
                         std::vector<AxisQuadrature>>;
  static std::mutex mutex;
  static std::map<Key, std::shared_ptr<const FourierBasis>> known;
  const std::lock_guard lock(mutex);
  auto& basis = known[{shape, modes, static_cast<int>(c10::typeMetaToScalarType(options.dtype())),
                       options.device().str(), shift, quadrature}];
  if (!basis) basis = std::make_shared<const FourierBasis>(shape, modes, options, shift, quadrature);
  return basis;
}

torch::Tensor spectral_weights(std::int64_t inputs, std::int64_t outputs, const std::vector<int>& modes,
                               const torch::TensorOptions& options) {
  const std::int64_t columns = modes.back() / 2 + 1;
  if (modes.size() == 1) return torch::zeros({columns, inputs, 2, outputs}, options).permute({1, 3, 0, 2});
  return torch::zeros({modes[0], columns, inputs, 2, outputs}, options).permute({2, 4, 0, 1, 3});
}

torch::Tensor kept_weights(const torch::Tensor& weights, const FourierBasis& basis) {
  // The reverse of narrow() forgets the layout and then copies number by number: not for the grids on which all weights
  // are used.
  torch::Tensor kept = weights;
  if (weights.size(-2) != basis.columns()) kept = kept.narrow(-2, 0, basis.columns());
  if (weights.dim() == 5 && weights.size(2) != basis.weighted_rows())
    kept = kept.narrow(2, basis.first_weight_row(), basis.weighted_rows());
  if (basis.rows() > basis.weighted_rows())
    kept = torch::constant_pad_nd(kept, {0, 0, 0, 0, 0, basis.rows() - basis.weighted_rows()});
  return (weights.dim() == 5 ? kept.permute({2, 3, 0, 4, 1}) : kept.permute({2, 0, 3, 1}))
      .reshape({basis.frequencies(), weights.size(0), 2 * weights.size(1)});
}

torch::Tensor mix(const torch::Tensor& coefficients, const torch::Tensor& kept) {
  const std::int64_t count = coefficients.size(0), batch = coefficients.size(2), inputs = coefficients.size(3),
                     outputs = kept.size(2) / 2;
  const auto products =
      torch::bmm(coefficients.view({count, 2 * batch, inputs}), kept).view({count, 2, batch, 2, outputs});
  const auto from_re = products.select(1, 0), from_im = products.select(1, 1);  // [count, B, re|im of W, Cout]
  return torch::stack({from_re.select(2, 0) - from_im.select(2, 1), from_re.select(2, 1) + from_im.select(2, 0)}, 1);
}

torch::Tensor mix(const torch::Tensor& coefficients, const torch::Tensor& weights, const torch::Tensor& bias,
                  const FourierBasis& basis) {
  torch::Tensor mixed = mix(coefficients, weights, basis);
  mixed.select(0, basis.constant()).select(0, 0).add_(bias.view({1, -1}));
  return mixed;
}

}  // namespace opshap::operators
