#include "estimators/border_coalitions.hpp"

#include <cstddef>

namespace opshap::estimators {

Coalitions border_coalitions(int players) {
  const auto n = static_cast<std::size_t>(players);
  Coalitions coalitions(players, n);
  for (std::size_t row = 0; row < n; ++row) coalitions.insert(row, static_cast<int>(row));
  for (std::size_t row = 0; row < n; ++row) coalitions.append_complement(coalitions.row(row));
  return coalitions;
}

}  // namespace opshap::estimators
