#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace opshap {

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

  void reserve(std::size_t count);
  void clear();
  /// Rows added are empty coalitions.
  void resize(std::size_t count);

  std::span<const std::uint64_t> row(std::size_t index) const;
  /// For writing; the caller keeps the bits beyond player n-1 zero.
  std::span<std::uint64_t> row(std::size_t index);

  void append(std::span<const std::uint64_t> row);
  void append_empty();
  void append_grand();
  /// Appends N \ S for the S of a row. The row may belong to this batch.
  void append_complement(std::span<const std::uint64_t> row);

  bool contains(std::size_t index, int player) const;
  void insert(std::size_t index, int player);
  void remove(std::size_t index, int player);
  int cardinality(std::size_t index) const;

  /// All 2^n coalitions with index bit i = player i, for rows first..first+count-1 of that order. n <= 62.
  static Coalitions enumerate(int players, std::uint64_t first, std::uint64_t count);

 private:
  int players_;
  std::size_t words_per_row_;
  std::size_t count_ = 0;
  std::vector<std::uint64_t> words_;
};

bool contains(std::span<const std::uint64_t> row, int player);
int cardinality(std::span<const std::uint64_t> row);
/// "{0, 3, 17}" for messages; from 12 members on "{0, 3, ... (40 of 1024 players)}".
std::string to_string(std::span<const std::uint64_t> row, int players);

}  // namespace opshap
