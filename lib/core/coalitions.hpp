#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/rng.hpp"

namespace opshap {

/// Of a row of Coalitions.
bool contains(std::span<const std::uint64_t> row, int player);
int cardinality(std::span<const std::uint64_t> row);

/// A batch of coalitions over the players 0..n-1, one per row, bit-packed: bit i%64 of word i/64 is set iff player i is
/// in.
///
/// Memory: ⌈n/64⌉ words a row. Bits beyond player n-1 are always zero, so rows can be compared, hashed and counted as
/// words.
class Coalitions {
 public:
  static constexpr int max_players = 65536;

  /// `count` empty coalitions. Throws InvalidArgument unless 1 <= players <= max_players.
  explicit Coalitions(int players, std::size_t count = 0);

  int players() const { return players_; }
  std::size_t size() const { return count_; }
  std::size_t words_per_row() const { return words_per_row_; }

  void reserve(std::size_t count) { words_.reserve(count * words_per_row_); }
  void clear() { resize(0); }
  /// Rows added are empty coalitions.
  void resize(std::size_t count);

  std::span<const std::uint64_t> row(std::size_t index) const;
  /// For writing; the caller keeps the bits beyond player n-1 zero.
  std::span<std::uint64_t> row(std::size_t index);

  void append(std::span<const std::uint64_t> row);
  void append_empty() { resize(count_ + 1); }
  void append_grand();
  /// Appends N \ S for the S of a row. The row may belong to this batch.
  void append_complement(std::span<const std::uint64_t> row);

  bool contains(std::size_t index, int player) const { return opshap::contains(row(index), player); }
  void insert(std::size_t index, int player);
  void remove(std::size_t index, int player);
  int cardinality(std::size_t index) const { return opshap::cardinality(row(index)); }

  /// All 2^n coalitions with index bit i = player i, for rows first..first+count-1 of that order. n <= 62.
  static Coalitions enumerate(int players, std::uint64_t first, std::uint64_t count);

 private:
  int players_;
  std::size_t words_per_row_;
  std::size_t count_ = 0;
  std::vector<std::uint64_t> words_;
};

/// "{0, 3, 17}" for messages; from 12 members on "{0, 3, ... (40 of 1024 players)}".
std::string to_string(std::span<const std::uint64_t> row, int players);

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

/// Σ_{i∈S} values_i for a row of Coalitions. O(|S|).
double coalition_sum(std::span<const double> values, std::span<const std::uint64_t> row);

/// The Shapley kernel as a law of coalitions: size s with probability ∝ 1/(s(n−s)) for s = 1..n−1, and uniform among
/// the coalitions of that size (Lundberg & Lee 2017).
///
/// Needs no binomials: 1/(s(n−s)) = (1/s + 1/(n−s))/n, so j is drawn with probability ∝ 1/j and then j or n−j with
/// probability ½. Works for every n.
class KernelLaw {
 public:
  /// Throws InvalidArgument unless players >= 2: with one player there is no coalition between ∅ and N.
  explicit KernelLaw(int players);

  int players() const { return players_; }
  /// P(|S| = size).
  double probability(int size) const;
  int draw_size(Rng& rng) const;
  /// A uniform coalition of that size into an empty row (Floyd's algorithm). O(min(size, n − size)).
  void draw_subset(Rng& rng, int size, std::span<std::uint64_t> row) const;

 private:
  int players_;
  std::vector<double> cumulative_;  ///< of 1/j, j = 1..n−1, normalised
};

}  // namespace opshap
