#pragma once

#include <vector>

#include "core/rng.hpp"

namespace opshap::estimators {

/// How much of a sample goes to the coalitions of size s, 0 < s < n, up to a factor.
enum class SizeMass {
  shapley_kernel,  ///< 1/(s(n−s)): the Shapley kernel itself (Lundberg & Lee 2017)
  uniform,         ///< 1: the leverage scores of its regression (Musco & Witter 2025)
  square_root,  ///< 1/√(s(n−s)): least variance of the mean when values vary alike at all sizes (Witter, Liu & Musco
                ///< 2025)
};

/// The law of the size of a random coalition. Symmetric in s and n−s; no binomial is ever formed, so it works for every
/// n.
class SizeLaw {
 public:
  /// Throws InvalidArgument unless players >= 2: with one player there is no coalition between ∅ and N.
  SizeLaw(SizeMass mass, int players);

  int players() const { return players_; }
  /// Up to a factor, as SizeMass says.
  double mass(int size) const;
  /// 1/(s(n−s)) over mass(s): 1, and not only nearly, for the Shapley kernel.
  double kernel_over_mass(int size) const;
  /// P(|S| = size).
  double probability(int size) const { return mass(size) / total_; }
  /// O(log n).
  int draw(Rng& rng) const;

 private:
  SizeMass mass_;
  int players_;
  double total_ = 0;
  std::vector<double> cumulative_;  ///< of j = 1..n−1, normalised; the size is j or n−j with probability ½
};

}  // namespace opshap::estimators
