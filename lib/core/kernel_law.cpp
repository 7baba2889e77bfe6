#include "core/kernel_law.hpp"

#include <algorithm>
#include <cstddef>

#include "core/coalitions.hpp"
#include "core/error.hpp"

namespace opshap {

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
  const double u = rng.uniform();
  const auto place = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, u);
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
  if (drawn == size) return;
  for (int player = 0; player < players_; ++player) flip(player);  // the complement of what was drawn
}

}  // namespace opshap
