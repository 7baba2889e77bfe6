#include "pde/cosines.hpp"

#include <cmath>
#include <numbers>

namespace opshap::pde {

Cosines::Cosines(int points) : points_(static_cast<std::size_t>(points)), table_(4 * points_) {
  for (std::size_t i = 0; i < table_.size(); ++i)
    table_[i] = std::cos(std::numbers::pi * static_cast<double>(i) / (2 * points));
}

template <typename Matrix>
void Cosines::apply(double* line, std::size_t stride, const Matrix& matrix) const {
  std::vector<double> result(points_, 0);
  for (std::size_t row = 0; row < points_; ++row) {
    for (std::size_t column = 0; column < points_; ++column) result[row] += matrix(row, column) * line[column * stride];
  }
  for (std::size_t row = 0; row < points_; ++row) line[row * stride] = result[row];
}

void Cosines::forward(double* line, std::size_t stride) const {
  apply(line, stride,
        [&](std::size_t k, std::size_t j) { return (k == 0 ? 1.0 : 2.0) / static_cast<double>(points_) * at(k, j); });
}

void Cosines::backward(double* line, std::size_t stride) const {
  apply(line, stride, [&](std::size_t j, std::size_t k) { return at(k, j); });
}

}  // namespace opshap::pde
