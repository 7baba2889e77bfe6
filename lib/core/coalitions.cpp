#include "core/coalitions.hpp"

#include <algorithm>
#include <bit>

#include "core/error.hpp"

namespace opshap {

namespace {

void fill_grand(std::span<std::uint64_t> row, int players) {
  std::fill(row.begin(), row.end(), ~std::uint64_t{0});
  if (const int rest = players % 64; rest != 0) row.back() = (std::uint64_t{1} << rest) - 1;
}

}  // namespace

Coalitions::Coalitions(int players, std::size_t count)
    : players_(players), words_per_row_((static_cast<std::size_t>(std::max(players, 0)) + 63) / 64) {
  require(players >= 1 && players <= max_players, "coalitions: players=", players, " (needs 1..", max_players,
          "). Use fewer players, for example by grouping cells.");
  resize(count);
}

void Coalitions::reserve(std::size_t count) { words_.reserve(count * words_per_row_); }

void Coalitions::clear() { resize(0); }

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
  const std::uint64_t* from = own ? words_.data() + offset : row.data();
  std::copy_n(from, words_per_row_, this->row(count_ - 1).data());
}

void Coalitions::append_empty() { resize(count_ + 1); }

void Coalitions::append_grand() {
  resize(count_ + 1);
  fill_grand(row(count_ - 1), players_);
}

void Coalitions::append_complement(std::span<const std::uint64_t> row) {
  append(row);
  std::vector<std::uint64_t> grand(words_per_row_);
  fill_grand(grand, players_);
  auto added = this->row(count_ - 1);
  for (std::size_t word = 0; word < words_per_row_; ++word) added[word] = ~added[word] & grand[word];
}

bool Coalitions::contains(std::size_t index, int player) const { return opshap::contains(row(index), player); }

void Coalitions::insert(std::size_t index, int player) {
  row(index)[static_cast<std::size_t>(player) / 64] |= std::uint64_t{1} << (player % 64);
}

void Coalitions::remove(std::size_t index, int player) {
  row(index)[static_cast<std::size_t>(player) / 64] &= ~(std::uint64_t{1} << (player % 64));
}

int Coalitions::cardinality(std::size_t index) const { return opshap::cardinality(row(index)); }

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

}  // namespace opshap
