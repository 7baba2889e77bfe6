#include "core/coalitions.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/error.hpp"

namespace opshap {

namespace {

/// N \ S in the place of S.
void complement(std::span<std::uint64_t> row, int players) {
  for (std::uint64_t& word : row) word = ~word;
  if (const int rest = players % 64; rest != 0) row.back() &= (std::uint64_t{1} << rest) - 1;
}

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

Coalitions::Coalitions(int players, std::size_t count)
    : players_(players), words_per_row_((static_cast<std::size_t>(std::max(players, 0)) + 63) / 64) {
  require(players >= 1 && players <= max_players, "coalitions: players=", players, " (needs 1..", max_players,
          "). Use fewer players, for example by grouping cells.");
  resize(count);
}

void Coalitions::resize(std::size_t count) {
  words_.resize(count * words_per_row_, 0);
  count_ = count;
}

std::span<const std::uint64_t> Coalitions::row(std::size_t index) const {
  return {words_.data() + index * words_per_row_, words_per_row_};
}

std::span<std::uint64_t> Coalitions::row(std::size_t index) {
  return {words_.data() + index * words_per_row_, words_per_row_};
}

void Coalitions::append(std::span<const std::uint64_t> row) {
  // The row may point into words_, which the insertion moves.
  const bool own = row.data() >= words_.data() && row.data() < words_.data() + words_.size();
  const auto offset = own ? row.data() - words_.data() : 0;
  resize(count_ + 1);
  std::copy_n(own ? words_.data() + offset : row.data(), words_per_row_, this->row(count_ - 1).data());
}

void Coalitions::append_grand() {
  append_empty();
  complement(row(count_ - 1), players_);
}

void Coalitions::append_complement(std::span<const std::uint64_t> row) {
  append(row);
  complement(this->row(count_ - 1), players_);
}

void Coalitions::insert(std::size_t index, int player) {
  row(index)[static_cast<std::size_t>(player) / 64] |= std::uint64_t{1} << (player % 64);
}

void Coalitions::remove(std::size_t index, int player) {
  row(index)[static_cast<std::size_t>(player) / 64] &= ~(std::uint64_t{1} << (player % 64));
}

Coalitions Coalitions::enumerate(int players, std::uint64_t first, std::uint64_t count) {
  require(players <= 62, "coalitions: players=", players,
          " (an enumeration indexes 2^n coalitions, n <= 62). Sample instead.");
  Coalitions all(players, count);
  for (std::uint64_t i = 0; i < count; ++i) all.words_[i] = first + i;
  return all;
}

bool contains(std::span<const std::uint64_t> row, int player) {
  return (row[static_cast<std::size_t>(player) / 64] >> (player % 64)) & 1;
}

int cardinality(std::span<const std::uint64_t> row) {
  int members = 0;
  for (const std::uint64_t word : row) members += std::popcount(word);
  return members;
}

std::string to_string(std::span<const std::uint64_t> row, int players) {
  constexpr int shown = 12;
  std::string text = "{";
  int members = 0;
  for (int player = 0; player < players; ++player) {
    if (!contains(row, player)) continue;
    if (members < shown) text += (members > 0 ? ", " : "") + std::to_string(player);
    ++members;
  }
  if (members > shown) text += ", ... (" + std::to_string(members) + " of " + std::to_string(players) + " players)";
  return text + "}";
}

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

double coalition_sum(std::span<const double> values, std::span<const std::uint64_t> row) {
  double sum = 0;
  for (std::size_t word = 0; word < row.size(); ++word) {
    for (std::uint64_t members = row[word]; members != 0; members &= members - 1)
      sum += values[64 * word + static_cast<std::size_t>(std::countr_zero(members))];
  }
  return sum;
}

KernelLaw::KernelLaw(int players) : players_(players) {
  require(players >= 2, "kernel law: players=", players,
          " (no coalition lies between ∅ and N). Use at least two players.");
  double sum = 0;
  for (int j = 1; j < players; ++j) cumulative_.push_back(sum += 1.0 / j);
  for (double& value : cumulative_) value /= sum;
}

double KernelLaw::probability(int size) const {
  const auto weight = [this](int j) {
    const auto index = static_cast<std::size_t>(j) - 1;
    return cumulative_[index] - (index > 0 ? cumulative_[index - 1] : 0.0);
  };
  return (weight(size) + weight(players_ - size)) / 2;
}

int KernelLaw::draw_size(Rng& rng) const {
  const auto place = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, rng.uniform());
  const int j = static_cast<int>(place - cumulative_.begin()) + 1;
  return (rng.bits32() & 1) != 0 ? j : players_ - j;
}

void KernelLaw::draw_subset(Rng& rng, int size, std::span<std::uint64_t> row) const {
  const auto flip = [row](int player) {
    row[static_cast<std::size_t>(player) / 64] ^= std::uint64_t{1} << (player % 64);
  };
  const int drawn = std::min(size, players_ - size);
  for (int last = players_ - drawn; last < players_; ++last) {
    const int player = static_cast<int>(rng.below(static_cast<std::uint64_t>(last) + 1));
    flip(contains(row, player) ? last : player);
  }
  if (drawn != size) complement(row, players_);
}

}  // namespace opshap
