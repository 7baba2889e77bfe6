#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/game.hpp"

namespace opshap {

/// By what the correction c of the combs is multiplied, to leave out what is noise.
enum class Shrinking {
  none,
  /// λ = ⟨c₁, c₂⟩/‖c‖², cut to [0, 1], of two combs with signs of their own, or of the two halves of one comb's rows.
  by_halves,
  /// λ = 1 − E₂ min(1, E₂/E₁)/‖c‖², at least 0, of one comb: its quarters of rows tell what aliases have at a quarter
  /// (E₁) and at half (E₂) of a tooth's length, and that is continued to its whole length.
  by_decay,
};

/// A way to spend the gradients of a correction of second order. All of them estimate the same two terms
/// (estimators/second_order.hpp).
///
/// The trace Σ_j ∂_j² and the diagonal ∂_i² are sums over any orthonormal basis. So a few directions can be taken
/// exactly, and the combs are left with what is orthogonal to those.
struct Candidate {
  std::string name;
  std::string meaning;
  bool halves = true;  ///< two combs of half the directions with independent signs, else one
  Shrinking shrinking = Shrinking::none;
  /// The direction (1, …, 1) is projected out of the combs. What it contributes is 0: its two terms cancel when the
  /// second one is integrated by parts along the diagonal. So it costs nothing.
  bool constant = false;
  int cosines = 0;           ///< so many of cos(πk(i + ½)/n), k = 1, 2, …, are taken exactly
  bool first_order = false;  ///< and so is the direction of the first order's values
};

/// Those that are compared. The one with the name `product` is that of diagonal_second_order, and the errors of
/// `half_combs` are what those of the others are divided by.
const std::vector<Candidate>& candidates();
inline constexpr const char *product = "one comb, λ of decay", *half_combs = "half combs";

/// The first order of a game on the nodes that a correction uses, too.
struct FirstOrder {
  std::vector<double> nodes, weights;  ///< [K]
  std::vector<double> middles;         ///< gradients on the diagonal, [K, n]
  std::vector<double> values;          ///< [n]
};

/// By Gauss–Legendre's rule.
FirstOrder first_order(const Extension& extension, int players, int nodes);

/// What a candidate finds of a game.
struct Corrected {
  std::vector<double> values;  ///< [n], adding up to the gain
  double first_order_bar = 0;  ///< r of estimators/second_order.hpp; 0 without shrinking, when nothing tells
  double apart = 0;            ///< δ of the same place; 0 without shrinking
  double share = 1;            ///< λ
  std::int64_t gradients = 0;  ///< with those on the diagonal
};

/// With at most `directions` directions at a node. `places` are those of Game::places(), `gain` is v(N) − v(∅). Signs
/// are those of diagonal_second_order with this seed. Throws InvalidArgument where the exact directions leave none to
/// the combs.
Corrected corrected(const Candidate& candidate, const Extension& extension, const FirstOrder& first,
                    std::span<const std::int64_t> places, int directions, double gain, std::uint64_t seed);

/// Whether corrected() can.
bool has_room(const Candidate& candidate, int directions);

}  // namespace opshap
