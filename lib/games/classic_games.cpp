#include "games/classic_games.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/gauss_legendre.hpp"
#include "games/registry.hpp"

namespace opshap::games {

namespace {

/// The integers low..high, all that a sum can be.
struct Range {
  int low = 0, high = 0;
  std::size_t size() const { return static_cast<std::size_t>(high - low + 1); }
};

}  // namespace

std::vector<double> shapley_values_on_integers(std::span<const int> cells, const std::function<double(double)>& f) {
  const std::size_t n = cells.size();
  std::vector<Range> ranges(n + 1);  // ranges[k]: of the sum over players 0..k−1
  for (std::size_t k = 0; k < n; ++k)
    ranges[k + 1] = {.low = ranges[k].low + std::min(cells[k], 0), .high = ranges[k].high + std::max(cells[k], 0)};
  std::vector<double> of_sum(ranges[n].size());
  for (std::size_t x = 0; x < of_sum.size(); ++x) of_sum[x] = f(ranges[n].low + static_cast<double>(x));

  const GaussLegendre rule(static_cast<int>((n + 1) / 2));
  std::vector<double> shapley(n, 0.0), law, next_law;
  std::vector<std::vector<double>> expected(n + 1);  // expected[k][x]: E f given the sum x over players 0..k−1
  for (std::size_t k = 0; k <= n; ++k) expected[k].resize(ranges[k].size());
  for (std::size_t node = 0; node < rule.nodes.size(); ++node) {
    const double t = rule.nodes[node];
    expected[n] = of_sum;
    // Where the sum without and with player k lies in expected[k + 1].
    const auto without = [&](std::size_t k) { return static_cast<std::size_t>(ranges[k].low - ranges[k + 1].low); };
    const auto with = [&](std::size_t k) {
      return static_cast<std::size_t>(ranges[k].low + cells[k] - ranges[k + 1].low);
    };
    for (std::size_t k = n; k-- > 0;) {
      const double* stays = expected[k + 1].data() + without(k);
      const double* joins = expected[k + 1].data() + with(k);
      double* here = expected[k].data();
      for (std::size_t x = 0; x < ranges[k].size(); ++x) here[x] = stays[x] + t * (joins[x] - stays[x]);
    }
    law.assign(1, 1.0);
    for (std::size_t k = 0; k < n; ++k) {
      const double* stays = expected[k + 1].data() + without(k);
      const double* joins = expected[k + 1].data() + with(k);
      double marginal = 0;
      for (std::size_t x = 0; x < law.size(); ++x) marginal += law[x] * (joins[x] - stays[x]);
      shapley[k] += rule.weights[node] * marginal;
      next_law.assign(ranges[k + 1].size(), 0.0);
      for (std::size_t x = 0; x < law.size(); ++x) next_law[x + without(k)] += (1 - t) * law[x];
      for (std::size_t x = 0; x < law.size(); ++x) next_law[x + with(k)] += t * law[x];
      law.swap(next_law);
    }
  }
  return shapley;
}

Measure measure_of_integers(std::span<const int> cells, std::string_view who) {
  constexpr std::int64_t largest_cell = 1000000, largest_table = std::int64_t{1} << 28;
  std::int64_t total = 0;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    require(std::abs(static_cast<std::int64_t>(cells[k])) <= largest_cell, who, ": cell=", cells[k], " (cell ", k,
            "; at most ", largest_cell, " in size). Divide all cells by a common factor.");
    total += std::abs(static_cast<std::int64_t>(cells[k]));
  }
  require(total * static_cast<std::int64_t>(cells.size()) <= largest_table, who, ": total=", total, " with ",
          cells.size(), " cells (the sums' table would have over 2^28 entries). Divide all cells by a common factor.");
  return Measure({cells.begin(), cells.end()});
}

std::unique_ptr<SolvedGame> weighted_voting(std::vector<int> weights, double quota) {
  require(std::isfinite(quota), "weighted_voting: quota=", quota, " (not finite). Give a number.");
  Measure measure = measure_of_integers(weights, "weighted_voting");
  const auto value = [quota](double x) { return x >= quota ? 1.0 : 0.0; };
  ScalarFunction f{.value = value, .slope = [](double) { return 0.0; }, .absolutely_continuous = false};
  return function_of_measure(std::move(measure), std::move(f), [weights = std::move(weights), value] {
    return shapley_values_on_integers(weights, value);
  });
}

/// Weights 1..4 and a quota between 1/4 and 3/4 of their total.
std::unique_ptr<Game> random_weighted_voting(int players, Rng& rng) {
  std::vector<int> weights = random_integer_cells(players, 4, rng);
  const double quota = std::accumulate(weights.begin(), weights.end(), 0) * rng.uniform(0.25, 0.75);
  return weighted_voting(std::move(weights), quota);
}

namespace {

class AirportGame final : public SolvedGame {
 public:
  explicit AirportGame(std::vector<double> costs) : costs_(std::move(costs)) {}

  int players() const override { return static_cast<int>(costs_.size()); }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values(coalitions.size(), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = coalitions.row(i);
      for (std::size_t word = 0; word < row.size(); ++word) {
        for (std::uint64_t rest = row[word]; rest != 0; rest &= rest - 1)
          values[i] = std::max(values[i], costs_[word * 64 + static_cast<std::size_t>(std::countr_zero(rest))]);
      }
    }
    return values;
  }

  std::vector<double> shapley_values() const override {
    std::vector<std::size_t> by_cost(costs_.size());
    std::iota(by_cost.begin(), by_cost.end(), std::size_t{0});
    std::sort(by_cost.begin(), by_cost.end(), [this](std::size_t a, std::size_t b) { return costs_[a] < costs_[b]; });
    std::vector<double> shapley(costs_.size());
    double share = 0, below = 0;
    for (std::size_t place = 0; place < by_cost.size(); ++place) {
      const double cost = costs_[by_cost[place]];
      share += (cost - below) / static_cast<double>(by_cost.size() - place);
      below = cost;
      shapley[by_cost[place]] = share;
    }
    return shapley;
  }

 private:
  std::vector<double> costs_;
};

}  // namespace

std::unique_ptr<SolvedGame> airport_game(std::vector<double> costs) {
  require(!costs.empty() && costs.size() <= Coalitions::max_players, "airport_game: players=", costs.size(),
          " (needs 1..", Coalitions::max_players, "). Give one cost a player.");
  for (std::size_t player = 0; player < costs.size(); ++player)
    require(std::isfinite(costs[player]) && costs[player] >= 0, "airport_game: cost=", costs[player], " (player ",
            player, "; costs are finite and not negative). Give a runway length.");
  return std::make_unique<AirportGame>(std::move(costs));
}

/// Costs multiples of 1/32 in (0, 2], some of them equal.
std::unique_ptr<Game> random_airport_game(int players, Rng& rng) {
  std::vector<double> costs(static_cast<std::size_t>(players));
  for (double& cost : costs) cost = static_cast<double>(1 + rng.below(64)) / 32;
  return airport_game(std::move(costs));
}

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
        std::vector<double>& tail = enough.emplace_back(binomial_law(gloves, rule.nodes[node]));
        std::partial_sum(tail.rbegin(), tail.rend(), tail.rbegin());
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

/// Three hands, or as many as there are players.
std::unique_ptr<Game> random_glove_market(int players, Rng& rng) {
  std::vector<int> gloves(static_cast<std::size_t>(std::min(players, 3)), 1);
  for (int placed = static_cast<int>(gloves.size()); placed < players; ++placed) ++gloves[rng.below(gloves.size())];
  return glove_market(std::move(gloves));
}

}  // namespace opshap::games
