#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace opshap::estimators {

/// Calls visit(player) with the members of a coalition, as std::size_t and in increasing order. O(n/64 + |S|).
template <typename Visit>
void for_each_member(std::span<const std::uint64_t> row, const Visit& visit) {
  for (std::size_t word = 0; word < row.size(); ++word) {
    for (std::uint64_t rest = row[word]; rest != 0; rest &= rest - 1)
      visit(word * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
  }
}

}  // namespace opshap::estimators
