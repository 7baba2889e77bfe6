// What an estimator costs beside the game: sums of unanimity games and tables are nearly free.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "estimators/registry.hpp"
#include "games/registry.hpp"
#include "games/table_game.hpp"
#include "games/unanimity.hpp"

namespace opshap {
namespace {

/// Seconds an iteration outside of the game, and coalitions a second.
void run(benchmark::State& state, const Estimator& estimator, const Game& game, Budget budget) {
  double estimator_seconds = 0;
  std::int64_t evaluations = 0;
  for (auto _ : state) {
    const Attribution attribution = attribute(estimator, game, budget, 1);
    estimator_seconds += attribution.estimator_seconds;
    evaluations += attribution.evaluations;
  }
  state.counters["estimator_seconds"] = benchmark::Counter(estimator_seconds, benchmark::Counter::kAvgIterations);
  state.counters["coalitions/s"] = benchmark::Counter(static_cast<double>(evaluations), benchmark::Counter::kIsRate);
}

void estimate(benchmark::State& state, const Estimator& estimator) {
  Rng rng(1);
  const int players = static_cast<int>(state.range(0));
  const auto game = games::random_unanimity_sum(players, rng);
  // Eight coalitions a player are enough for most sampling methods.
  const Budget budget{std::max<std::int64_t>(8 * players, estimator.minimum(players).coalitions)};
  try {
    run(state, estimator, *game, budget);
  } catch (const InvalidArgument& refused) {  // for so many players
    state.SkipWithError(refused.what());
  }
}

void exact(benchmark::State& state) {
  Rng rng(1);
  const int players = static_cast<int>(state.range(0));
  const auto game = games::random_table_game(players, rng);
  run(state, estimators::find("exact"), *game, {0});
}

void with_budget(benchmark::State& state, const char* name) {
  Rng rng(1);
  const auto game = games::random_unanimity_sum(static_cast<int>(state.range(0)), rng);
  run(state, estimators::find(name), *game, {state.range(1)});
}

void register_all() {
  for (const auto& estimator : estimators::all()) {
    auto* row = benchmark::RegisterBenchmark(("estimate/" + std::string(estimator->name())).c_str(), estimate,
                                             std::cref(*estimator));
    row->ArgName("n")->Arg(16)->Unit(benchmark::kMillisecond)->UseRealTime();
    if (estimator->guarantees().mse_rate == exact_rate) continue;
    for (const int players : {64, 256, 1024}) {
      // One draw for each player and size is beyond what 1024 players are worth.
      if (estimator->minimum(players).coalitions <= 1000 * players) row->Arg(players);
    }
  }
  benchmark::RegisterBenchmark("exact", exact)
      ->ArgName("n")
      ->Arg(16)
      ->Arg(22)
      ->Arg(24)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  for (const char* name : {"kernel_shap", "kernel_shap_paired", "permutation", "permutation_antithetic"}) {
    benchmark::RegisterBenchmark(name, with_budget, name)
        ->ArgNames({"n", "budget"})
        ->Args({16, 8192})
        ->Args({1024, 8192})
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
}

}  // namespace
}  // namespace opshap

int main(int argc, char** argv) {
  opshap::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
