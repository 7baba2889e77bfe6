#include "games/glove_market.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/gauss_legendre.hpp"

namespace opshap::games {

namespace {

/// P(X = c) for c = 0..count, X the number of successes in `count` trials. From the most likely one outwards, so that
/// nothing overflows.
std::vector<double> binomial_law(int count, double t) {
  std::vector<double> law(static_cast<std::size_t>(count) + 1);
  const auto mode = static_cast<std::size_t>((count + 1) * t);
  const double odds = t / (1 - t);
  law[mode] = 1;
  for (std::size_t c = mode; c < law.size() - 1; ++c)
    law[c + 1] = law[c] * odds * static_cast<double>(law.size() - 1 - c) / static_cast<double>(c + 1);
  for (std::size_t c = mode; c > 0; --c)
    law[c - 1] = law[c] / odds * static_cast<double>(c) / static_cast<double>(law.size() - c);
  const double sum = std::accumulate(law.begin(), law.end(), 0.0);
  for (double& probability : law) probability /= sum;
  return law;
}

/// P(X >= c).
std::vector<double> tail(std::vector<double> law) {
  for (std::size_t c = law.size() - 1; c > 0; --c) law[c - 1] += law[c];
  return law;
}

/// An interval of [0, 1] in which no hand has a multiple of its glove's worth 1/n_i.
struct Piece {
  double length = 0;
  std::vector<std::size_t> gloves_below;  ///< of each hand
};

std::vector<Piece> pieces_of(const std::vector<int>& gloves) {
  std::vector<Piece> pieces;
  std::vector<std::size_t> below(gloves.size(), 0);
  double begin = 0;
  while (below[0] < static_cast<std::size_t>(gloves[0])) {  // all hands reach 1 together
    // Fractions (c+1)/n are compared by their cross products: equal ones must be found equal.
    const auto ends_before = [&](std::size_t i, std::size_t j) {
      return (below[i] + 1) * static_cast<std::size_t>(gloves[j]) <
             (below[j] + 1) * static_cast<std::size_t>(gloves[i]);
    };
    std::size_t first = 0;
    for (std::size_t hand = 1; hand < gloves.size(); ++hand) {
      if (ends_before(hand, first)) first = hand;
    }
    const double end = static_cast<double>(below[first] + 1) / gloves[first];
    pieces.push_back({.length = end - begin, .gloves_below = below});
    std::vector<bool> ends(gloves.size());
    for (std::size_t hand = 0; hand < gloves.size(); ++hand) ends[hand] = !ends_before(first, hand);
    for (std::size_t hand = 0; hand < gloves.size(); ++hand) below[hand] += ends[hand] ? 1 : 0;
    begin = end;
  }
  return pieces;
}

class GloveMarket final : public SolvedGame {
 public:
  explicit GloveMarket(std::vector<int> gloves)
      : gloves_(std::move(gloves)), players_(std::accumulate(gloves_.begin(), gloves_.end(), 0)) {}

  int players() const override { return players_; }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values(coalitions.size(), 1.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      int player = 0;
      for (const int gloves : gloves_) {
        int found = 0;
        for (const int end = player + gloves; player < end; ++player) found += coalitions.contains(i, player);
        values[i] = std::min(values[i], static_cast<double>(found) / gloves);
      }
    }
    return values;
  }

  std::vector<double> shapley_values() const override {
    const std::size_t hands = gloves_.size();
    const std::vector<Piece> pieces = pieces_of(gloves_);
    const GaussLegendre rule((players_ + 1) / 2);
    std::vector<double> of_hand(hands, 0.0);  // to each of its gloves
    for (std::size_t node = 0; node < rule.nodes.size(); ++node) {
      std::vector<std::vector<double>> others, enough;  // law of the other gloves of a hand; P(a hand has that many)
      for (const int gloves : gloves_) {
        others.push_back(binomial_law(gloves - 1, rule.nodes[node]));
        enough.push_back(tail(binomial_law(gloves, rule.nodes[node])));
      }
      // A glove of hand i counts for the levels between the others' c/n_i and (c+1)/n_i that all other hands reach.
      for (const Piece& piece : pieces) {
        for (std::size_t i = 0; i < hands; ++i) {
          double chance = others[i][piece.gloves_below[i]];
          for (std::size_t j = 0; j < hands; ++j) {
            if (j != i) chance *= enough[j][piece.gloves_below[j] + 1];
          }
          of_hand[i] += rule.weights[node] * piece.length * chance;
        }
      }
    }
    std::vector<double> shapley;
    for (std::size_t i = 0; i < hands; ++i)
      shapley.insert(shapley.end(), static_cast<std::size_t>(gloves_[i]), of_hand[i]);
    return shapley;
  }

 private:
  std::vector<int> gloves_;
  int players_;
};

}  // namespace

std::unique_ptr<SolvedGame> glove_market(std::vector<int> gloves) {
  require(!gloves.empty(),
          "glove_market: hands=0 (a market has one at least). Give the number of gloves of each hand.");
  std::int64_t players = 0;
  for (std::size_t hand = 0; hand < gloves.size(); ++hand) {
    require(gloves[hand] >= 1, "glove_market: gloves=", gloves[hand], " (hand ", hand,
            "; every hand has one at least). Leave the hand out.");
    players += gloves[hand];
  }
  require(players <= Coalitions::max_players, "glove_market: players=", players, " (at most ", Coalitions::max_players,
          "). Give fewer gloves.");
  return std::make_unique<GloveMarket>(std::move(gloves));
}

std::unique_ptr<Game> random_glove_market(int players, Rng& rng) {
  std::vector<int> gloves(static_cast<std::size_t>(std::min(players, 3)), 1);
  for (int placed = static_cast<int>(gloves.size()); placed < players; ++placed) ++gloves[rng.below(gloves.size())];
  return glove_market(std::move(gloves));
}

}  // namespace opshap::games
