#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/domain.hpp"
#include "core/field.hpp"
#include "core/game.hpp"
#include "core/operator.hpp"
#include "games/cell_mask_game.hpp"

namespace opshap::games {

/// Masks η_1, …, η_m on the points of a grid: η_i >= 0, Σ_i η_i = 1 at every point, and none of them 0 everywhere
/// (OperatorSHAP, Definition "Smooth operator games").
///
/// Memory: 12 bytes for each point of each mask's support.
class PartitionOfUnity {
 public:
  /// From all values [m, points], row-major. Throws InvalidArgument when a value is negative or not finite, when a mask
  /// is 0 everywhere, and where the masks do not add up to 1 within their own rounding, 4m·2^-52, naming the deviation
  /// and the place.
  static PartitionOfUnity from_values(const Domain& domain, std::span<const double> values);

  /// C^∞ bumps with compact support, one for each centre, products of bumps of the axes in 2D (numbered row-major).
  ///
  /// `centres` are increasing coordinates, one list an axis, as unevenly spaced as one likes. A bump is 1 at its own
  /// centre, with all derivatives 0, and 0 from the neighbours' centres on; between two centres it is the step 1/(1 +
  /// exp(1/t − 1/(1−t))). On an axis that is not periodic the first and the last one are 1 towards the border. Throws
  /// InvalidArgument for centres that are not increasing or not on the axis, and when a bump has no point of the grid.
  static PartitionOfUnity bumps(const Domain& domain, const std::vector<std::vector<double>>& centres);

  /// exp(−|x − c_i|²/(2 width²)) divided by their sum; `centres` [m, dimension] are anywhere in the box.
  ///
  /// On a periodic axis distances are chords of the circle, (L/π) sin(π d/L), which keeps the masks smooth. Throws
  /// InvalidArgument for a centre outside the box, a width that is not positive, and when a mask underflows to 0 at
  /// every point.
  static PartitionOfUnity gaussians(const Domain& domain, std::span<const double> centres, double width);

  /// The indicators of a partition's cells, smoothed by the C^∞ kernel exp(−1/(1 − (d/radius)²)): one mask a player,
  /// which is 1 further inside its cells than `radius` and 0 further outside. Below the grid's spacing, they are the
  /// indicators themselves. Throws InvalidArgument unless 0 < radius, and radius is less than half the extent of each
  /// periodic axis.
  static PartitionOfUnity smoothed_cells(const Domain& domain, const Partition& partition, double radius);

  const Domain& domain() const { return domain_; }
  int masks() const { return static_cast<int>(integrals_.size()); }
  /// ∫η_i for each i, > 0: the sum over the points, each with its volume.
  const std::vector<double>& integrals() const { return integrals_; }
  /// [m, points] row-major.
  std::vector<double> values() const;

  /// Σ_i coefficients(i) η_i at every point.
  void combine(std::span<const double> coefficients, std::span<double> field) const;
  /// Σ_points η_i · field for each i, the transpose of combine.
  void integrate(std::span<const double> field, std::span<double> moments) const;
  /// μ_i(B_k) = ∫_{B_k} η_i/∫η_i: a row for each player k, a column for each mask i; columns add up to 1.
  SparseRows shares(const Partition& partition) const;

 private:
  /// One row a point, one column a mask.
  PartitionOfUnity(const Domain& domain, int masks, SparseRows at_points);

  Domain domain_;
  SparseRows at_points_;
  std::vector<double> integrals_;
};

/// The midpoints of `count` cells of [0, extent], graded as Partition::graded grades them: centres for bumps.
std::vector<double> graded_centres(int count, double extent, double ratio);

/// v(S) = G(u_b + Σ_{i∈S} η_i (u − u_b))(x*): every mask of a partition of unity is a player. With
/// PartitionOfUnity::smoothed_cells, cell_mask_game with soft edges.
///
/// Integrated gradients give player i the masked attribution Attr^{η_i} = ∫₀¹ DG(u_b + t(u − u_b))[η_i (u − u_b)] dt
/// (OperatorSHAP, Definition "Masked pointwise attribution"), and all together G(u)(x*) − G(u_b)(x*), whatever the
/// masks. That is the Aumann–Shapley value of f(a) = G(u_b + Σ_i a_i η_i (u − u_b))(x*), but not a limit of Shapley
/// values: with more masks the game is another one. For that limit see smooth_operator_game. v(∅) is the operator's
/// answer to the baseline.
///
/// Cost of a coalition besides the operator: one addition for each point of each mask's support. Kept, referred to,
/// memory and throws as cell_mask_game; InvalidArgument also when the masks are of another grid than the input, or too
/// many to be players.
std::unique_ptr<Game> diagonal_game(const Operator& op, FieldBatch input, FieldBatch baseline, PartitionOfUnity masks,
                                    Readout readout);

/// Attr^η = Σ_k weights(k) DG(u_b + nodes(k) h)[η h] with h = u − u_b, for each of the masks [m, points]: ∫₀¹ DG(u_b +
/// t h)[η h] dt by a quadrature on [0, 1] (OperatorSHAP, Definition "Masked pointwise attribution").
///
/// Masks may have any finite values. Those that add up to 1 have attributions that add up to the same number, Σ_k
/// weights(k) DG(u_b + nodes(k) h)[h], whatever they are. Cost: one reverse pass a node, for all masks together. Throws
/// as MaskedOperator, and InvalidArgument for masks, nodes or weights that do not fit.
std::vector<double> masked_attributions(const Operator& op, const FieldBatch& input, const FieldBatch& baseline,
                                        const Readout& readout, std::span<const double> masks,
                                        std::span<const double> nodes, std::span<const double> weights);

/// v(S) = G(u_b + Σ_i μ_i(S) η_i (u − u_b))(x*) with μ_i(S) = ∫_S η_i/∫η_i: the game of the paper's theorems
/// (OperatorSHAP, Definition "Smooth operator games").
///
/// The masks η_i are fixed while the players' cells are refined; a coalition counts only by how much of each mask it
/// holds. v = f∘μ with f(a) = G(u_b + Σ_i a_i η_i (u − u_b))(x*), so integrated gradients are its Aumann–Shapley value,
/// the diagonal formula φ(B_k) = Σ_i μ_i(B_k) ∫₀¹ DG(u_b + t(u − u_b))[η_i (u − u_b)] dt, and the Shapley values of
/// finer and finer partitions converge to that. Neither holds for cell_mask_game, whose masks are hard, nor for
/// diagonal_game, whose masks belong to the players. v(∅) is the operator's answer to the baseline.
///
/// Cost of a coalition besides the operator: one addition for each mask that is not 0 on a member's cells, and one for
/// each point of each mask's support. Kept, referred to, memory and throws as cell_mask_game; InvalidArgument also when
/// the masks are of another grid than the input.
std::unique_ptr<Game> smooth_operator_game(const Operator& op, FieldBatch input, FieldBatch baseline,
                                           PartitionOfUnity masks, const Partition& partition, Readout readout);

}  // namespace opshap::games
