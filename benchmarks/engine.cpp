// What a coalition of a trained FNO costs by the engine: coalitions a second, operations, where the time goes,
// slopes, preparation, memory.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/rng.hpp"
#include "core/threads.hpp"
#include "engines/axis_basis.hpp"
#include "engines/fno_engine.hpp"
#include "engines/fno_slopes.hpp"
#include "kernel_meter.hpp"
#include "support/random_fno.hpp"

namespace opshap {
namespace {

/// The paper's architecture on a line or a square; each grid point is a player.
FnoCase network(int dimension, std::int64_t side) {
  const auto axes = static_cast<std::size_t>(dimension);
  return {.shape = std::vector<int>(axes, static_cast<int>(side)), .modes = std::vector<int>(axes, 16)};
}

struct Question {
  engines::FnoEngine engine;
  FieldBatch input, baseline;
  std::vector<int> player_of;
  Query query;
  engines::FnoEngine::Subject subject;
  engines::FnoEngine::Heads heads;

  Question(const FnoCase& of, const kernels::Kernels& kernels)
      : engine(random_weights(of, 1, 1), of.shape, kernels),
        input(random_field(of, 0, 2, 2)),
        baseline(random_field(of, -1, 0, 3)),
        player_of(static_cast<std::size_t>(input.domain.points())),
        query{.point = input.domain.centre()} {
    std::iota(player_of.begin(), player_of.end(), 0);
    subject = prepare();
    heads = engine.heads(query);
  }

  int players() const { return static_cast<int>(player_of.size()); }
  engines::FnoEngine::Subject prepare() const {
    return engine.subject(input.values, baseline.values, player_of, players());
  }
};

/// Made once: Google Benchmark calls a function several times.
const Question& question(int dimension, std::int64_t side, bool with_meter = false) {
  static std::map<std::tuple<int, std::int64_t, bool>, std::unique_ptr<Question>> questions;
  auto& found = questions[{dimension, side, with_meter}];
  const FnoCase of = network(dimension, side);
  if (!found)
    found = std::make_unique<Question>(
        of, with_meter ? metered(kernels::chosen_kernels(), of.width) : kernels::chosen_kernels());
  return *found;
}

/// As a cell-mask game does: each thread takes batches.
void evaluate(const Question& question, const Coalitions& coalitions, std::vector<double>& values) {
  const std::size_t size = question.engine.batch();
  parallel_for((values.size() + size - 1) / size, [&](std::size_t chunk) {
    const std::size_t first = chunk * size;
    question.engine.values(question.subject, question.heads, coalitions, first,
                           std::span(values).subspan(first, std::min(size, values.size() - first)));
  });
}

/// Operations of a forward pass that knows of no coalitions: all layers at all points, fast Fourier transforms
/// (5/2·P·log₂ P for a real one).
double plain_flops(const FnoCase& of) {
  const engines::PaddedGrid grid(of.shape, of.padding, of.both_sides);
  const auto points = static_cast<double>(grid.points()), all = static_cast<double>(grid.padded_points());
  const double width = of.width, hidden = width / 2, wide = 2 * width;
  const double entry = of.in_channels + static_cast<double>(of.modes.size());
  double frequencies = of.modes.back() / 2 + 1;
  if (of.modes.size() == 2) frequencies *= of.modes.front();
  const double block = 2 * all * (width * width + 2 * width * hidden + width) + 8 * frequencies * width * width +
                       2 * width * 2.5 * all * std::log2(all);
  return 2 * points * (entry * wide + wide * width + width * wide + wide * of.out_channels) + of.layers * block;
}

/// What one coalition of a full batch takes.
KernelMeter operations(int dimension, std::int64_t side) {
  const Question& asked = question(dimension, side, true);
  const std::size_t count = asked.engine.batch();
  const Coalitions coalitions = random_coalitions(asked.players(), count, 1);
  std::vector<double> values(count);
  kernel_meter = {};
  asked.engine.values(asked.subject, asked.heads, coalitions, 0, values);
  KernelMeter one = kernel_meter;
  for (double& flops : one.flops) flops /= static_cast<double>(count);
  one.activations /= static_cast<double>(count);
  return one;
}

/// The largest resident memory of this program. Not getrusage's, which begins with that of the program that started
/// this one.
double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) * 1024e-6;
  return std::numeric_limits<double>::quiet_NaN();
}

void coalitions(benchmark::State& state, int dimension) {
  const std::int64_t side = state.range(0);
  const Question& asked = question(dimension, side);
  const FnoCase of = network(dimension, side);
  const std::size_t wanted = (std::size_t{1} << (dimension == 1 ? 19 : 18)) / static_cast<std::size_t>(asked.players()),
                    batch = asked.engine.batch();
  const Coalitions drawn = random_coalitions(asked.players(), (wanted + batch - 1) / batch * batch, 1);
  std::vector<double> values(drawn.size());
  for (auto _ : state) evaluate(asked, drawn, values);
  const double count = static_cast<double>(state.iterations()) * static_cast<double>(drawn.size());
  const KernelMeter one = operations(dimension, side);
  state.SetItemsProcessed(static_cast<std::int64_t>(count));
  state.counters["GFLOP/s"] = benchmark::Counter(1e-9 * count * one.all_flops(), benchmark::Counter::kIsRate);
  state.counters["GGELU/s"] = benchmark::Counter(1e-9 * count * one.activations, benchmark::Counter::kIsRate);
  state.counters["MFLOP"] = 1e-6 * one.all_flops();
  state.counters["MGELU"] = 1e-6 * one.activations;
  state.counters["plain_MFLOP"] = 1e-6 * plain_flops(of);
  state.counters["batch"] = static_cast<double>(batch);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Activations a second of one thread, in the first-level cache: the best of many short whiles, for the processor's
/// vector units take some to wake up.
double activation_rate() {
  const kernels::Kernels& set = kernels::chosen_kernels();
  kernels::AlignedFloats values(2048, 0.3F), out(values.size());
  constexpr int calls = 100;
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 200; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (int call = 0; call < calls; ++call)
      set.quick_gelu(values.data(), out.data(), static_cast<std::int64_t>(values.size()));
    best = std::min(best, seconds_since(start));
  }
  return calls * static_cast<double>(values.size()) / best;
}

/// Shares of the time of one thread. What no kernel does is `rest`; `gelu`, within blocks and query, is what their
/// activations would take by themselves.
void shares(benchmark::State& state, int dimension) {
  const Question& asked = question(dimension, state.range(0), true);
  const std::size_t count = 4 * asked.engine.batch();
  const Coalitions drawn = random_coalitions(asked.players(), count, 1);
  std::vector<double> values(count);
  asked.engine.values(asked.subject, asked.heads, drawn, 0, values);
  kernel_meter = {};
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) asked.engine.values(asked.subject, asked.heads, drawn, 0, values);
  const double seconds = seconds_since(start);
  double rest = 1;
  for (std::size_t part = 0; part < KernelMeter::parts; ++part) {
    const double share = kernel_meter.seconds[part] / seconds;
    state.counters[KernelMeter::names[part]] = share;
    rest -= share;
  }
  state.counters["rest"] = rest;
  state.counters["gelu"] = kernel_meter.activations / activation_rate() / seconds;
  state.SetItemsProcessed(static_cast<std::int64_t>(count) * state.iterations());
}

/// A slope at a field of weights that differ from point to point, of one thread; fields are asked for in groups, as the
/// corrections of second order do. Coalitions of full batches take turns with the slopes, so `evaluations`, the time of
/// a slope in coalitions, is a ratio within one run.
void slopes(benchmark::State& state, int dimension, bool mean_field) {
  const Question& asked = question(dimension, state.range(0));
  const engines::FnoSlopes of(asked.engine);
  constexpr std::size_t fields = 16;
  Rng rng(1, "weights");
  std::vector<double> weights(fields * asked.player_of.size()), found(weights.size());
  for (double& weight : weights) weight = rng.uniform(0.1, 0.9);
  const Coalitions drawn = random_coalitions(asked.players(), 2 * asked.engine.batch(), 1);
  std::vector<double> values(drawn.size());
  double of_slopes = 0, of_values = 0;
  for (auto _ : state) {
    auto start = std::chrono::steady_clock::now();
    mean_field ? of.of_mean_field(asked.subject, asked.heads, weights, found)
               : of.of_input(asked.subject, asked.heads, weights, found);
    of_slopes += seconds_since(start) / fields;
    start = std::chrono::steady_clock::now();
    asked.engine.values(asked.subject, asked.heads, drawn, 0, values);
    of_values += seconds_since(start) / static_cast<double>(drawn.size());
  }
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["slope_us"] = 1e6 * of_slopes / rounds;
  state.counters["evaluation_us"] = 1e6 * of_values / rounds;
  state.counters["evaluations"] = of_slopes / of_values;
}

void new_grid(benchmark::State& state, int dimension) {
  const FnoCase of = network(dimension, state.range(0));
  const engines::FnoWeights weights = random_weights(of, 1, 1);
  for (auto _ : state) benchmark::DoNotOptimize(engines::FnoEngine(weights, of.shape));
}

void new_input(benchmark::State& state, int dimension) {
  const Question& asked = question(dimension, state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(asked.prepare());
}

void new_query(benchmark::State& state, int dimension) {
  const Question& asked = question(dimension, state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(asked.engine.heads(asked.query));
}

/// Meant to be run alone: what other benchmarks have taken counts, too.
void memory(benchmark::State& state) {
  const Question& asked = question(1, 1024);
  const Coalitions drawn = random_coalitions(asked.players(), static_cast<std::size_t>(state.range(0)), 1);
  std::vector<double> values(drawn.size());
  for (auto _ : state) evaluate(asked, drawn, values);
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["peak_MB"] = peak_megabytes();
}

void register_all(bool million) {
  const std::vector<std::int64_t> lines = {16, 64, 256, 1024}, squares = {4, 8, 16, 32};
  const auto add = [&](const char* name, auto function) {
    for (const int dimension : {1, 2}) {
      const std::string full = std::string("fno") + (dimension == 1 ? "1d_" : "2d_") + name;
      auto* row = benchmark::RegisterBenchmark(full.c_str(), function, dimension);
      row->ArgName(dimension == 1 ? "n" : "side")
          ->Unit(benchmark::kMillisecond)
          ->MeasureProcessCPUTime()
          ->UseRealTime();
      for (const std::int64_t side : dimension == 1 ? lines : squares) row->Arg(side);
    }
  };
  add("coalitions", coalitions);
  add("shares", shares);
  for (const bool mean_field : {false, true}) {
    auto* row =
        benchmark::RegisterBenchmark(mean_field ? "fno1d_mean_field_slopes" : "fno1d_slopes", slopes, 1, mean_field);
    row->ArgName("n")->Unit(benchmark::kMillisecond);
    for (const int n : {16, 32, 64, 128, 256}) row->Arg(n);
  }
  add("new_grid", new_grid);
  add("new_input", new_input);
  add("new_query", new_query);
  auto* row = benchmark::RegisterBenchmark("fno1d_memory/n:1024", memory);
  row->ArgName("coalitions")->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime()->Iterations(1);
  row->Arg(1000);
  if (million) row->Arg(1000000);
}

}  // namespace
}  // namespace opshap

/// `--million` adds the row of a million coalitions, which takes minutes.
int main(int argc, char** argv) {
  const auto end = std::remove(argv, argv + argc, std::string_view("--million"));
  const bool million = end != argv + argc;
  argc = static_cast<int>(end - argv);
  benchmark::Initialize(&argc, argv);
  benchmark::AddCustomContext("engine", opshap::kernels::chosen_kernels().name);
  benchmark::AddCustomContext("compiler", "GCC " __VERSION__);
  opshap::register_all(million);
  benchmark::RunSpecifiedBenchmarks();
}
