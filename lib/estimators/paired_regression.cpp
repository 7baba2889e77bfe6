#include "estimators/paired_regression.hpp"

#include <string_view>
#include <vector>

#include "estimators/coalition_sampler.hpp"
#include "estimators/exact.hpp"
#include "estimators/msr.hpp"

namespace opshap::estimators {

namespace {

class PairedRegression final : public Estimator {
 public:
  std::string_view name() const override { return "paired_regression"; }
  std::string_view summary() const override {
    return "mean over pairs of coalitions without replacement, for a game less what is known of it";
  }
  Guarantees guarantees() const override {
    return {
        .bias = Bias::none, .zero_on_even = true, .same_on_dual = true, .linear = true, .exact_at_full_budget = true};
  }
  Budget minimum(int players) const override { return {2 + 2 * (players / 2)}; }

  Attribution estimate(CountedGame& game, Rng& rng) const override {
    if (can_enumerate(game)) return enumerate_all(game);
    Attribution found{.empty = game.empty(), .grand = game.grand()};
    const CoalitionSample sample =
        sample_coalitions(Sampler::without_replacement, SizeLaw(SizeMass::square_root, game.players()),
                          game.budget().coalitions - 2, Pairing::complements, rng);
    std::vector<double> targets = sample_targets(game, sample, found.empty);
    const double share = (found.grand - found.empty) / game.players();
    subtract_equal_shares(targets, sample, share);
    found.values = reuse_sample(sample, targets);
    for (double& value : found.values) value += share;
    return found;
  }
};

}  // namespace

std::unique_ptr<Estimator> paired_regression() { return std::make_unique<PairedRegression>(); }

}  // namespace opshap::estimators
