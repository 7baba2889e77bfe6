#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/estimator.hpp"
#include "core/explainer_base.hpp"
#include "core/field.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"

namespace opshap {

/// What an explainer was trained for, fact by fact; weights carry them. "operator" is Operator::checksum(), "players"
/// the rule and not their number, "baseline" the values that hide a player (whatever they are called; of a blur its
/// width), "masked channels", "channel" of the output, "query" ("any" where it explains every point, "target" with the
/// target's words where it explains no point), "base" where it has one, "problem" with its parameters, and "data" for
/// people. Weights of before say nothing.
using TrainedFor = std::map<std::string, std::string>;

/// The facts of an operator and a rule. A baseline of the mean or at rest must have its constants.
TrainedFor trained_for(const Operator& op, const ScenarioRule& rule);

/// In what the question differs from what an explainer was trained for, in words: "baseline 0.5 instead of zero". Empty
/// where nothing differs. Facts that one side does not know are passed over, and so is the query, which an explainer
/// itself accepts or refuses.
///
/// An explainer with a base corrects what it is told of the operator, so another operator of the same problem is no
/// difference. Of another operator its problem counts, and a problem that the operator does not say is a difference.
std::string differences(const TrainedFor& known, const TrainedFor& asked);

/// Whether the explainer was trained for another operator of the question's problem, and has a base.
bool is_of_another_operator(const TrainedFor& known, const TrainedFor& asked);

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
  /// What it corrects; none of an explainer that gives the whole attribution.
  virtual ExplainerBase base() const { return {}; }
  /// Attribution densities of what is explained, [B, 1, points], before normalisation. With a base, `inputs` are those
  /// of with_base(), and the densities are its correction, in units of BasedField::scale. What the query's own cell is
  /// worth beside the density is in that point's density, over the volume of the point. An explainer of any query adds
  /// up its densities of the readout's queries: one forward pass for each.
  virtual FieldBatch densities(const FieldBatch& inputs, const Readout& readout) const = 0;
};

/// The attribution density of a scenario, [points], before normalisation. `gain` is v(N) − v(∅) where it is known.
///
/// An explainer with a base asks the game for its slopes, and for a gain that is not known. The others ask it for
/// nothing. Throws as base_slopes() and with_base().
std::vector<double> attribution_density(const Explainer& explainer, const Scenario& scenario, CountedGame& game,
                                        std::optional<double> gain = std::nullopt);

/// Cell values of one density field: integrated over each player's cells, then shifted in proportion to the cells'
/// volumes so that they add up to grand − empty (Algorithm 1 of the paper, "normalize").
std::vector<double> cell_values(std::span<const double> density, const Domain& domain, const Partition& partition,
                                double empty, double grand);

}  // namespace opshap
