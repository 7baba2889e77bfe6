#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace opshap::games {

/// A matrix of which only the entries that are not 0 are stored, row after row.
class SparseRows {
 public:
  std::size_t rows() const { return first_.size() - 1; }
  /// Adds a row. Entries are (column, value) in any order; those of one column are added up, and then divided by
  /// `divisor`. They are sorted in place.
  void append(std::vector<std::pair<int, double>>& entries, double divisor = 1);

  /// Σ_j matrix(row, j)·vector(j).
  double dot(std::size_t row, std::span<const double> vector) const {
    double sum = 0;
    for (std::size_t entry = first_[row]; entry < first_[row + 1]; ++entry)
      sum += values_[entry] * vector[static_cast<std::size_t>(columns_[entry])];
    return sum;
  }
  /// sum(j) += scale·matrix(row, j).
  void add_to(std::span<double> sum, std::size_t row, double scale = 1) const {
    for (std::size_t entry = first_[row]; entry < first_[row + 1]; ++entry)
      sum[static_cast<std::size_t>(columns_[entry])] += scale * values_[entry];
  }
  std::span<const int> columns(std::size_t row) const {
    return std::span(columns_).subspan(first_[row], first_[row + 1] - first_[row]);
  }
  std::span<const double> values(std::size_t row) const {
    return std::span(values_).subspan(first_[row], first_[row + 1] - first_[row]);
  }

 private:
  std::vector<std::size_t> first_ = {0};
  std::vector<int> columns_;
  std::vector<double> values_;
};

}  // namespace opshap::games
