#include "engines/fno_reference.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>

#include "engines/axis_basis.hpp"

namespace opshap::engines {

namespace {

using Complex = std::complex<double>;
using Rows = std::vector<std::vector<double>>;  // [points][channels]

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }

std::vector<double> affine(const FnoWeights::Linear& linear, const std::vector<double>& x) {
  std::vector<double> y(static_cast<std::size_t>(linear.outputs));
  for (std::size_t o = 0; o < y.size(); ++o) {
    y[o] = linear.bias.empty() ? 0.0 : static_cast<double>(linear.bias[o]);
    for (std::size_t i = 0; i < x.size(); ++i) y[o] += static_cast<double>(linear.weight[o * x.size() + i]) * x[i];
  }
  return y;
}

std::vector<double> activated(std::vector<double> x) {
  for (double& value : x) value = gelu(value);
  return x;
}

Complex turn(std::int64_t frequency, std::int64_t point, std::int64_t points) {
  const std::int64_t steps = ((frequency * point) % points + points) % points;
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(steps) / static_cast<double>(points));
}

/// The truncated spectral convolution without bias. On a line, axis 0 has one point and the frequency 0.
Rows spectral_convolution(const FnoWeights& weights, const FnoWeights::Layer& layer, const PaddedGrid& grid,
                          const Rows& x) {
  const std::int64_t rows = grid.padded(0), columns = grid.padded(1);
  const std::int64_t wanted_columns = weights.modes.back() / 2 + 1;
  const std::int64_t wanted_rows = weights.dimension() == 2 ? weights.modes[0] : 1;
  const std::int64_t kept_rows = std::min(rows, wanted_rows), kept_columns = std::min(columns / 2 + 1, wanted_columns);
  const auto width = static_cast<std::size_t>(weights.width);
  const auto point = [&](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * columns + j); };
  Rows y(x.size(), std::vector<double>(width, 0.0));
  for (std::int64_t column = 0; column < kept_columns; ++column) {
    // The lines of the first axis at this column: after its inverse transform, imaginary parts are dropped at 0 and
    // P/2.
    std::vector<std::vector<Complex>> lines(static_cast<std::size_t>(rows), std::vector<Complex>(width));
    for (std::int64_t row = 0; row < kept_rows; ++row) {
      const std::int64_t frequency = row - kept_rows / 2;
      std::vector<Complex> coefficient(width), mixed(width);
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
          const Complex phase = std::conj(turn(frequency, i, rows) * turn(column, j, columns));
          for (std::size_t c = 0; c < width; ++c) coefficient[c] += phase * x[point(i, j)][c];
        }
      const std::int64_t weight_row = (wanted_rows - kept_rows) / 2 + row;
      const std::int64_t back = frequency - grid.lower_frequencies(weights.inverse_fftshift);
      for (std::size_t in = 0; in < width; ++in)
        for (std::size_t out = 0; out < width; ++out) {
          const auto at = static_cast<std::size_t>(
              (static_cast<std::int64_t>(in * width + out) * wanted_rows + weight_row) * wanted_columns + column);
          mixed[out] += coefficient[in] * Complex(layer.spectral[at]);
        }
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::size_t c = 0; c < width; ++c)
          lines[static_cast<std::size_t>(i)][c] += mixed[c] * turn(back, i, rows) / static_cast<double>(rows * columns);
    }
    const bool real = column == 0 || 2 * column == columns;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::size_t c = 0; c < width; ++c) {
          const Complex line = lines[static_cast<std::size_t>(i)][c];
          y[point(i, j)][c] +=
              real ? line.real() * turn(column, j, columns).real() : 2 * (line * turn(column, j, columns)).real();
        }
  }
  return y;
}

}  // namespace

std::vector<double> fno_reference(const FnoWeights& weights, const FieldBatch& field) {
  const PaddedGrid grid(field.domain.shape(), weights.padding, weights.both_sides);
  const auto width = static_cast<std::size_t>(weights.width);
  Rows x(static_cast<std::size_t>(grid.padded_points()), std::vector<double>(width, 0.0));
  const std::int64_t points = grid.points();
  for (std::int64_t p = 0; p < points; ++p) {
    std::vector<double> entry;
    for (int c = 0; c < field.channels; ++c) entry.push_back(field.values[static_cast<std::size_t>(c * points + p)]);
    for (int axis = 0; axis < weights.dimension(); ++axis) entry.push_back(grid.position(p, axis));
    x[static_cast<std::size_t>(grid.padded_point(p))] =
        affine(weights.lifting1, activated(affine(weights.lifting0, entry)));
  }
  for (std::size_t l = 0; l < weights.layers.size(); ++l) {
    const FnoWeights::Layer& layer = weights.layers[l];
    const bool last = l + 1 == weights.layers.size();
    Rows y = spectral_convolution(weights, layer, grid, x);
    for (std::size_t p = 0; p < x.size(); ++p) {
      const std::vector<double> skip = affine(layer.skip, x[p]);
      for (std::size_t c = 0; c < width; ++c) y[p][c] += skip[c] + static_cast<double>(layer.spectral_bias[c]);
      if (!last) y[p] = activated(y[p]);
      std::vector<double> z = affine(layer.mlp1, activated(affine(layer.mlp0, y[p])));
      for (std::size_t c = 0; c < width; ++c) z[c] += static_cast<double>(layer.gate[c]) * x[p][c];
      x[p] = last ? z : activated(z);
    }
  }
  std::vector<double> output(static_cast<std::size_t>(weights.out_channels * points));
  for (std::int64_t p = 0; p < points; ++p) {
    const std::vector<double> y = affine(
        weights.projection1, activated(affine(weights.projection0, x[static_cast<std::size_t>(grid.padded_point(p))])));
    for (std::size_t c = 0; c < y.size(); ++c)
      output[c * static_cast<std::size_t>(points) + static_cast<std::size_t>(p)] = y[c];
  }
  return output;
}

}  // namespace opshap::engines
