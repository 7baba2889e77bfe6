#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/game.hpp"

namespace opshap::estimators {

/// The game that is worth `value` to every coalition with all of the `required` and none of the `forbidden` players: a
/// leaf of a decision tree.
///
/// Players may be listed more than once, as a path asks about some more than once; a player both required and forbidden
/// makes the game 0.
struct TreeLeaf {
  std::vector<int> required;
  std::vector<int> forbidden;
  double value = 0;
};

/// Shapley values of the sum of the leaves, [players].
///
/// Of a leaf with e required and r forbidden players, a required one is pivotal in a random ordering iff the other
/// required ones come before it and all forbidden ones after: probability (e−1)! r!/(e+r)! = 1/(e·C(e+r, e)). A
/// forbidden one takes the value away with probability 1/(r·C(e+r, r)). This is the interventional value for the absent
/// players as background (Lundberg et al. 2020; Laberge & Pequignot 2022), leaf by leaf. Cost: O(leaves · depth).
/// Throws InvalidArgument for a player outside 0..players-1.
std::vector<double> shapley_values_of_leaves(int players, std::span<const TreeLeaf> leaves);

/// How gradient-boosted trees are grown; the defaults are those of XGBoost's regressor.
struct Boosting {
  int rounds = 100;
  int depth = 6;
  double learning_rate = 0.3;
  double lambda = 1;  ///< the L2 penalty of leaf values
  int bins = 256;     ///< of the histograms; a player needs two
};

/// XGBoost's model of targets on coalitions, as UBJSON, which is read faster than JSON: squared error, histograms, base
/// score the targets' mean, one thread.
///
/// Deterministic. The targets are fitted as they are, rounded to float32. Memory: 13 bytes per coalition and player,
/// most of them the library's. Throws InvalidArgument without coalitions, NumericalError with XGBoost's own words when
/// it cannot fit them, EnvironmentError where libxgboost is not there.
std::string fit_xgboost(const Coalitions& coalitions, std::span<const double> targets, const Boosting& boosting = {});

/// A sum of regression trees that ask which players are in: a game with known Shapley values.
///
/// Values are sums of the leaves in double precision, not XGBoost's float32 sums, so that they and the Shapley values
/// belong to one and the same game.
class BoostedTrees final : public SolvedGame {
 public:
  /// From a model of XGBoost (1.6 or later) in JSON or UBJSON, with all values multiplied by `factor`; `who` starts
  /// the messages.
  ///
  /// A leaf's value is its split condition; base_weights are unshrunk for some training methods and are not read.
  /// Throws DataError when it is malformed.
  static BoostedTrees parse(int players, std::string_view model, std::string_view who, double factor = 1);

  /// Fitted to targets brought to the size of 1 by a power of two: XGBoost makes no split that gains less than 1e-6,
  /// whatever the scale of the game.
  static BoostedTrees fit(const Coalitions& coalitions, std::span<const double> targets, const Boosting& boosting = {});

  int players() const override { return players_; }
  std::vector<double> shapley_values() const override { return shapley_values_of_leaves(players_, leaves()); }
  /// Of all trees, with the questions on the way to each.
  std::vector<TreeLeaf> leaves() const;

 private:
  /// Cost: O(depth) a tree and coalition.
  std::vector<double> evaluate(const Coalitions& coalitions) const override;

  struct Node {
    int player = -1;  ///< whom it asks about; -1 in a leaf
    int absent = 0, present = 0;
    double value = 0;
  };
  using Tree = std::vector<Node>;

  explicit BoostedTrees(int players) : players_(players) {}

  int players_;
  double base_ = 0;
  std::vector<Tree> trees_;
};

}  // namespace opshap::estimators
