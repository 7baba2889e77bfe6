#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/rng.hpp"

namespace opshap {

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
