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

class UnanimitySum final : public SolvedGame, public MeanField, public CoalitionSlopes {
 public:
  UnanimitySum(int players, std::vector<UnanimityTerm> terms, double empty)
      : players_(players),
        terms_(std::move(terms)),
        empty_(empty),
        extension_(*this, [this](double t, std::span<double> slopes) { add_diagonal_slopes(t, slopes); }) {}

  int players() const override { return players_; }
  const DifferentiableGame* differentiable() const override { return &extension_; }
  const MeanField* mean_field() const override { return this; }
  const CoalitionSlopes* slopes() const override { return this; }

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

  std::vector<double> mean_field_gradients(std::span<const double> nodes) const override {
    return extension_.diagonal_gradients(nodes);
  }
  std::vector<double> mean_slopes(std::span<const double> nodes) const override {
    return extension_.diagonal_gradients(nodes);
  }
  std::int64_t pass_cost() const override { return 6; }

  /// The multilinear extension's slopes are the marginal contributions.
  std::vector<double> coalition_slopes(const Coalitions& coalitions) const override {
    const auto n = static_cast<std::size_t>(players_);
    std::vector<double> slopes(coalitions.size() * n, 0.0);
    for (std::size_t row = 0; row < coalitions.size(); ++row) {
      for (const UnanimityTerm& term : terms_) {
        int missing = 0, last = 0;
        for (const int player : term.coalition) {
          if (coalitions.contains(row, player)) continue;
          ++missing;
          last = player;
        }
        if (missing == 1) slopes[row * n + static_cast<std::size_t>(last)] += term.coefficient;
        if (missing > 0) continue;
        for (const int player : term.coalition) slopes[row * n + static_cast<std::size_t>(player)] += term.coefficient;
      }
    }
    return slopes;
  }

 private:
  static void fill_all(std::vector<std::uint64_t>& words, std::size_t bits) {
    for (std::size_t word = 0; word * 64 < bits; ++word) {
      const std::size_t rest = bits - word * 64;
      words[word] = rest >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << rest) - 1;
    }
  }

  void add_diagonal_slopes(double t, std::span<double> slopes) const {
    for (const UnanimityTerm& term : terms_) {
      if (term.coalition.empty()) continue;
      const double slope = term.coefficient * std::pow(t, static_cast<double>(term.coalition.size()) - 1);
      for (const int player : term.coalition) slopes[static_cast<std::size_t>(player)] += slope;
    }
  }

  int players_;
  std::vector<UnanimityTerm> terms_;
  double empty_;
  DiagonalExtension extension_;  ///< the same game seen as a smooth one
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
