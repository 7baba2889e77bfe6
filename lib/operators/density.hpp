#pragma once

#include <string>
#include <vector>

#include "core/explainer_base.hpp"
#include "core/scenario.hpp"
#include "networks/recipe.hpp"

namespace opshap::operators {

/// The configuration of an explainer's network: another network that sees the field together with where its points lie
/// as seen from the query.
struct DensityConfig {
  networks::NetworkConfig network;  ///< its inputs are the field's channels and those of the places
  /// What says where a point is: "grid", what the network itself makes of its grid; "query_offset", the distance from
  /// the query on each axis in units of the axis, on a mesh in those of the domain; "query_angle", sine and cosine of
  /// that distance, for periodic axes.
  std::string coordinates = "query_angle";
  /// A second output that is read at the query alone and added to what the query's own cell is worth. That cell keeps a
  /// finite value on any grid, which a density has only at the price of a height that grows with it.
  bool atom = true;
  /// What the network's output at a point is worth there: "volumes", a density, which counts as much as the point's
  /// cell is large; "equal", a value for a cell of the regular size, for which the cells at the ends of an axis count
  /// as well, though those of points on the ends are half as large. An operator that sums over its points alike gives
  /// them as much, and a density would have to jump there. Only grids with points on the ends can tell the two apart.
  std::string cells = "volumes";
  enum class Query {
    centre,  ///< Domain::centre()
    point,   ///< the point nearest to `position`
    any,     ///< each field brings its own: the last input channels hold its position, one channel an axis
  } query = Query::centre;
  std::vector<double> position = {};
  /// From so many points per axis on a grid is fine, and the answer does not depend on it. Coarser grids are told to
  /// the network by a further channel, (1/points − 1/fine_from)/(1/coarsest − 1/fine_from), coarsest the first of
  /// trained_at: a few coarse cells are worth something else than the density over them, by O(1/points). 0: no channel.
  int fine_from = 0;
  /// What the network's densities correct. Then the fields have the channels of with_base().
  ExplainerBase base = {};
  std::vector<Resolution> trained_at = {};  ///< the grids it was trained on; for those who ask elsewhere

  /// Throws DataError for a key that is unknown and for a value that cannot work, naming it.
  static DensityConfig parse(const networks::NetworkConfig& config);
  /// Every key with its value. Implicit: a DensityConfig is one kind of CONFIG.
  operator networks::NetworkConfig() const;

  /// Channels that the network gets beside the field's: the places of points, and of a query that is not fixed.
  int place_channels(int dimension) const;

  bool operator==(const DensityConfig&) const = default;
};

/// Whether a CONFIG is that of such a network, whose fields bring their own query.
bool takes_any_query(const networks::NetworkConfig& config);
/// DensityConfig::base; none for another network.
ExplainerBase base_of(const networks::NetworkConfig& config);
/// DensityConfig::trained_at; empty for another network.
std::vector<Resolution> trained_at(const networks::NetworkConfig& config);

}  // namespace opshap::operators
