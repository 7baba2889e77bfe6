#include "estimators/orderings.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/estimator.hpp"
#include "estimators/exact.hpp"
#include "estimators/spread.hpp"

namespace opshap::estimators {

namespace {

/// Coalitions per call to the game: enough for an operator to fill its batches, and at most 32 MiB of rows.
std::size_t rows_per_batch(const Coalitions& batch) {
  constexpr std::size_t rows = 8192, words = std::size_t{1} << 22;
  return std::max<std::size_t>(1, std::min(rows, words / batch.words_per_row()));
}

}  // namespace

OrderingSource random_orderings(const Rng& rng) {
  return [rng](std::int64_t index, std::span<int> ordering) {
    std::iota(ordering.begin(), ordering.end(), 0);
    rng.stream(1, static_cast<std::uint64_t>(index)).shuffle(ordering);
  };
}

Attribution mean_marginal_contributions(CountedGame& game, OrderingUnit unit, std::int64_t units,
                                        const OrderingSource& source) {
  const auto n = static_cast<std::size_t>(game.players());
  const int orderings_per_unit = unit == OrderingUnit::with_reverse ? 2 : 1;
  Attribution attribution{.empty = game.empty(), .grand = game.grand()};

  Coalitions batch(game.players());
  const std::size_t full_batch = rows_per_batch(batch);
  batch.reserve(full_batch);
  std::vector<int> joined;      // the player that the row of the batch adds to the coalition before it
  std::vector<int> joins_last;  // of each ordering whose last row is in the batch, the player that completes N

  std::vector<Spread> spreads(n);
  std::vector<double> contributions(n, 0.0);  // of the unit under way
  double before = attribution.empty;
  std::size_t rows_of_ordering = 0;
  int orderings_of_unit = 0;
  const auto add = [&](int player, double gain) {
    contributions[static_cast<std::size_t>(player)] += gain / orderings_per_unit;
  };
  const auto flush = [&] {
    const std::vector<double> values = game.values(batch);
    std::size_t completed = 0;
    for (std::size_t row = 0; row < values.size(); ++row) {
      add(joined[row], values[row] - before);
      before = values[row];
      if (++rows_of_ordering < n - 1) continue;
      add(joins_last[completed++], attribution.grand - before);
      before = attribution.empty;
      rows_of_ordering = 0;
      if (++orderings_of_unit < orderings_per_unit) continue;
      for (std::size_t i = 0; i < n; ++i) spreads[i].add(std::exchange(contributions[i], 0.0));
      orderings_of_unit = 0;
    }
    batch.clear();
    joined.clear();
    joins_last.clear();
  };

  std::vector<int> ordering(n);
  std::vector<std::uint64_t> coalition(batch.words_per_row());
  for (std::int64_t index = 0; index < units; ++index) {
    source(index, ordering);
    for (int turn = 0; turn < orderings_per_unit; ++turn) {
      if (turn == 1) std::reverse(ordering.begin(), ordering.end());
      std::fill(coalition.begin(), coalition.end(), 0);
      for (std::size_t place = 0; place + 1 < n; ++place) {
        const int player = ordering[place];
        coalition[static_cast<std::size_t>(player) / 64] |= std::uint64_t{1} << (player % 64);
        batch.append(coalition);
        joined.push_back(player);
        if (place + 2 == n) joins_last.push_back(ordering.back());
        if (batch.size() == full_batch) flush();
      }
    }
  }
  if (batch.size() > 0) flush();

  for (const Spread& of_player : spreads) attribution.values.push_back(of_player.mean);
  if (units >= 2) {
    attribution.standard_errors.emplace();
    for (const Spread& of_player : spreads)
      attribution.standard_errors->push_back(std::sqrt(of_player.variance_of_mean()));
    attribution.error_samples = units;
  }
  return attribution;
}

namespace {

/// Inner coalitions that one unit asks for: n−1 for an ordering, twice that with its reverse. ∅ and N are shared by
/// all.
std::int64_t unit_cost(OrderingUnit unit, int players) {
  return (unit == OrderingUnit::with_reverse ? 2 : 1) * (std::int64_t{players} - 1);
}

/// Mean marginal contributions in orderings that are drawn one by one, or each with its reverse.
class Permutation final : public Estimator {
 public:
  explicit Permutation(OrderingUnit unit) : unit_(unit) {}

  std::string_view name() const override { return antithetic() ? "permutation_antithetic" : "permutation"; }
  std::string_view summary() const override {
    return antithetic() ? "random orderings, each with its reverse (Mitchell, Cooper, Frank, Holmes 2022)"
                        : "marginal contributions in random orderings (Castro, Gómez, Tejada 2009)";
  }
  Guarantees guarantees() const override {
    return {.exact_on_additive = true,
            .exact_on_two_additive = antithetic(),
            .zero_for_null_player = true,
            .zero_on_even = antithetic(),
            .same_on_dual = antithetic(),
            .linear = true,
            .exact_at_full_budget = true};
  }
  Budget minimum(int players) const override { return {2 + unit_cost(unit_, players)}; }

  /// The budget is planned by coalitions asked for: a coalition that two orderings share is evaluated once, and what
  /// that saves is not spent.
  Attribution estimate(CountedGame& game, Rng& rng) const override {
    if (can_enumerate(game)) return enumerate_all(game);
    const std::int64_t units = (game.budget().coalitions - 2) / unit_cost(unit_, game.players());
    return mean_marginal_contributions(game, unit_, units, random_orderings(rng));
  }

 private:
  bool antithetic() const { return unit_ == OrderingUnit::with_reverse; }

  OrderingUnit unit_;
};

}  // namespace

std::unique_ptr<Estimator> permutation() { return std::make_unique<Permutation>(OrderingUnit::single); }
std::unique_ptr<Estimator> permutation_antithetic() {
  return std::make_unique<Permutation>(OrderingUnit::with_reverse);
}

}  // namespace opshap::estimators
