// Games of several scenarios whose questions are asked of the operator together.

#include "games/games_together.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "core/error.hpp"
#include "core/estimator.hpp"
#include "estimators/diagonal.hpp"
#include "games/cell_mask_game.hpp"
#include "support/for_all.hpp"
#include "support/generators.hpp"
#include "support/operator_inputs.hpp"
#include "support/refusal.hpp"
#include "support/stopping_operator.hpp"
#include "support/tolerance.hpp"
#include "support/two_layer_operator.hpp"

namespace opshap {
namespace {

/// The values of the operators here are below 2, and each is made by at most 64² products, a few times over.
const Tolerance of_games = rounding(2e4, 2);

/// An operator that counts its calls, and the fields in them.
class CountedCalls final : public Operator {
 public:
  explicit CountedCalls(const Operator& inner) : inner_(inner) {}
  std::string describe() const override { return inner_.describe(); }
  int dimension() const override { return inner_.dimension(); }
  int input_channels() const override { return inner_.input_channels(); }
  int output_channels() const override { return inner_.output_channels(); }
  std::int64_t preferred_batch(const Domain&) const override { return 1000; }
  FieldBatch apply(const FieldBatch& inputs) const override {
    ++calls;
    fields += inputs.batch;
    return inner_.apply(inputs);
  }
  Gradient gradient_at(const FieldBatch& inputs, const Readout& readout) const override {
    ++calls;
    fields += inputs.batch;
    return inner_.gradient_at(inputs, readout);
  }

  mutable std::int64_t calls = 0, fields = 0;  // asked by one thread alone

 private:
  const Operator& inner_;
};

/// An operator on the line or in the plane, with one or two channels, and scenarios with inputs and baselines of their
/// own.
struct Several {
  Domain domain;
  int channels;
  TwoLayerOperator op;
  std::vector<Scenario> scenarios;

  Several(int count, Rng& rng)
      : domain(rng.below(2) == 0 ? Domain::unit({24}) : Domain::unit({6, 6})),
        channels(1 + static_cast<int>(rng.below(2))),
        op(domain.dimension(), channels),
        scenarios(of(domain, channels, count, rng)) {}

  static std::vector<Scenario> of(const Domain& domain, int channels, int count, Rng& rng) {
    const Partition cells = random_cells(domain, 4, rng);
    std::vector<Scenario> scenarios;
    for (int i = 0; i < count; ++i)
      scenarios.push_back({.input = random_field(domain, channels, rng),
                           .baseline = random_field(domain, channels, rng),
                           .partition = cells,
                           .readout = Query{.point = 3}});
    return scenarios;
  }
};

// Works that ask for different things and end at different times, among more games than play at once.
TEST(PlayTogether, GivesEachWorkWhatItsGameHasAlone) {
  for_all_streams(0.05, [](Rng& rng) {
    const Several made(67, rng);
    const std::vector<Scenario>& scenarios = made.scenarios;
    std::vector<std::vector<double>> together(scenarios.size()), alone(scenarios.size());
    const auto work = [&](std::size_t b, const Game& game) {
      std::vector<double> found;
      const auto add = [&](const std::vector<double>& more) { found.insert(found.end(), more.begin(), more.end()); };
      for (std::size_t round = 0; round < b % 3; ++round) add(game.values(Coalitions::enumerate(4, round, 1 + b % 2)));
      if (b % 4 > 0) add(game.extension()->gradients(on_diagonal(std::vector{0.1 * static_cast<double>(b % 4)}, 4)));
      return found;
    };
    games::play_together(made.op, scenarios, [&](std::size_t b, const Game& game) { together[b] = work(b, game); });
    for (std::size_t b = 0; b < scenarios.size(); ++b) {
      alone[b] = work(b, *games::cell_mask_game(made.op, scenarios[b]));
      RC_ASSERT(mismatch(alone[b], together[b], of_games) == "");
    }
  });
}

TEST(PlayTogether, AsksTheOperatorOnceForWhatAllWorksWant) {
  SCOPED_TRACE(replay());
  Rng rng(test_seed(), "asked once");
  const Several made(10, rng);
  const std::vector<Scenario>& scenarios = made.scenarios;
  const CountedCalls op(made.op);
  std::vector<Attribution> found(scenarios.size());
  const auto method = estimators::integrated_gradients(estimators::Rule::gauss_legendre, 3);
  games::play_together(op, scenarios,
                       [&](std::size_t b, const Game& game) { found[b] = attribute(*method, game, {2}, 1); });
  EXPECT_EQ(2, op.calls);  // v(∅) and v(N), slopes
  EXPECT_EQ(10 * (2 + 3), op.fields);
  for (const Attribution& attribution : found) EXPECT_EQ(2 + 3 * 3, attribution.forward_equivalents);
}

TEST(PlayTogether, ThrowsWhatAWorkThrewWhenAllHaveEnded) {
  SCOPED_TRACE(replay());
  Rng rng(test_seed(), "works that throw");
  const Several made(8, rng);
  std::atomic<int> ended = 0;
  const auto planted = refusal<DataError>([&] {
    games::play_together(made.op, made.scenarios, [&](std::size_t b, const Game& game) {
      if (b == 5 || b == 3) throw DataError(message("work ", b));
      game.values(Coalitions::enumerate(4, 0, 3));
      ++ended;
    });
  });
  EXPECT_EQ("work 3", planted);
  EXPECT_EQ(6, ended);
  // What the operator throws goes to the works that asked.
  const StoppingOperator stopping(1);
  const std::vector<Scenario> scenarios = Several::of(Domain::unit({24}), 1, 4, rng);
  std::atomic<int> stopped = 0;
  games::play_together(stopping, scenarios, [&](std::size_t, const Game& game) {
    game.values(Coalitions::enumerate(4, 0, 2));
    EXPECT_THROW(game.values(Coalitions::enumerate(4, 0, 2)), Stopped);
    ++stopped;
  });
  EXPECT_EQ(4, stopped);
}

TEST(PlayTogether, RefusesScenariosThatDiffer) {
  SCOPED_TRACE(replay());
  Rng rng(test_seed(), "scenarios that differ");
  Several made(3, rng);
  std::vector<Scenario>& scenarios = made.scenarios;
  scenarios[2].readout = Query{.point = 4};
  EXPECT_TRUE(has(refusal<InvalidArgument>(
                      [&] { games::play_together(made.op, scenarios, [](std::size_t, const Game&) { FAIL(); }); }),
                  "games: scenario 2 (differs from the first one in domain, players or readout)"));
  games::play_together(made.op, {}, [](std::size_t, const Game&) { FAIL(); });
}

}  // namespace
}  // namespace opshap
