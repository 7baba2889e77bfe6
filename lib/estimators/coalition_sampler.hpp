#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/coalitions.hpp"
#include "core/estimator.hpp"
#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::estimators {

/// The coalitions of size 1 and of size n − 1: {i} in row i, N∖i in row n + i.
Coalitions border_coalitions(int players);

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

/// Whether a drawn coalition brings its complement along.
enum class Pairing { none, complements };

/// How coalitions between ∅ and N are chosen once their sizes have a law.
enum class Sampler {
  /// A fixed number of independent draws: what is linear in the weights is unbiased.
  iid,
  /// As shapiq does (Fumagalli et al. 2023): whole sizes are taken where that many draws are expected, the rest is
  /// drawn until the number of distinct
  /// coalitions is reached. Stopping so makes the last draw a new one, always: what is linear in the weights is biased,
  /// by O(1/budget).
  shapiq_compatible,
  /// A fixed number of distinct coalitions of each size, every set of so many equally likely: what is linear in the
  /// weights is unbiased.
  without_replacement,
};

/// Distinct coalitions with weights that stand for the Shapley kernel W_S = 1/(C(n,s)·s(n−s)), equal weights next to
/// each other.
///
/// The mean of Σ_rows weight·f(S) is Σ_{0<s<n} W_S f(S) for every f with the samplers `iid` and `without_replacement`,
/// and nearly so with `shapiq_compatible`. With complements a row is a pair: f(S) is then (f(S) + f(N∖S))/2, and the
/// weight is that of both together.
struct CoalitionSample {
  /// A random draw: the row it fell on and what it added to the weight of that row.
  struct Draw {
    std::size_t row = 0;
    double weight = 0;
  };

  Pairing pairing = Pairing::none;
  Coalitions coalitions;        ///< [m]; with complements one coalition of each pair, the other goes without saying
  std::vector<double> weights;  ///< [m]
  /// In the order drawn, repeats included. Sizes that were enumerated have none, nor has a sample without replacement.
  std::vector<Draw> draws;

  explicit CoalitionSample(int players, Pairing pairing = Pairing::none) : pairing(pairing), coalitions(players) {}
  bool paired() const { return pairing == Pairing::complements; }
};

/// At most `interior` distinct coalitions other than ∅ and N; with complements both of a pair count, and an odd one is
/// left over.
///
/// `iid` makes as many draws as would fit if all were distinct. `shapiq_compatible` gives up after eight times as many
/// draws as coalitions (which happens only when nearly all are wanted). `without_replacement` needs at least one
/// coalition (pair) for each size (pair of sizes) and throws InvalidArgument below. Cost: O(min(s, n−s)) a draw, plus
/// the bits of the rows.
CoalitionSample sample_coalitions(Sampler sampler, const SizeLaw& law, std::int64_t interior, Pairing pairing,
                                  Rng& rng);

/// All the coalitions a sample stands for: its rows, or with complements the pairs, S at 2·row and N∖S at 2·row + 1.
Coalitions all_coalitions(const CoalitionSample& sample);

/// What Sampler::shapiq_compatible takes whole: the sizes s with C(n, s) or fewer coalitions than draws expected there;
/// then again for the sizes and the budget left, until no size qualifies. Increasing.
std::vector<int> enumerated_sizes(const SizeLaw& law, std::int64_t interior);

/// How many coalitions of each size Sampler::without_replacement takes, [n+1], 0 for sizes 0 and n.
///
/// k_s = min(C(n, s), c·mass(s)) with c such that they add up to `interior`, rounded to whole coalitions (pairs) by
/// largest remainders, and at least one. With complements k_s = k_{n−s}. Throws InvalidArgument when not every size can
/// have one.
std::vector<std::int64_t> size_counts(const SizeLaw& law, std::int64_t interior, Pairing pairing);

/// What a sample says about a game, [m]: v(S) − v(∅), or of a pair (v(S) − v(N∖S))/2, since of a pair only the odd half
/// enters any Shapley value.
///
/// One call to the game.
std::vector<double> sample_targets(CountedGame& game, const CoalitionSample& sample, double empty);

/// Takes out of the targets what a game of equal players would have, s·share of S, of a pair (s − n/2)·share, share =
/// Δ/n. What is left sums to 0 over the players.
void subtract_equal_shares(std::vector<double>& targets, const CoalitionSample& sample, double share);

}  // namespace opshap::estimators
