#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/domain.hpp"
#include "engines/padded_grid.hpp"
#include "operators/axis_quadrature.hpp"
#include "operators/box.hpp"
#include "operators/config_reader.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

/// How a network pads the grid of its fields with zeros.
struct PaddingRule {
  engines::AxisFractions fraction;  ///< rounded half to even to whole points
  bool both_sides = true;           ///< or at the end alone
};

/// The padding of a CONFIG or a profile: one fraction for all axes, or a list with one for each. Throws as
/// ConfigReader.
engines::AxisFractions read_padding(ConfigReader& reader, const std::string& key, std::size_t axes);
/// As read_padding() reads it.
nlohmann::ordered_json padding_json(const engines::AxisFractions& padding);

/// Where the fields of a domain lie in the padded grid that the blocks of a network work on. Tensors are points first,
/// [points, B, C].
class GridPadding {
 public:
  GridPadding(const Domain& domain, PaddingRule rule);

  /// Points per axis of the padded grid.
  const std::vector<std::int64_t>& padded() const { return padded_; }
  std::int64_t points() const { return grid_.points(); }
  std::int64_t padded_points() const { return grid_.padded_points(); }
  std::int64_t padded_point(std::int64_t point) const { return grid_.padded_point(point); }

  /// The unpadded part, all of the padded grid, and one point of the domain, as boxes of the padded grid.
  Box inside() const;
  Box whole() const;
  Box one(std::int64_t point) const;

  /// From the points of the domain to those of the padded grid, which are zero elsewhere, and back.
  torch::Tensor pad(const torch::Tensor& x) const;
  torch::Tensor crop(const torch::Tensor& x) const;

  /// volume_quadrature() of each axis.
  std::vector<AxisQuadrature> volume_quadratures() const;

 private:
  bool none() const { return shape_ == padded_; }

  std::vector<Axis> axes_;
  PaddingRule rule_;
  engines::PaddedGrid grid_;
  std::vector<std::int64_t> shape_, padded_, before_;
};

}  // namespace opshap::operators
