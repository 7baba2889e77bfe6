#pragma once

#include <cstddef>
#include <vector>

namespace opshap::pde {

/// The cosine series on the n cell centres of an axis with walls: v_j = Σ_k m_k cos(πk(j + ½)/n), k < n.
///
/// Cost: n² products for each line.
class Cosines {
 public:
  explicit Cosines(int points);

  std::size_t points() const { return points_; }
  /// The series of the values, or the values of the series, of one line with a stride.
  void forward(double* line, std::size_t stride) const;
  void backward(double* line, std::size_t stride) const;

 private:
  double at(std::size_t k, std::size_t j) const { return table_[k * (2 * j + 1) % table_.size()]; }

  template <typename Matrix>
  void apply(double* line, std::size_t stride, const Matrix& matrix) const;

  std::size_t points_;
  std::vector<double> table_;
};

}  // namespace opshap::pde
