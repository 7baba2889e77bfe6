#include <limits>

#include "estimators/enumeration.hpp"
#include "estimators/registry.hpp"

namespace opshap::estimators {

namespace {

class Exact final : public Estimator {
 public:
  std::string_view name() const override { return "exact"; }
  std::string_view summary() const override { return "all 2^n coalitions, n <= 24 (Shapley 1953)"; }
  Guarantees guarantees() const override {
    return {.mse_rate = exact_rate,
            .exact_on_additive = true,
            .exact_on_two_additive = true,
            .zero_for_null_player = true,
            .zero_on_even = true,
            .same_on_dual = true,
            .linear = true,
            .exact_at_full_budget = true};
  }
  Budget minimum(int players) const override {
    return {players < 63 ? std::int64_t{1} << players : std::numeric_limits<std::int64_t>::max()};
  }
  Attribution estimate(CountedGame& game, Rng&) const override { return enumerate_all(game); }
};

}  // namespace

std::unique_ptr<Estimator> exact() { return std::make_unique<Exact>(); }

}  // namespace opshap::estimators
