#include "estimators/two_level.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>

#include "core/estimator.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/exact.hpp"
#include "estimators/spread.hpp"

namespace opshap::estimators {

TwoLevelPlan best_two_level_plan(int players, std::int64_t pass_cost, std::int64_t evaluations, double slopes,
                                 double corrections) {
  TwoLevelPlan best;
  double least = std::numeric_limits<double>::infinity();
  for (TwoLevelPlan plan; plan.cost(players, pass_cost) <= evaluations; ++plan.stride) {
    const std::int64_t of_sample = plan.cost(players, pass_cost) / plan.samples;
    const TwoLevelPlan more{.samples = evaluations / of_sample, .stride = plan.stride};
    const double variance =
        (slopes / static_cast<double>(more.stride) + corrections) / static_cast<double>(more.samples);
    if (variance < least) {
      least = variance;
      best = more;
    }
  }
  return slopes + corrections > 0 ? best : TwoLevelPlan{};
}

std::vector<double> interpolation_weights(const std::vector<double>& nodes, double t) {
  std::vector<double> weights(nodes.size(), 1.0);
  for (std::size_t k = 0; k < nodes.size(); ++k)
    for (std::size_t j = 0; j < nodes.size(); ++j)
      if (j != k) weights[k] *= (t - nodes[j]) / (nodes[k] - nodes[j]);
  return weights;
}

namespace {

double mean(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

/// What is known of one player.
struct Player {
  Spread slopes, corrections;  ///< of the two levels, by pair: the slopes less their mean over the players
  /// What each pair adds to the value, less the mean of that over the players: pairs with a correction of this player,
  /// and pairs without.
  Spread corrected, uncorrected;

  double sum() const { return corrected.sum() + uncorrected.sum(); }
  double variance_of_sum() const { return corrected.variance_of_sum() + uncorrected.variance_of_sum(); }
};

/// Pairs of a coalition S, which each player joins with probability t, and its complement, which each joins with
/// probability 1 − t; t is drawn from equal strata of [0, ½]. At each coalition the slopes D_j.
///
/// Level 0 is the mean of D_j less its mean g_j(t) under the closure, whose integral is known: g is interpolated
/// between the nodes of a quadrature, which integrates the interpolant exactly, so this costs no bias. Level 1 corrects
/// D_j to the marginal contribution Δ_j = v(S ∪ j) − v(S ∖ j) at some pairs for each player; j is in one coalition of a
/// pair, so the curvature of v at S, which has the opposite sign where j joins and where it leaves, cancels.
class Pairs {
 public:
  /// Purposes from `purpose` on are the streams of `rng` that it draws from.
  Pairs(CountedGame& game, const Quadrature& quadrature, const std::vector<double>& mean_slopes, const Rng& rng,
        std::uint32_t purpose)
      : game_(game), quadrature_(quadrature), mean_slopes_(mean_slopes), rng_(rng), purpose_(purpose) {}

  static constexpr std::uint32_t purposes = 3;

  /// All players with this plan.
  std::vector<Player> run(const TwoLevelPlan& plan) {
    // Which pairs a player has: one of the first `stride`, and every stride-th from there: one in each part of [0, ½].
    std::vector<std::vector<int>> from(static_cast<std::size_t>(plan.stride));
    const std::vector<int> order = ordering();
    for (std::size_t i = 0; i < order.size(); ++i)
      from[i * from.size() / order.size() % from.size()].push_back(order[i]);
    // With more bases than players they are spread, and moved by chance so that each pair is as likely for a player.
    const auto shift =
        static_cast<std::size_t>(rng_.stream(purpose_ + 1).below(static_cast<std::uint64_t>(plan.stride)));
    return run(plan.pairs(), plan.samples, [&](std::int64_t pair) -> const std::vector<int>& {
      return from[(static_cast<std::size_t>(pair) + shift) % from.size()];
    });
  }

  /// The same for a few pairs, with the corrections of the same few players at each: what a plan is made from.
  std::vector<Player> pilot(std::int64_t pairs, int players) {
    std::vector<int> some = ordering();
    some.resize(static_cast<std::size_t>(players));
    return run(pairs, pairs, [&](std::int64_t) -> const std::vector<int>& { return some; });
  }

 private:
  static constexpr std::int64_t block = 32;  ///< pairs at a time: the slopes of a block are kept

  std::vector<int> ordering() const {
    std::vector<int> order(static_cast<std::size_t>(game_.players()));
    std::iota(order.begin(), order.end(), 0);
    rng_.stream(purpose_).shuffle(order);
    return order;
  }

  /// `sampled` says whose contributions are evaluated at a pair: each player's at `samples` of the pairs.
  template <typename Sampled>
  std::vector<Player> run(std::int64_t pairs, std::int64_t samples, const Sampled& sampled) {
    std::vector<Player> players(static_cast<std::size_t>(game_.players()));
    for (std::int64_t first = 0; first < pairs; first += block)
      run_block(first, std::min(block, pairs - first), pairs, samples, sampled, players);
    return players;
  }

  template <typename Sampled>
  void run_block(std::int64_t first, std::int64_t count, std::int64_t pairs, std::int64_t samples,
                 const Sampled& sampled, std::vector<Player>& players) {
    const std::size_t n = players.size();
    Coalitions coalitions(game_.players());
    std::vector<double> joined;  // the probability to be in each
    for (std::int64_t pair = first; pair < first + count; ++pair) {
      Rng draws = rng_.stream(purpose_ + 2, static_cast<std::uint64_t>(pair));
      const double t = (static_cast<double>(pair) + draws.uniform()) / (2 * static_cast<double>(pairs));
      const std::size_t row = coalitions.size();
      coalitions.append_empty();
      for (int player = 0; player < game_.players(); ++player)
        if (draws.uniform() < t) coalitions.insert(row, player);
      coalitions.append_complement(coalitions.row(row));
      joined.insert(joined.end(), {t, 1 - t});
    }
    const std::vector<double> slopes = game_.charged_gradients("two_level", corners(coalitions));

    Coalitions asked(game_.players());  // of each pair: S and its complement, then both without or with each player
    for (std::int64_t pair = 0; pair < count; ++pair) {
      const std::vector<int>& some = sampled(first + pair);
      if (some.empty()) continue;
      const auto row = static_cast<std::size_t>(2 * pair);
      for (const std::size_t side : {row, row + 1}) asked.append(coalitions.row(side));
      for (const int player : some) {
        for (const std::size_t side : {row, row + 1}) {
          asked.append(coalitions.row(side));
          const std::size_t last = asked.size() - 1;
          coalitions.contains(side, player) ? asked.remove(last, player) : asked.insert(last, player);
        }
      }
    }
    const std::vector<double> values = game_.values(asked);

    std::size_t next = 0;
    std::vector<double> added(n);
    std::vector<char> corrected(n);
    for (std::int64_t pair = 0; pair < count; ++pair) {
      const auto row = static_cast<std::size_t>(2 * pair);
      std::ranges::fill(added, 0.0);
      for (const std::size_t side : {row, row + 1}) {
        for (std::size_t j = 0; j < n; ++j) added[j] += slopes[side * n + j] / 2;
        const std::vector<double> weights = interpolation_weights(quadrature_.nodes, joined[side]);
        for (std::size_t k = 0; k < weights.size(); ++k)
          for (std::size_t j = 0; j < n; ++j) added[j] -= weights[k] * mean_slopes_[k * n + j] / 2;
      }
      const double of_all = mean(added);
      for (std::size_t j = 0; j < n; ++j) {
        players[j].slopes.add(added[j] - of_all);
        added[j] /= static_cast<double>(pairs);
      }
      std::ranges::fill(corrected, 0);
      const std::vector<int>& some = sampled(first + pair);
      const std::size_t of_pair = next;  // the values of S and of its complement
      if (!some.empty()) next += 2;
      for (const int player : some) {
        const auto j = static_cast<std::size_t>(player);
        double correction = 0;
        for (std::size_t side = 0; side < 2; ++side) {
          const double change = values[next++] - values[of_pair + side];
          const double marginal = coalitions.contains(row + side, player) ? -change : change;
          correction += (marginal - slopes[(row + side) * n + j]) / 2;
        }
        players[j].corrections.add(correction);
        added[j] += correction / static_cast<double>(samples);
        corrected[j] = 1;
      }
      const double shared = mean(added);  // efficiency takes out what all players have in common
      for (std::size_t j = 0; j < n; ++j)
        (corrected[j] ? players[j].corrected : players[j].uncorrected).add(added[j] - shared);
    }
  }

  CountedGame& game_;
  const Quadrature& quadrature_;
  const std::vector<double>& mean_slopes_;
  Rng rng_;
  std::uint32_t purpose_;
};

/// The two-level estimator: slopes of the game's smooth extension at hard masks, corrected by few exact marginal
/// contributions.
///
/// φ_j = ∫ E[D_j(S)] dt + ∫ E[Δ_j(S) − D_j(S)] dt, with each player in S with probability t: Owen's integral, and a
/// multilevel Monte Carlo estimate of it (Giles 2015). Unbiased whatever the slopes are; they decide the variance
/// alone. A small pilot, which is not part of the estimate, measures the variance of each level, and the budget is then
/// divided so that the sum is least. What the values miss of v(N) − v(∅) is given to all players in equal parts.
class TwoLevel final : public Estimator {
 public:
  std::string_view name() const override { return "two_level"; }
  std::string_view summary() const override {
    return "slopes of the closure at random coalitions, corrected by few exact marginal contributions (multilevel "
           "Monte Carlo, Giles 2015)";
  }
  Guarantees guarantees() const override {
    return {.access = Access::gradient,
            .bias = Bias::none,
            .exact_on_additive = true,
            .exact_on_two_additive = true,
            .exact_at_full_budget = true};
  }
  Budget minimum(int players) const override {
    constexpr std::int64_t pass = 6;  // the dearest
    const std::int64_t pilot = pilot_pairs * (2 * pass + 2 + 2 * pilot_players(players));
    return {2 + mean_nodes * pass + pilot + TwoLevelPlan{}.cost(players, pass)};  // ∅ and N, the mean slopes, the rest
  }

  Attribution estimate(CountedGame& game, Rng& rng) const override {
    const int players = game.players();
    const auto n = static_cast<std::size_t>(players);
    if (can_enumerate(game)) {
      Attribution exact = enumerate_all(game);
      exact.standard_errors.emplace(n, 0.0);
      return exact;
    }
    const Quadrature nodes = quadrature(Rule::gauss_legendre, mean_nodes, name());
    Attribution attribution{.empty = game.empty(), .grand = game.grand()};
    const std::vector<double> mean_slopes = game.charged_gradients(name(), on_diagonal(nodes.nodes, players));

    const std::vector<Player> tried =
        Pairs(game, nodes, mean_slopes, rng, 1).pilot(pilot_pairs, pilot_players(players));
    double slopes = 0, corrections = 0;
    for (const Player& player : tried) {
      slopes += player.slopes.variance() / static_cast<double>(n);
      corrections += player.corrections.variance() / pilot_players(players);
    }
    const TwoLevelPlan plan =
        best_two_level_plan(players, game.pass_cost(), game.budget().coalitions - game.charged(), slopes, corrections);
    const std::vector<Player> found = Pairs(game, nodes, mean_slopes, rng, 1 + Pairs::purposes).run(plan);

    attribution.values = nodes.integral(mean_slopes);
    attribution.standard_errors.emplace();
    double missing = attribution.grand - attribution.empty;
    for (std::size_t j = 0; j < n; ++j) {
      attribution.values[j] += found[j].sum();
      missing -= attribution.values[j];
      attribution.standard_errors->push_back(std::sqrt(found[j].variance_of_sum()));
    }
    for (double& value : attribution.values) value += missing / static_cast<double>(n);
    return attribution;
  }

 private:
  static constexpr int mean_nodes = 8;
  static constexpr std::int64_t pilot_pairs = 4;

  static int pilot_players(int players) { return std::min(8, players); }
};

}  // namespace

std::unique_ptr<Estimator> two_level() { return std::make_unique<TwoLevel>(); }

}  // namespace opshap::estimators
