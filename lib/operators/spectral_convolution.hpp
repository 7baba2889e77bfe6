#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/safetensors.hpp"
#include "operators/config_reader.hpp"
#include "operators/grid_padding.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

/// Replaces each spectral weight that is stored as factors by the tensor that they make up.
///
/// The factors have the names of tensorly-torch, as in the state_dict of neuraloperator's TFNO: NAME.core and
/// NAME.factors.factor_0.. for Tucker, NAME.weights and the factors for CP, the factors alone for a tensor train. The
/// tensor gets the name NAME.tensor, as that of a network with dense weights. Complex numbers are pairs. `who` starts
/// messages. Throws DataError for factors that do not fit each other.
void expand_factors(data::Safetensors& content, const std::string& who);

/// The truncated Fourier transform of a real grid and its inverse as products with real matrices: no FFT, so any
/// length, differentiable, the same on all devices.
///
/// The transform divides by the period N in units of the spacing, the inverse does not. Without a quadrature N is the
/// number of points, and all points count as much. On the last axis the frequencies 0..min(N/2, m/2) are kept; on the
/// first axis of two the signed frequencies −k/2..k−k/2−1 with k = min(N, m), of which the j-th uses row (m−k)/2 + j of
/// the weights, rounded down. The inverse is a complex one along the first axis, then a real one along the last that
/// ignores the imaginary parts of frequency 0 and, for even N, of N/2. With InverseShift::fftshift and an odd number of
/// points on the first axis, the frequencies of the inverse there are smaller by one.
class FourierBasis {
 public:
  /// shape: points per axis (after padding); modes: kept ones per axis, as in a config; `options` gives dtype and
  /// device; quadrature: a rule for each axis, whose weights are those of the points in the transform, or none. With a
  /// quadrature there is no shift.
  FourierBasis(const std::vector<std::int64_t>& shape, const std::vector<int>& modes,
               const torch::TensorOptions& options, InverseShift shift = InverseShift::ifftshift,
               const std::vector<AxisQuadrature>& quadrature = {});

  /// This transform for fields that are zero outside a box of the grid and given there alone; its inverse is the field
  /// in the box. `first` and `shape`: the box's first point and size on each axis.
  FourierBasis inside(const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& shape) const;

  /// Kept frequencies: product over the axes.
  std::int64_t frequencies() const { return rows_ * columns_; }
  /// Frequencies on the first of two axes, how many of them have weights, from the first on, and the first weight row
  /// they use; 1, 1 and 0 in one dimension.
  std::int64_t rows() const { return rows_; }
  std::int64_t weighted_rows() const { return weighted_rows_; }
  std::int64_t first_weight_row() const { return first_weight_row_; }
  std::int64_t columns() const { return columns_; }
  /// The one among the kept frequencies that the inverse makes a constant of.
  std::int64_t constant() const { return constant_row_ * columns_; }

  /// [points, B, C] to [frequencies, 2 (re, im), B, C].
  torch::Tensor transform(const torch::Tensor& fields) const;
  /// [frequencies, 2, B, C] to [points, B, C].
  torch::Tensor inverse(const torch::Tensor& coefficients) const;
  /// The inverse at one point: [B, C].
  torch::Tensor inverse_at(const torch::Tensor& coefficients, std::int64_t point) const;

  /// The part of the transform along the last axis, [2·columns, N], and of its inverse, [N, 2·columns].
  const torch::Tensor& analysis() const { return last_forward_; }
  const torch::Tensor& synthesis() const { return last_inverse_; }
  /// The rest of the transform and of its inverse, [2·rows, 2·lines] and back, real and imaginary parts in turn; not
  /// defined in one dimension.
  const torch::Tensor& first_analysis() const { return first_forward_; }
  const torch::Tensor& first_synthesis() const { return first_inverse_; }
  /// What analysis() makes of the points from `first_point` on, [lines, points, B, C] to [lines, 2·columns, B, C].
  /// Other points are zero.
  torch::Tensor analysed(const torch::Tensor& fields, std::int64_t first_point = 0) const;
  /// The rest of the transform: what analysis() makes of the lines from `first_line` on, [lines, 2·columns, B, C], to
  /// [frequencies, 2, B, C]. Other lines are zero. In one dimension there is one line, and nothing to do.
  torch::Tensor from_lines(const torch::Tensor& lines, std::int64_t first_line = 0) const;
  /// The inverse of from_lines() for the lines first..first+count-1.
  torch::Tensor to_lines(const torch::Tensor& coefficients, std::int64_t first, std::int64_t count) const;

 private:
  std::vector<std::int64_t> shape_;
  std::int64_t rows_ = 1, weighted_rows_ = 1, constant_row_ = 0, columns_ = 1, first_weight_row_ = 0;
  torch::Tensor last_forward_, last_inverse_;    // 1D: [2·columns, N], frequency-major; 2D: real parts first
  torch::Tensor first_forward_, first_inverse_;  // [2·rows, N0·2] and back; 2D only
};

/// The basis of this grid, made once for each (shape, modes, dtype, device, shift, quadrature) and then shared.
std::shared_ptr<const FourierBasis> fourier_basis(const std::vector<std::int64_t>& shape, const std::vector<int>& modes,
                                                  const torch::TensorOptions& options,
                                                  InverseShift shift = InverseShift::ifftshift,
                                                  const std::vector<AxisQuadrature>& quadrature = {});

/// Zeros [Cin, Cout, m0 (2D), m/2+1, 2], laid out in memory as mix() wants them: frequency, input, re|im, output.
torch::Tensor spectral_weights(std::int64_t inputs, std::int64_t outputs, const std::vector<int>& modes,
                               const torch::TensorOptions& options);

/// Those of the spectral weights that the basis uses, as mix() wants them: [frequencies, Cin, 2·Cout], re before im.
/// Frequencies without weights have zeros. A view where the basis uses all.
torch::Tensor kept_weights(const torch::Tensor& weights, const FourierBasis& basis);

/// Y[f, o] = Σ_i X[f, i]·W[i, o, f] on [frequencies, 2, B, C], with kept spectral weights W: complex products as one
/// batch of real ones.
torch::Tensor mix(const torch::Tensor& coefficients, const torch::Tensor& kept);
inline torch::Tensor mix(const torch::Tensor& coefficients, const torch::Tensor& weights, const FourierBasis& basis) {
  return mix(coefficients, kept_weights(weights, basis));
}
/// With a bias of Cout numbers, which is added to the constant part of the field.
torch::Tensor mix(const torch::Tensor& coefficients, const torch::Tensor& weights, const torch::Tensor& bias,
                  const FourierBasis& basis);

}  // namespace opshap::operators
