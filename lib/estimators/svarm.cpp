#include "estimators/svarm.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>

#include "core/estimator.hpp"
#include "estimators/coalition_sampler.hpp"
#include "estimators/exact.hpp"
#include "estimators/members.hpp"

namespace opshap::estimators {

namespace {

/// Values of coalitions of one size: of those with a player, or of those without.
struct Stratum {
  double count = 0, sum = 0, squares = 0;

  void add(const Stratum& other) {
    count += other.count;
    sum += other.sum;
    squares += other.squares;
  }
  void add(double value) { add({1, value, value * value}); }

  double mean() const { return sum / count; }
  /// Of a value, not of the mean; nothing from a single value.
  std::optional<double> variance() const {
    if (count < 2) return std::nullopt;
    return std::max(0.0, squares - sum * sum / count) / (count - 1);
  }
};
using Strata = std::vector<Stratum>;  ///< [players]

/// Variances of the players' means, a sum over sizes. Where a stratum has a single value, which is a matter of chance,
/// it takes the mean variance of the other players' strata of its size and side, and of all strata where those have
/// single values too.
class SumOfVariances {
 public:
  explicit SumOfVariances(std::size_t players) : sums_(players, 0.0), of_all_(players, 0.0) {}

  void add(const Strata& strata) {
    double mean = 0, known = 0;
    for (const Stratum& stratum : strata) {
      mean += stratum.variance().value_or(0);
      known += stratum.variance().has_value();
    }
    all_ += mean;
    all_known_ += known;
    for (std::size_t player = 0; player < sums_.size(); ++player) {
      const double share = 1 / strata[player].count;
      if (known == 0) {
        of_all_[player] += share;
      } else {
        sums_[player] += strata[player].variance().value_or(mean / known) * share;
      }
    }
  }

  /// To be asked for after a draw beyond the warm-up: then some stratum has two values.
  std::vector<double> standard_errors() const {
    std::vector<double> errors(sums_);
    for (std::size_t player = 0; player < errors.size(); ++player)
      errors[player] = std::sqrt(errors[player] + of_all_[player] * all_ / all_known_);
    return errors;
  }

 private:
  std::vector<double> sums_, of_all_;  ///< [players]; what comes times the mean variance of all strata
  double all_ = 0, all_known_ = 0;
};

/// The coalitions of one size that are drawn together.
struct Batch {
  Coalitions coalitions;
  std::vector<std::vector<int>> groups = {};  ///< whom each of the first rows was drawn for
};

int groups_of(int players, int size) { return (players + size - 1) / size; }

/// Deals all players to groups of `size`, in random order, and appends each group, or its complement. The last group is
/// filled up at random with players whom the coalition is not drawn for.
void append_groups(Batch& batch, int size, bool complements, const UniformChoices& choices) {
  const int players = batch.coalitions.players();
  std::vector<int> ordering(static_cast<std::size_t>(players));
  choices.ordering(ordering);
  for (int first = 0; first < players; first += size) {
    std::vector<int> group(ordering.begin() + first, ordering.begin() + std::min(first + size, players));
    std::vector<int> members = group, others(ordering.begin(), ordering.begin() + first);
    while (members.size() < static_cast<std::size_t>(size)) {
      const auto chosen = others.begin() + static_cast<std::ptrdiff_t>(choices.below(others.size()));
      members.push_back(*chosen);
      others.erase(chosen);
    }
    Coalitions drawn(players, 1);
    for (const int player : members) drawn.insert(0, player);
    complements ? batch.coalitions.append_complement(drawn.row(0)) : batch.coalitions.append(drawn.row(0));
    batch.groups.push_back(std::move(group));
  }
}

/// v({i}) − mean_j v({j}) + mean_j v(N∖j) − v(N∖i) with j ≠ i: sizes 1 and n − 1, all coalitions of them.
std::vector<double> border_differences(CountedGame& game, double empty) {
  const auto n = static_cast<std::size_t>(game.players());
  std::vector<double> values = game.values(border_coalitions(game.players()));
  for (double& value : values) value -= empty;
  const auto middle = values.begin() + game.players();
  const double alone = std::accumulate(values.begin(), middle, 0.0),
               missing = std::accumulate(middle, values.end(), 0.0);
  std::vector<double> differences(n);
  const double others = game.players() - 1;
  for (std::size_t i = 0; i < n; ++i)
    differences[i] = values[i] - (alone - values[i]) / others + (missing - values[n + i]) / others - values[n + i];
  return differences;
}

/// The first `with_groups` rows were drawn for their members, the other groups' for those left out, the rest for
/// everyone.
void fill(Strata& with, Strata& without, const Batch& batch, std::span<const double> values, std::size_t with_groups) {
  for (std::size_t row = 0; row < batch.groups.size(); ++row) {
    for (const int player : batch.groups[row])
      (row < with_groups ? with : without)[static_cast<std::size_t>(player)].add(values[row]);
  }
  Stratum all;
  Strata members(with.size());
  for (std::size_t row = batch.groups.size(); row < values.size(); ++row) {
    all.add(values[row]);
    for_each_member(batch.coalitions.row(row), [&](std::size_t player) { members[player].add(values[row]); });
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    with[i].add(members[i]);
    without[i].add({all.count - members[i].count, all.sum - members[i].sum, all.squares - members[i].squares});
  }
}

}  // namespace

Attribution svarm_means(CountedGame& game, std::span<const std::int64_t> counts, const UniformChoices& choices) {
  const int players = game.players();
  const auto n = static_cast<std::size_t>(players);
  Attribution attribution{.empty = game.empty(), .grand = game.grand()};
  attribution.values = border_differences(game, attribution.empty);
  for (double& value : attribution.values) value += attribution.grand - attribution.empty;

  SumOfVariances variances(n);
  for (int size = 2; size <= players - 2; ++size) {
    Batch batch{.coalitions = Coalitions(players)};
    append_groups(batch, size, false, choices);
    append_groups(batch, players - size, true, choices);
    const std::size_t warm_up = batch.coalitions.size(),
                      drawn = static_cast<std::size_t>(counts[static_cast<std::size_t>(size)]);
    batch.coalitions.resize(warm_up + drawn);
    for (std::size_t row = warm_up; row < warm_up + drawn; ++row) choices.members(size, batch.coalitions.row(row));
    std::vector<double> values = game.values(batch.coalitions);
    for (double& value : values) value -= attribution.empty;

    Strata with(n), without(n);
    fill(with, without, batch, values, static_cast<std::size_t>(groups_of(players, size)));
    for (std::size_t i = 0; i < n; ++i) attribution.values[i] += with[i].mean() - without[i].mean();
    variances.add(with);
    variances.add(without);
  }
  for (double& value : attribution.values) value /= players;
  // By the number of draws alone, so that no seed has standard errors which another one has not.
  if (std::reduce(counts.begin(), counts.end()) >= players) {
    attribution.standard_errors = variances.standard_errors();
    for (double& error : *attribution.standard_errors) error /= players;
  }
  return attribution;
}

namespace {

/// The probabilities of the sizes 0..n that are drawn after the warm-up: ∝ 1/min(s, n−s) for s = 2..n−2, and 1/(n ln n)
/// for the middle of an even n.
std::vector<double> published_law(int players) {
  std::vector<double> law(static_cast<std::size_t>(players) + 1, 0.0);
  const double middle = players % 2 != 0 ? 0 : players == 4 ? 1 : 1 / (players * std::log(players));
  double sum = 0;
  for (int size = 2; size <= players - 2; ++size) {
    if (2 * size == players) continue;
    law[static_cast<std::size_t>(size)] = 1.0 / std::min(size, players - size);
    sum += law[static_cast<std::size_t>(size)];
  }
  for (double& probability : law) probability *= sum > 0 ? (1 - middle) / sum : 0;
  if (players % 2 == 0) law[static_cast<std::size_t>(players) / 2] = middle;
  return law;
}

/// How many of `draws` independent draws of a law fall on each place.
std::vector<std::int64_t> draw_counts(const std::vector<double>& law, std::int64_t draws, Rng& rng) {
  std::vector<double> cumulative(law.size());
  std::partial_sum(law.begin(), law.end(), cumulative.begin());
  // Rounding may leave the sum below 1; the last place that can be drawn takes what is above.
  const auto last = std::ranges::find(cumulative, cumulative.back());
  std::vector<std::int64_t> counts(law.size(), 0);
  for (std::int64_t draw = 0; draw < draws; ++draw)
    ++counts[static_cast<std::size_t>(std::upper_bound(cumulative.begin(), last, rng.uniform()) - cumulative.begin())];
  return counts;
}

/// svarm_means() with the published warm-up and law of sizes.
///
/// Source: Kolpaczki, Bengs, Muschalik, Hüllermeier (2024), "Approximating the Shapley value without marginal
/// contributions", Stratified SVARM. Cost: O(m·n); memory O(n) and one size's coalitions, since sizes are worked off
/// one by one.
class Svarm final : public Estimator {
 public:
  std::string_view name() const override { return "svarm"; }
  std::string_view summary() const override {
    return "mean values with and without each player at every size (Kolpaczki et al. 2024, Stratified SVARM)";
  }
  Guarantees guarantees() const override {
    return {.bias = Bias::none, .efficiency = Efficiency::none, .linear = true, .exact_at_full_budget = true};
  }
  /// The exact sizes and the warm-up.
  Budget minimum(int players) const override {
    std::int64_t coalitions = 2 + 2 * std::int64_t{players};
    for (int size = 2; size <= players - 2; ++size) coalitions += 2 * groups_of(players, size);
    return {coalitions};
  }

  Attribution estimate(CountedGame& game, Rng& rng) const override {
    if (can_enumerate(game)) return enumerate_all(game);
    const int players = game.players();
    const std::vector<std::int64_t> counts =
        draw_counts(published_law(players), game.budget().coalitions - minimum(players).coalitions, rng);
    return svarm_means(game, counts, random_choices(rng, players));
  }
};

}  // namespace

std::unique_ptr<Estimator> svarm() { return std::make_unique<Svarm>(); }

}  // namespace opshap::estimators
