#include "core/coalition_columns.hpp"

#include <algorithm>
#include <array>

namespace opshap {

namespace {

/// Transposes a 64 x 64 matrix of bits in place (Warren, Hacker's Delight, section 7-3), bit j of word i to bit i of
/// word j.
void transpose(std::array<std::uint64_t, 64>& block) {
  std::uint64_t mask = 0x00000000FFFFFFFF;
  for (std::size_t half = 32; half != 0; half /= 2, mask ^= mask << half) {
    for (std::size_t low = 0; low < 64; low = ((low | half) + 1) & ~half) {
      const std::uint64_t swapped = ((block[low] >> half) ^ block[low | half]) & mask;
      block[low] ^= swapped << half;
      block[low | half] ^= swapped;
    }
  }
}

}  // namespace

CoalitionColumns::CoalitionColumns(const Coalitions& coalitions, std::size_t first, std::size_t count)
    : players_(coalitions.players()),
      count_(count),
      words_per_column_((count + 63) / 64),
      words_(static_cast<std::size_t>(players_) * words_per_column_) {
  std::array<std::uint64_t, 64> block;
  for (std::size_t word = 0; word < words_per_column_; ++word) {
    const std::size_t rows = std::min<std::size_t>(64, count - word * 64);
    for (std::size_t player_word = 0; player_word < coalitions.words_per_row(); ++player_word) {
      block.fill(0);
      for (std::size_t row = 0; row < rows; ++row) block[row] = coalitions.row(first + word * 64 + row)[player_word];
      transpose(block);
      const std::size_t players_here = std::min<std::size_t>(64, static_cast<std::size_t>(players_) - player_word * 64);
      for (std::size_t i = 0; i < players_here; ++i) {
        words_[(player_word * 64 + i) * words_per_column_ + word] = block[i];
      }
    }
  }
}

}  // namespace opshap
