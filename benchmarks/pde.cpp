// What one sample of each PDE costs, and one time step.

#include <benchmark/benchmark.h>

#include "pde/registry.hpp"

namespace {

using namespace opshap;

void solve(benchmark::State& state, const pde::Pde* pde) {
  const FieldBatch initial = pde->random_initial(Rng(42, "benchmark"), 0).field;
  std::int64_t steps = 0;
  for (auto _ : state) {
    const pde::Solution solution = pde->solve(initial, pde->target_time());
    benchmark::DoNotOptimize(solution.field.values.data());
    steps += solution.steps;
  }
  state.counters["steps/s"] = benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
}

void initial_condition(benchmark::State& state, const pde::Pde* pde) {
  std::uint64_t sample = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(pde->random_initial(Rng(42, "benchmark"), sample++).field.values.data());
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& pde : pde::all()) {
    benchmark::RegisterBenchmark(("solve/" + std::string(pde->name())).c_str(), solve, pde.get())
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("initial_condition/" + std::string(pde->name())).c_str(), initial_condition,
                                 pde.get())
        ->Unit(benchmark::kMicrosecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
