#pragma once

#include <span>
#include <vector>

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

}  // namespace opshap::estimators
