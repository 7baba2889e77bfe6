#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/coalitions.hpp"

namespace opshap {

/// A batch of coalitions turned by 90 degrees: one bit row per player, bit b of it is set iff the player is in
/// coalition b.
///
/// One word operation then works on 64 coalitions. Bits beyond the last coalition are zero. Memory as Coalitions.
class CoalitionColumns {
 public:
  /// The coalitions first..first+count-1 of the batch.
  CoalitionColumns(const Coalitions& coalitions, std::size_t first, std::size_t count);

  int players() const { return players_; }
  std::size_t size() const { return count_; }
  std::size_t words_per_column() const { return words_per_column_; }
  std::span<const std::uint64_t> column(int player) const {
    return {words_.data() + static_cast<std::size_t>(player) * words_per_column_, words_per_column_};
  }

 private:
  int players_;
  std::size_t count_;
  std::size_t words_per_column_;
  std::vector<std::uint64_t> words_;
};

}  // namespace opshap
