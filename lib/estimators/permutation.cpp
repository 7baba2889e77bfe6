#include "estimators/enumeration.hpp"
#include "estimators/orderings.hpp"
#include "estimators/registry.hpp"

namespace opshap::estimators {

namespace {

class Permutation final : public Estimator {
 public:
  std::string_view name() const override { return "permutation"; }
  std::string_view summary() const override {
    return "marginal contributions in random orderings (Castro, Gómez, Tejada 2009)";
  }
  Guarantees guarantees() const override {
    return {.exact_on_additive = true, .zero_for_null_player = true, .linear = true, .exact_at_full_budget = true};
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
  static constexpr OrderingUnit unit = OrderingUnit::single;
};

}  // namespace

std::unique_ptr<Estimator> permutation() { return std::make_unique<Permutation>(); }

}  // namespace opshap::estimators
