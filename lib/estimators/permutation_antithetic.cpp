#include "estimators/enumeration.hpp"
#include "estimators/orderings.hpp"
#include "estimators/registry.hpp"

namespace opshap::estimators {

namespace {

class PermutationAntithetic final : public Estimator {
 public:
  std::string_view name() const override { return "permutation_antithetic"; }
  std::string_view summary() const override {
    return "random orderings, each with its reverse (Mitchell, Cooper, Frank, Holmes 2022)";
  }
  Guarantees guarantees() const override {
    return {.exact_on_additive = true,
            .exact_on_two_additive = true,
            .zero_for_null_player = true,
            .zero_on_even = true,
            .same_on_dual = true,
            .linear = true,
            .exact_at_full_budget = true};
  }
  Budget minimum(int players) const override { return {2 + unit_cost(unit, players)}; }

  /// The budget is planned by coalitions asked for: a coalition that two orderings share is evaluated once, and what
  /// that saves is not spent.
  Attribution estimate(CountedGame& game, Rng& rng) const override {
    if (can_enumerate(game)) return enumerate_all(game);
    const std::int64_t units = (game.budget().coalitions - 2) / unit_cost(unit, game.players());
    return mean_marginal_contributions(game, unit, units, random_orderings(rng));
  }

 private:
  static constexpr OrderingUnit unit = OrderingUnit::with_reverse;
};

}  // namespace

std::unique_ptr<Estimator> permutation_antithetic() { return std::make_unique<PermutationAntithetic>(); }

}  // namespace opshap::estimators
