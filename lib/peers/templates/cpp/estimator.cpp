// {{name}}: the mean of marginal contributions along random orderings.
//
// Replace the body of {{function}}() by your own method. Then:
//
//     opshap peer check {{name}}
//     opshap compare --game unanimity_sum --players 16 --methods peer:{{name}},permutation --budgets 4n,8n,16n

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>

#include "opshap_peer.hpp"

std::vector<double> {{function}}(opshap_peer::Game& game) {
  const int n = game.players;
  if (n == 1) return {game.grand - game.empty};
  const std::int64_t orderings = game.left / (n - 1);  // the empty and the grand coalition are paid already
  if (orderings == 0) throw opshap_peer::Refused("the budget is below n + 1, so it allows no ordering");
  std::mt19937_64 random(game.seed);
  std::vector<int> ordering(n);
  std::iota(ordering.begin(), ordering.end(), 0);
  std::vector<double> total(n, 0.0), mean(n);
  for (std::int64_t done = 1; done <= orderings; ++done) {
    std::shuffle(ordering.begin(), ordering.end(), random);
    // Row k holds the first k + 1 players of the ordering; the last one would be the grand coalition.
    opshap_peer::Masks masks(n - 1, std::vector<bool>(n, false));
    for (int place = 0; place + 1 < n; ++place) {
      for (int row = place; row + 1 < n; ++row) masks[row][ordering[place]] = true;
    }
    std::vector<double> along = game(masks);
    along.push_back(game.grand);
    double before = game.empty;
    for (int place = 0; place < n; ++place) {
      total[ordering[place]] += along[place] - before;
      before = along[place];
    }
    for (int player = 0; player < n; ++player) mean[player] = total[player] / static_cast<double>(done);
    if ((done & (done - 1)) == 0) game.partial(mean);  // after 1, 2, 4, ... orderings
  }
  return mean;
}

int main() {
  try {
    return opshap_peer::serve("{{name}}", {{function}});
  } catch (const opshap_peer::ProtocolError& error) {
    std::fputs(error.what(), stderr);
    return 1;
  }
}
