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

std::vector<std::int64_t> TwoLevelPlan::nodes() const {
  const std::int64_t wanted = std::clamp<std::int64_t>(pairs() / fewest_nodes, 1, largest_node);
  std::vector<std::int64_t> sizes;
  const auto cut = [&sizes](std::int64_t units, std::int64_t parts, std::int64_t unit) {
    for (std::int64_t part = 0; part < parts; ++part)
      sizes.push_back(((part + 1) * units / parts - part * units / parts) * unit);
  };
  if (wanted >= stride) {
    cut(samples, samples / (wanted / stride), stride);
  } else {
    for (std::int64_t round = 0; round < samples; ++round) cut(stride, (stride + wanted - 1) / wanted, 1);
  }
  return sizes;
}

NodeSample draw_node(int players, int pairs, double t, Rng& rng) {
  NodeSample node{.coalitions = Coalitions(players, static_cast<std::size_t>(2 * pairs)), .mirrors = {}};
  std::vector<int> strata(static_cast<std::size_t>(pairs)), mirrors(strata.size());
  std::iota(strata.begin(), strata.end(), 0);
  std::iota(mirrors.begin(), mirrors.end(), 0);
  for (int player = 0; player < players; ++player) {
    rng.shuffle(strata);
    rng.shuffle(mirrors);
    for (std::size_t pair = 0; pair < strata.size(); ++pair) {
      const bool joins = (strata[pair] + rng.uniform()) / pairs < t;
      const auto mirror = static_cast<std::size_t>(mirrors[pair]);
      joins ? node.coalitions.insert(2 * pair, player) : node.coalitions.insert(2 * mirror + 1, player);
    }
    node.mirrors.insert(node.mirrors.end(), mirrors.begin(), mirrors.end());
  }
  return node;
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

/// A sum of independent parts, and its variance by the differences of neighbouring parts: what all parts have in
/// common, or what changes slowly from part to part, is no error (von Neumann 1941). Parts of a larger size vary more.
class SumOfParts {
 public:
  void add(double value, double size) {
    const double rate = value / size;
    if (count_ > 0) squares_ += (rate - last_rate_) * (rate - last_rate_) / (1 / size + 1 / last_size_);
    last_rate_ = rate;
    last_size_ = size;
    sum_ += value;
    sizes_ += size;
    ++count_;
  }
  double sum() const { return sum_; }
  /// 0 of a single part.
  double variance() const { return count_ > 1 ? squares_ / static_cast<double>(count_ - 1) * sizes_ : 0; }
  /// Of the variance: differences of neighbours among R normal numbers tell two thirds of what R − 1 degrees of freedom
  /// would. 1 at the least.
  double degrees() const { return std::max(1.0, 2.0 / 3 * static_cast<double>(count_ - 1)); }

 private:
  double sum_ = 0, sizes_ = 0, squares_ = 0, last_rate_ = 0, last_size_ = 0;
  std::int64_t count_ = 0;
};

/// What is known of one player.
struct Player {
  Spread slopes, corrections;  ///< of the two levels, by pair: the slopes less their mean over the players
  /// What each node adds to the value, less the mean of that over the players: nodes with corrections of this player,
  /// and nodes without.
  SumOfParts corrected, uncorrected;

  double sum() const { return corrected.sum() + uncorrected.sum(); }
  double variance_of_sum() const { return corrected.variance() + uncorrected.variance(); }
};

/// Of the standard errors of all players together (Satterthwaite 1946); 1 at the least.
double degrees_of(const std::vector<Player>& players) {
  double corrected = 0, uncorrected = 0;
  for (const Player& player : players) {
    corrected += player.corrected.variance();
    uncorrected += player.uncorrected.variance();
  }
  if (corrected + uncorrected == 0) return 1;
  return std::pow(corrected + uncorrected, 2) / (std::pow(corrected, 2) / players.front().corrected.degrees() +
                                                 std::pow(uncorrected, 2) / players.front().uncorrected.degrees());
}

/// Pairs of coalitions, one that each player joins with probability t and one that it joins with probability 1 − t, in
/// nodes with one t each, drawn from equal strata of [0, ½]. At each coalition the slopes D_j.
///
/// Level 0 is the mean of D_j less its mean g_j(t) under the closure, whose integral is known: g is interpolated
/// between the nodes of a quadrature, which integrates the interpolant exactly, so this costs no bias. Level 1 corrects
/// D_j to the marginal contribution Δ_j = v(S ∪ j) − v(S ∖ j) at some pairs for each player: at the first coalition of
/// the pair and at that one on the other side of the node which is its opposite for j. The curvature of v at S has the
/// opposite sign where j joins and where it leaves, so it cancels.
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
    return run(plan.nodes(), plan.samples, [&](std::int64_t pair) -> const std::vector<int>& {
      return from[(static_cast<std::size_t>(pair) + shift) % from.size()];
    });
  }

  /// The same for a few nodes of one pair, with the corrections of the same few players at each: what a plan is made
  /// from.
  std::vector<Player> pilot(std::int64_t pairs, int players) {
    std::vector<int> some = ordering();
    some.resize(static_cast<std::size_t>(players));
    return run(std::vector<std::int64_t>(static_cast<std::size_t>(pairs), 1), pairs,
               [&](std::int64_t) -> const std::vector<int>& { return some; });
  }

 private:
  /// Pairs at a time: the slopes of so many are kept, or those of one node.
  static constexpr std::int64_t block = 32;

  std::vector<int> ordering() const {
    std::vector<int> order(static_cast<std::size_t>(game_.players()));
    std::iota(order.begin(), order.end(), 0);
    rng_.stream(purpose_).shuffle(order);
    return order;
  }

  /// `sizes` are the pairs of each node; `sampled` says whose contributions are evaluated at a pair: each player's at
  /// `samples` of the pairs.
  template <typename Sampled>
  std::vector<Player> run(const std::vector<std::int64_t>& sizes, std::int64_t samples, const Sampled& sampled) {
    const auto pairs = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
    std::vector<Player> players(static_cast<std::size_t>(game_.players()));
    std::vector<Node> nodes;
    std::int64_t pair = 0, kept = 0;
    for (std::size_t node = 0; node < sizes.size(); ++node) {
      Rng draws = rng_.stream(purpose_ + 2, node);
      const double t = (static_cast<double>(pair) + static_cast<double>(sizes[node]) * draws.uniform()) / (2 * pairs);
      nodes.push_back({pair, t, draw_node(game_.players(), static_cast<int>(sizes[node]), t, draws)});
      pair += sizes[node];
      kept += sizes[node];
      if (kept < block && node + 1 < sizes.size()) continue;
      add(nodes, pairs, static_cast<double>(samples), sampled, players);
      nodes.clear();
      kept = 0;
    }
    return players;
  }

  struct Node {
    std::int64_t first;  ///< of its pairs
    double t;
    NodeSample sample;
  };

  /// v of the coalitions of a node that a correction begins with, and of those with one player more or less.
  struct Asked {
    std::vector<std::size_t> own;  ///< place of each coalition's value
    std::size_t next = 0;          ///< place of the first value of a neighbour
  };

  template <typename Sampled>
  void add(const std::vector<Node>& nodes, double pairs, double samples, const Sampled& sampled,
           std::vector<Player>& players) {
    const std::size_t n = players.size();
    std::vector<double> points;
    for (const Node& node : nodes) {
      const std::vector<double> some = corners(node.sample.coalitions);
      points.insert(points.end(), some.begin(), some.end());
    }
    const std::vector<double> slopes = game_.charged_gradients("two_level", points);

    Coalitions asked(game_.players());
    std::vector<Asked> places;
    for (const Node& node : nodes) places.push_back(ask(node, sampled, asked));
    const std::vector<double> values = game_.values(asked);

    const double* of_node = slopes.data();
    std::vector<double> level_0(n), added(n);
    std::vector<char> corrected(n);
    for (std::size_t which = 0; which < nodes.size(); ++which) {
      const Node& node = nodes[which];
      const NodeSample& sample = node.sample;
      std::size_t next = places[which].next;
      const std::vector<double> mean_of_pair = closure_at(node.t, n);
      std::ranges::fill(added, 0.0);
      std::ranges::fill(corrected, 0);
      for (int pair = 0; pair < sample.pairs(); ++pair) {
        const auto row = static_cast<std::size_t>(2 * pair);
        for (std::size_t j = 0; j < n; ++j)
          level_0[j] = (of_node[row * n + j] + of_node[(row + 1) * n + j]) / 2 - mean_of_pair[j];
        const double of_all = mean(level_0);
        for (std::size_t j = 0; j < n; ++j) {
          players[j].slopes.add(level_0[j] - of_all);
          added[j] += level_0[j] / pairs;
        }
        for (const int player : sampled(node.first + pair)) {
          const auto j = static_cast<std::size_t>(player);
          double correction = 0;
          for (const std::size_t side : {row, sample.opposite(pair, player)}) {
            const double change = values[next++] - values[places[which].own[side]];
            const double marginal = sample.coalitions.contains(side, player) ? -change : change;
            correction += (marginal - of_node[side * n + j]) / 2;
          }
          players[j].corrections.add(correction);
          added[j] += correction / samples;
          corrected[j] = 1;
        }
      }
      const double shared = mean(added);  // efficiency takes out what all players have in common
      for (std::size_t j = 0; j < n; ++j)
        (corrected[j] ? players[j].corrected : players[j].uncorrected).add(added[j] - shared, sample.pairs());
      of_node += sample.coalitions.size() * n;
    }
  }

  /// Mean of g_j at t and at 1 − t, [n].
  std::vector<double> closure_at(double t, std::size_t n) const {
    std::vector<double> mean(n, 0.0);
    for (const double joined : {t, 1 - t}) {
      const std::vector<double> weights = interpolation_weights(quadrature_.nodes, joined);
      for (std::size_t k = 0; k < weights.size(); ++k)
        for (std::size_t j = 0; j < n; ++j) mean[j] += weights[k] * mean_slopes_[k * n + j] / 2;
    }
    return mean;
  }

  /// Appends to `asked` what the corrections of a node need.
  template <typename Sampled>
  static Asked ask(const Node& node, const Sampled& sampled, Coalitions& asked) {
    const NodeSample& sample = node.sample;
    const auto each = [&](const auto& use) {
      for (int pair = 0; pair < sample.pairs(); ++pair)
        for (const int player : sampled(node.first + pair))
          for (const std::size_t side : {static_cast<std::size_t>(2 * pair), sample.opposite(pair, player)})
            use(side, player);
    };
    constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
    Asked found{.own = std::vector<std::size_t>(sample.coalitions.size(), nowhere)};
    each([&](std::size_t side, int) {
      if (found.own[side] != nowhere) return;
      found.own[side] = asked.size();
      asked.append(sample.coalitions.row(side));
    });
    found.next = asked.size();
    each([&](std::size_t side, int player) {
      asked.append(sample.coalitions.row(side));
      const std::size_t last = asked.size() - 1;
      sample.coalitions.contains(side, player) ? asked.remove(last, player) : asked.insert(last, player);
    });
    return found;
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
///
/// Coalitions of level 0 are drawn in nodes (draw_node()). Within a node they depend on each other, and nodes do not:
/// standard errors are those of the spread between nodes, of which there are sixteen or more wherever there are so many
/// pairs. `error_samples` says how many degrees of freedom they have, and one more.
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
    attribution.error_samples = 1 + static_cast<std::int64_t>(degrees_of(found));
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
