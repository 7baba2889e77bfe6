#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/attribution.hpp"
#include "core/field.hpp"
#include "core/operator.hpp"
#include "core/partition.hpp"
#include "core/resolution.hpp"
#include "core/trained_for.hpp"

namespace opshap {

/// An amortised explainer: attributions from the input field alone, at the price of one forward pass.
///
/// What its training cost is reported beside every number it produces.
class Explainer {
 public:
  virtual ~Explainer() = default;
  virtual std::string describe() const = 0;

  /// Whether it explains every point. The others know one point, the one that they were trained for.
  virtual bool any_query() const { return false; }
  /// The grids that it was trained on; empty where nobody said.
  virtual std::vector<Resolution> trained_at() const { return {}; }
  /// What it was trained for, as its weights say it; empty for weights that do not.
  virtual TrainedFor trained_for() const { return {}; }
  /// Attribution densities of what is explained, [B, 1, points], before normalisation. What the query's own cell is
  /// worth beside the density is in that point's density, over the volume of the point. An explainer of any query adds
  /// up its densities of the readout's queries: one forward pass for each.
  virtual FieldBatch densities(const FieldBatch& inputs, const Readout& readout) const = 0;
};

/// Cell values of one density field: integrated over each player's cells, then shifted in proportion to the cells'
/// volumes so that they add up to grand − empty (Algorithm 1 of the paper, "normalize").
std::vector<double> cell_values(std::span<const double> density, const Domain& domain, const Partition& partition,
                                double empty, double grand);

}  // namespace opshap
