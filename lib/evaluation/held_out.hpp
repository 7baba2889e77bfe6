#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/explainer.hpp"
#include "core/scenario.hpp"
#include "data/sample_fields.hpp"
#include "evaluation/certified_reference.hpp"
#include "methods/method.hpp"
#include "runs/part.hpp"
#include "statistics/bootstrap.hpp"

namespace opshap::evaluation {

/// What an explainer has to answer for: inputs that it was not trained on, at several resolutions.
struct HeldOutPlan {
  const Operator& op;
  data::SampleFields inputs;  ///< on their native grid, or each on its mesh
  ScenarioRule rule;          ///< how an input at a resolution becomes a game
  std::vector<Resolution> resolutions;
  bool any_query = false;  ///< each input is explained at a random point, instead of the rule's
  ReferenceSettings reference;
  std::uint64_t seed = 42;
};

/// How far a method is from the Shapley values of the inputs at one resolution.
struct HeldOutErrors {
  std::vector<int> shape;  ///< points per axis
  int players = 0;
  std::vector<double> nrmse;    ///< of each input whose Shapley values are not all 0; the others are left out
  std::vector<double> seconds;  ///< of each explanation, with the operator's part
  std::vector<double> forward_equivalents;  ///< of each explanation, Attribution::forward_equivalents
  std::vector<double> reference_errors;  ///< ‖standard errors‖₂/‖values‖₂ of each of these inputs' references
  int left_out = 0;  ///< inputs whose Shapley values are all 0, so that no error is relative to them

  /// The median NRMSE, and where it lies when the inputs are drawn anew (95 %, statistics::bootstrap).
  /// Both need one error at the least.
  double median() const;
  statistics::Interval interval(std::uint64_t seed) const;
};

/// The games of held-out inputs with their certified references.
class HeldOut {
 public:
  /// Computes the references, or takes those that `units` has of the same plan; one input at the least. Throws as
  /// make_scenario() and certified_reference(), Stopped after a signal.
  explicit HeldOut(HeldOutPlan plan, runs::Units* units = nullptr);

  /// A game with what explains it.
  struct Case {
    Scenario scenario;
    std::unique_ptr<Game> game;
    std::vector<double> values;        ///< of the reference
    Measured error = Measured::of(0);  ///< of these values, relative; undefined where they are all 0
  };
  /// Of input number `sample` at resolution number `place`.
  const Case& explained(std::size_t place, std::size_t sample) const { return cases_.at(place).at(sample); }
  std::size_t inputs() const { return cases_.front().size(); }

  /// Of the game of resolution number `place`.
  int players(std::size_t place) const { return cases_.at(place).front().game->players(); }

  /// At resolution number `place`; `inputs` limits them to the first ones. Nothing where the method cannot work with
  /// such a budget or so many players. Without a single error when the Shapley values of all inputs are 0.
  std::optional<HeldOutErrors> errors_at(std::size_t place, const methods::Method& method, Budget budget = {},
                                         int inputs = std::numeric_limits<int>::max()) const;

  /// Errors at resolution number `place` of the references themselves with 0 for the query's own player: its share of
  /// their norm. A bounded density gives a small cell a small value, so that its error on fine grids is not below the
  /// limit of this. `seconds` is empty. Throws DataError when the Shapley values of all inputs are 0.
  HeldOutErrors own_player_missed(std::size_t place) const;

  /// Drift of an explainer's densities from one resolution to a finer one, the median over the inputs
  /// (evaluation::drift). Throws DataError where the densities of all inputs are constant.
  double drift(const Explainer& explainer, const Resolution& coarse, const Resolution& fine) const;

 private:
  Case prepared(const Resolution& resolution, std::int64_t sample) const;

  HeldOutPlan plan_;
  std::vector<std::vector<Case>> cases_;  ///< [resolutions][inputs]
};

/// What the players of `here` get of the values of another game of the same field, [players of here]: the values
/// themselves where the players are the same. Else each value is spread over the points of its player by their volume,
/// and a player of `here` gets what its own points have of it, each as much as the point of `there` that is nearest.
std::vector<double> values_for(const Scenario& here, const Scenario& there, std::span<const double> values);

}  // namespace opshap::evaluation
