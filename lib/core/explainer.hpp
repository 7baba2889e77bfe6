#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/estimator.hpp"
#include "core/field.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"

namespace opshap {

/// What an explainer was trained for, fact by fact; weights carry them. "operator" is Operator::checksum(), "players"
/// the rule and not their number, "baseline" the values that hide a player (whatever they are called; of a blur its
/// width), "masked channels", "channel" of the output, "query" ("any" where it explains every point, "target" with the
/// target's words where it explains no point), and "problem" and "data" for people. Weights of before say nothing.
using TrainedFor = std::map<std::string, std::string>;

/// The facts of an operator and a rule. A baseline of the mean or at rest must have its constants.
TrainedFor trained_for(const Operator& op, const ScenarioRule& rule);

/// In what the question differs from what an explainer was trained for, in words: "baseline 0.5 instead of zero". Empty
/// where nothing differs. Facts that one side does not know are passed over, and so is the query, which an explainer
/// itself accepts or refuses.
std::string differences(const TrainedFor& known, const TrainedFor& asked);

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
