#include "games/unanimity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "games/measure.hpp"
#include "games/registry.hpp"

namespace opshap::games {

namespace {

class UnanimityGame final : public SolvedGame {
 public:
  UnanimityGame(int players, double value) : players_(players), value_(value) {}

  int players() const override { return players_; }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values(coalitions.size(), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (coalitions.cardinality(i) == players_) values[i] = value_;
    }
    return values;
  }

  std::vector<double> shapley_values() const override {
    return std::vector<double>(static_cast<std::size_t>(players_), value_ / players_);
  }

 private:
  int players_;
  double value_;
};

}  // namespace

std::unique_ptr<SolvedGame> unanimity_game(int players, double value) {
  require(players >= 1 && players <= Coalitions::max_players, "unanimity_game: players=", players, " (needs 1..",
          Coalitions::max_players, "). Give a number of players in that range.");
  require(std::isfinite(value), "unanimity_game: value=", value, " (not finite). Give a number.");
  return std::make_unique<UnanimityGame>(players, value);
}

/// A value in (0, 2].
std::unique_ptr<Game> random_unanimity_game(int players, Rng& rng) {
  return unanimity_game(players, static_cast<double>(1 + rng.below(64)) / 32);
}

namespace {

/// How many coalitions are turned into columns at a time: their columns stay in the caches for thousands of players.
constexpr std::size_t block = 512;

class UnanimitySum final : public SolvedGame {
 public:
  UnanimitySum(int players, std::vector<UnanimityTerm> terms, double empty)
      : players_(players),
        terms_(std::move(terms)),
        empty_(empty),
        extension_(players, [this](auto point, auto slopes) { add_slopes(point, slopes); }, {.multilinear = true}),
        closure_(players, [this](auto point, auto slopes) { add_slopes(point, slopes); },
                 {.pass_cost = 6, .multilinear = true}) {}

  int players() const override { return players_; }
  const Extension* extension() const override { return &extension_; }
  const Extension* mean_field() const override { return &closure_; }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values(coalitions.size(), empty_);
    std::vector<std::uint64_t> containing(block / 64);
    for (std::size_t first = 0; first < values.size(); first += block) {
      const CoalitionColumns columns(coalitions, first, std::min(block, values.size() - first));
      const std::size_t words = columns.words_per_column();
      for (const UnanimityTerm& term : terms_) {
        fill_all(containing, columns.size());
        for (const int player : term.coalition) {
          const auto column = columns.column(player);
          for (std::size_t word = 0; word < words; ++word) containing[word] &= column[word];
        }
        for (std::size_t word = 0; word < words; ++word) {
          for (std::uint64_t rest = containing[word]; rest != 0; rest &= rest - 1)
            values[first + word * 64 + static_cast<std::size_t>(std::countr_zero(rest))] += term.coefficient;
        }
      }
    }
    return values;
  }

  std::vector<double> shapley_values() const override {
    std::vector<double> shapley(static_cast<std::size_t>(players_), 0.0);
    for (const UnanimityTerm& term : terms_) {
      const double share = term.coefficient / static_cast<double>(term.coalition.size());
      for (const int player : term.coalition) shapley[static_cast<std::size_t>(player)] += share;
    }
    return shapley;
  }

  std::optional<std::vector<double>> aumann_shapley_values() const override { return shapley_values(); }

 private:
  static void fill_all(std::vector<std::uint64_t>& words, std::size_t bits) {
    for (std::size_t word = 0; word * 64 < bits; ++word) {
      const std::size_t rest = bits - word * 64;
      words[word] = rest >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << rest) - 1;
    }
  }

  /// Those of the multilinear extension Σ c_T Π_{i∈T} a_i; at a coalition they are the marginal contributions.
  void add_slopes(std::span<const double> point, std::span<double> slopes) const {
    std::vector<double> before;  // the products of the factors up to each
    for (const UnanimityTerm& term : terms_) {
      before.assign(1, term.coefficient);
      for (const int player : term.coalition) before.push_back(before.back() * point[static_cast<std::size_t>(player)]);
      double after = 1;
      for (std::size_t k = term.coalition.size(); k-- > 0;) {
        const auto player = static_cast<std::size_t>(term.coalition[k]);
        slopes[player] += before[k] * after;
        after *= point[player];
      }
    }
  }

  int players_;
  std::vector<UnanimityTerm> terms_;
  double empty_;
  SmoothExtension extension_, closure_;  ///< the same function, as one branch of an operator and as two
};

}  // namespace

std::unique_ptr<SolvedGame> unanimity_sum(int players, std::vector<UnanimityTerm> terms, double empty) {
  require(players >= 1 && players <= Coalitions::max_players, "unanimity_sum: players=", players, " (needs 1..",
          Coalitions::max_players, "). Give a number of players in that range.");
  require(std::isfinite(empty), "unanimity_sum: empty=", empty, " (not a finite number). Give v(∅) as a number.");
  std::vector<int> sorted;
  for (std::size_t index = 0; index < terms.size(); ++index) {
    require(std::isfinite(terms[index].coefficient), "unanimity_sum: coefficient=", terms[index].coefficient, " (term ",
            index, " is not finite). Give a number.");
    sorted = terms[index].coalition;
    std::sort(sorted.begin(), sorted.end());
    for (const int player : sorted) {
      require(player >= 0 && player < players, "unanimity_sum: player=", player, " (term ", index, "; players are 0..",
              players - 1, "). Give a player of the game.");
    }
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    require(twice == sorted.end(), "unanimity_sum: player=", twice == sorted.end() ? 0 : *twice, " (twice in term ",
            index, "; a coalition is a set). Name it once.");
  }
  return std::make_unique<UnanimitySum>(players, std::move(terms), empty);
}

/// 3n terms of one to five players (fewer when n is smaller), coefficients multiples of 1/64 in [-2, 2), v(∅) not 0.
std::unique_ptr<Game> random_unanimity_sum(int players, Rng& rng) {
  std::vector<int> all(static_cast<std::size_t>(players));
  std::iota(all.begin(), all.end(), 0);
  std::vector<UnanimityTerm> terms(3 * all.size());
  for (UnanimityTerm& term : terms) {
    const auto members = 1 + static_cast<std::size_t>(rng.below(static_cast<std::uint64_t>(std::min(players, 5))));
    for (std::size_t i = 0; i < members; ++i) std::swap(all[i], all[i + rng.below(all.size() - i)]);
    term.coalition.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(members));
    term.coefficient = (static_cast<double>(rng.below(256)) - 128) / 64;
  }
  return unanimity_sum(players, std::move(terms), 1 + static_cast<double>(rng.below(64)) / 64);
}

std::unique_ptr<SolvedGame> additive_game(std::span<const double> weights, double empty) {
  std::vector<UnanimityTerm> terms;
  for (std::size_t player = 0; player < weights.size(); ++player)
    terms.push_back({{static_cast<int>(player)}, weights[player]});
  return unanimity_sum(static_cast<int>(weights.size()), std::move(terms), empty);
}

/// Weights multiples of 1/64 in [-2, 2), v(∅) not 0.
std::unique_ptr<Game> random_additive_game(int players, Rng& rng) {
  std::vector<double> weights(static_cast<std::size_t>(players));
  for (double& weight : weights) weight = (static_cast<double>(rng.below(256)) - 128) / 64;
  return additive_game(weights, 1 + static_cast<double>(rng.below(64)) / 64);
}

}  // namespace opshap::games
