#include "estimators/tree_shapley.hpp"

#include <algorithm>
#include <cstddef>

#include "core/error.hpp"

namespace opshap::estimators {

namespace {

std::vector<int> each_once(std::vector<int> members, int players) {
  std::ranges::sort(members);
  members.erase(std::ranges::unique(members).begin(), members.end());
  if (!members.empty()) {
    const int wrong = members.front() < 0 ? members.front() : members.back();
    require(wrong >= 0 && wrong < players, "tree leaf: player=", wrong, " (needs 0..", players - 1,
            "). Give the leaf to a game with its players.");
  }
  return members;
}

bool overlap(const std::vector<int>& a, const std::vector<int>& b) {
  return std::ranges::any_of(a, [&](int player) { return std::ranges::binary_search(b, player); });
}

/// (k−1)! o!/(k+o)!: that one of k players comes after the other k−1 and before the o others. No binomial is formed, so
/// it never overflows.
double pivotal(std::size_t k, std::size_t o) {
  double probability = 1 / static_cast<double>(k);
  for (std::size_t j = 1; j <= k; ++j) probability *= static_cast<double>(j) / static_cast<double>(o + j);
  return probability;
}

}  // namespace

std::vector<double> shapley_values_of_leaves(int players, std::span<const TreeLeaf> leaves) {
  std::vector<double> values(static_cast<std::size_t>(players), 0.0);
  for (const TreeLeaf& leaf : leaves) {
    const std::vector<int> required = each_once(leaf.required, players), forbidden = each_once(leaf.forbidden, players);
    if (overlap(required, forbidden)) continue;
    if (!required.empty()) {
      const double gain = leaf.value * pivotal(required.size(), forbidden.size());
      for (const int player : required) values[static_cast<std::size_t>(player)] += gain;
    }
    if (!forbidden.empty()) {
      const double loss = leaf.value * pivotal(forbidden.size(), required.size());
      for (const int player : forbidden) values[static_cast<std::size_t>(player)] -= loss;
    }
  }
  return values;
}

}  // namespace opshap::estimators
