#include "estimators/odd_spectrum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>

namespace opshap::estimators {

std::map<Term, double> odd_spectrum(std::span<const TreeLeaf> leaves) {
  std::map<Term, double> spectrum;
  for (const TreeLeaf& leaf : leaves) {
    const std::set<int> required(leaf.required.begin(), leaf.required.end());
    std::set<int> asked(required);
    asked.insert(leaf.forbidden.begin(), leaf.forbidden.end());
    if (std::ranges::any_of(leaf.forbidden, [&](int player) { return required.contains(player); })) continue;
    const std::vector<int> players(asked.begin(), asked.end());
    const double part = std::ldexp(leaf.value, -static_cast<int>(players.size()));
    Term term;
    for (std::uint64_t chosen = 0; chosen < std::uint64_t{1} << players.size(); ++chosen) {
      if (std::popcount(chosen) % 2 == 0) continue;
      term.clear();
      bool negative = false;
      for (std::size_t k = 0; k < players.size(); ++k) {
        if ((chosen >> k & 1) == 0) continue;
        term.push_back(players[k]);
        negative ^= required.contains(players[k]);
      }
      spectrum[term] += negative ? -part : part;
    }
  }
  return spectrum;
}

}  // namespace opshap::estimators
