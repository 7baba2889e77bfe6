#include "games/sparse_rows.hpp"

#include <algorithm>

namespace opshap::games {

void SparseRows::append(std::vector<std::pair<int, double>>& entries, double divisor) {
  // Stable, so that equal columns are added up in the order given.
  std::ranges::stable_sort(entries, {}, &std::pair<int, double>::first);
  for (std::size_t next = 0; next < entries.size();) {
    const int column = entries[next].first;
    double value = 0;
    for (; next < entries.size() && entries[next].first == column; ++next) value += entries[next].second;
    if (value == 0) continue;
    columns_.push_back(column);
    values_.push_back(value / divisor);
  }
  first_.push_back(columns_.size());
}

}  // namespace opshap::games
