#include "core/coalition_sum.hpp"

#include <bit>
#include <cstddef>

namespace opshap {

double coalition_sum(std::span<const double> values, std::span<const std::uint64_t> row) {
  double sum = 0;
  for (std::size_t word = 0; word < row.size(); ++word) {
    for (std::uint64_t members = row[word]; members != 0; members &= members - 1)
      sum += values[64 * word + static_cast<std::size_t>(std::countr_zero(members))];
  }
  return sum;
}

}  // namespace opshap
