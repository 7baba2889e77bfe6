#include "first_and_last.hpp"

#include <vector>

namespace {

using namespace opshap;

class FirstAndLast final : public Estimator {
 public:
  std::string_view name() const override { return "first_and_last"; }
  std::string_view summary() const override { return "the mean of what a player adds to nobody and to all others"; }
  Guarantees guarantees() const override {
    return {.bias = Bias::lasting,
            .efficiency = Efficiency::none,
            .mse_rate = 0,
            .exact_on_additive = true,
            .exact_on_two_additive = true,
            .zero_for_null_player = true,
            .same_on_dual = true,
            .linear = true};
  }
  Budget minimum(int players) const override { return {2 * players + 2}; }

  Attribution estimate(CountedGame& game, Rng&) const override {
    const int players = game.players();
    Coalitions asked(players);
    for (int player = 0; player < players; ++player) {
      asked.append_empty();
      asked.insert(asked.size() - 1, player);
      asked.append_grand();
      asked.remove(asked.size() - 1, player);
    }
    const std::vector<double> values = game.values(asked);
    Attribution found;
    found.empty = game.empty();
    found.grand = game.grand();
    for (std::size_t row = 0; row < values.size(); row += 2)
      found.values.push_back((values[row] - found.empty + found.grand - values[row + 1]) / 2);
    return found;
  }
};

}  // namespace

std::unique_ptr<opshap::Estimator> first_and_last() { return std::make_unique<FirstAndLast>(); }
