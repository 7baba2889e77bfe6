// What one sample of each problem costs, and one step of its solver. "quick": with the parameters of tests.

#include <benchmark/benchmark.h>

#include "pde/registry.hpp"

namespace {

using namespace opshap;

void solve(benchmark::State& state, const pde::Problem* problem) {
  const FieldBatch input = problem->draw(Rng(42, "benchmark"), 0).input;
  std::int64_t steps = 0;
  for (auto _ : state) {
    const pde::Solution solution = problem->solve(input);
    benchmark::DoNotOptimize(solution.output.values.data());
    steps += solution.steps;
  }
  if (steps > 0)
    state.counters["steps/s"] = benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
}

void draw(benchmark::State& state, const pde::Problem* problem) {
  std::uint64_t sample = 0;
  for (auto _ : state) benchmark::DoNotOptimize(problem->draw(Rng(42, "benchmark"), sample++).input.values.data());
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::unique_ptr<pde::Problem>> quick;
  for (const auto& problem : pde::all()) {
    const std::string name(problem->name());
    quick.push_back(problem->with(problem->quick()));
    benchmark::RegisterBenchmark(("quick/" + name).c_str(), solve, quick.back().get())->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("solve/" + name).c_str(), solve, problem.get())->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("draw/" + name).c_str(), draw, problem.get())->Unit(benchmark::kMicrosecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
