#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/field.hpp"
#include "core/game.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"

namespace opshap {

/// What an explainer corrects where it does not learn the whole attribution: the slopes of the operator along the
/// diagonal, integrated by Gauss–Legendre's rule.
///
/// The values of an explainer are those of its base and a correction that its network has learned. Then they are
/// shifted to v(N) − v(∅). The network sees the slopes at each node, so it need not learn the operator.
struct ExplainerBase {
  enum class Kind {
    none,                  ///< the network gives the whole attribution
    integrated_gradients,  ///< slopes of the operator
    mean_field,            ///< slopes of its mean-field closure, which is off by O(1/n) alone
  };
  static constexpr int usual_nodes = 4, most_nodes = 16;
  /// Points of a grid on which the correction of order 1/n is 1.
  static constexpr double coarse_points = 16;

  Kind kind = Kind::none;
  int nodes = usual_nodes;  ///< 1 to most_nodes
  /// The correction is multiplied by 16/n, n the number of points: the law of the mean field's error. Then an
  /// explainer that has seen coarse grids alone is right on fine ones.
  bool coarse = false;

  bool any() const { return kind != Kind::none; }
  /// "mean_field of 4 nodes, order 1/n", "none".
  std::string describe() const;
  /// Channels beside those of the field: with_base().
  int channels() const { return any() ? 2 * nodes + 2 : 0; }
  /// What its slopes cost, in forward equivalents: 6 a node for the mean field, and 3 for integrated gradients.
  std::int64_t evaluations() const;

  bool operator==(const ExplainerBase&) const = default;
};

/// The names of the kinds, in their order.
const std::vector<std::string>& base_names();
/// The name of one, and the kind of a name. Throws InvalidArgument for another one.
const std::string& name_of(ExplainerBase::Kind kind);
ExplainerBase::Kind find_base(std::string_view name);

/// Throws InvalidArgument where the operator cannot give this base.
void require_base(const ExplainerBase& base, const Operator& op);
/// The same where a scenario cannot have it: on a mesh, for players that are not the points, and for a target that is
/// no query.
void require_base(const ExplainerBase& base, const Scenario& scenario);

/// A scenario as an explainer with a base sees it.
struct BasedField {
  FieldBatch input;             ///< what its network is given, a batch of one
  std::vector<double> density;  ///< of the base, [points]
  /// What the network's density is multiplied by before it is added to that of the base.
  double scale = 0;
};

/// ∂v/∂w_i·(input − baseline) at the nodes of the base on the diagonal, [nodes, players]: nodes passes of the game.
/// Throws InvalidArgument for a game without such slopes, NumericalError for one that is not finite.
std::vector<double> base_slopes(const ExplainerBase& base, CountedGame& game);

/// What an explainer with this base is given for a scenario, from base_slopes() [nodes, points] and v(N) − v(∅).
///
/// With V the volume of the domain and q the query, the density of a node is n·slope/V at each point, and at q the mean
/// of the densities at its neighbours. The atom of a node is what the slope at q has beyond that, over V. Channels: the
/// input less the baseline, and a channel that players do not hide as it is; the densities of the nodes; the atoms of
/// the nodes, each the same at all points; the gap (v(N) − v(∅) − Σ slopes)/V, with the integral over the nodes as the
/// slopes; 16/n. Densities, atoms and gap are divided by s, s² the mean over nodes and points of the squares of the
/// densities, and of the atoms, and the square of the gap. So the channels do not depend on the unit of the output, and
/// a positive multiple of the operator gives this multiple of `density` and `scale`. `scale` is s, with the factor 16/n
/// where the base has it; 0 where there is nothing to correct.
///
/// Throws as require_base().
BasedField with_base(const ExplainerBase& base, const Scenario& scenario, std::span<const double> slopes, double gain);

}  // namespace opshap
