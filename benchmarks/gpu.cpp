// Coalitions a second of an FNO of the paper's size by LibTorch on a device: bench_gpu [--device cuda:0]
// [--benchmark_...]. benchmarks/gpu/run compares them with the peer's.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/operator.hpp"
#include "core/process.hpp"
#include "core/rng.hpp"
#include "games/cell_mask_game.hpp"
#include "operators/fno.hpp"
#include "operators/fno_coalitions.hpp"
#include "operators/network.hpp"

namespace opshap {
namespace {

struct Question {
  FieldBatch input, baseline;
  Partition players;
  Query query;
};

Question question(const std::vector<int>& shape) {
  const Domain domain = Domain::unit(shape);
  FieldBatch input = FieldBatch::zeros(domain, 1, 1);
  Rng rng(1, "benchmark fields");
  for (double& value : input.values) value = rng.normal();
  return {.input = std::move(input),
          .baseline = FieldBatch::zeros(domain, 1, 1),
          .players = Partition::one_player_per_point(domain),
          .query = {.point = domain.centre()}};
}

/// Of all sizes.
Coalitions random_coalitions(int players, std::size_t count) {
  Coalitions coalitions(players, count);
  Rng rng(2, "benchmark coalitions");
  for (std::size_t i = 0; i < count; ++i) {
    const double share = rng.uniform();
    for (int player = 0; player < players; ++player)
      if (rng.uniform() < share) coalitions.insert(i, player);
  }
  return coalitions;
}

/// A network with these options. Its parameters depend on the config alone, are numbers of single precision, and are
/// twice as large as at the start of a training: values then differ enough between coalitions for an error to be told
/// from rounding.
std::unique_ptr<operators::Network> network(const operators::FnoConfig& config, const torch::TensorOptions& options) {
  auto on_cpu = operators::make_network(config, torch::kFloat32);
  operators::initialise(*on_cpu, 1);
  auto result = operators::make_network(config, options);
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < result->parameters().size(); ++i)
    result->parameters()[i].value.copy_(2 * on_cpu->parameters()[i].value);
  return result;
}

/// max |difference| to the network in double on the CPU, over the standard deviation of its values.
double error(const operators::FnoConfig& config, const Question& of, const Coalitions& coalitions,
             const std::vector<double>& found) {
  const auto op = as_operator(network(config, torch::kFloat64));
  const std::vector<double> exact =
      games::cell_mask_game(*op, {of.input, of.baseline, of.players, of.query})->values(coalitions);
  const double mean = std::accumulate(exact.begin(), exact.end(), 0.0) / static_cast<double>(exact.size());
  double worst = 0, square = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    worst = std::max(worst, std::abs(exact[i] - found[i]));
    square += (exact[i] - mean) * (exact[i] - mean);
  }
  return worst / std::sqrt(square / static_cast<double>(exact.size()));
}

void coalitions(benchmark::State& state, int dimension, const std::string& device) {
  // Of the spread, which is down to a twentieth of the values: some tens of roundings of single precision.
  constexpr double tolerance = 1e-4;
  const auto axes = static_cast<std::size_t>(dimension);
  operators::FnoConfig config;
  config.n_modes.assign(axes, 16);
  config.domain_padding = 0.5;
  const Question of = question(std::vector<int>(axes, static_cast<int>(state.range(0))));
  const auto on_device = network(config, operators::tensor_options(opshap::networks::Precision::float32, device));
  const auto engine = on_device->engines().engines->coalition_engine(of.input, of.baseline, of.players, of.query);

  const Coalitions few = random_coalitions(of.players.players, 16);
  std::vector<double> values(few.size());
  engine->values(few, 0, values);
  const double found = error(config, of, few, values);
  if (!(found < tolerance)) return state.SkipWithError(message("error ", found, " of the spread").c_str());

  const Coalitions many = random_coalitions(of.players.players, engine->batch());
  values.resize(many.size());
  engine->values(many, 0, values);  // warm
  for (auto _ : state) {
    engine->values(many, 0, values);
    benchmark::DoNotOptimize(values.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(many.size()));
  state.counters["coalitions_per_call"] = static_cast<double>(many.size());
  state.counters["error"] = found;
}

void register_all(const std::string& device) {
  const auto add = [&](const std::string& name, int dimension, const std::vector<std::int64_t>& sizes) {
    auto* row = benchmark::RegisterBenchmark(name.c_str(), coalitions, dimension, device);
    row->ArgName("n")->Unit(benchmark::kMillisecond)->UseRealTime();
    for (const std::int64_t size : sizes) row->Arg(size);
  };
  add("fno1d_coalitions", 1, {16, 64, 256, 1024});
  add("fno2d_coalitions", 2, {4, 8, 16, 32});
}

}  // namespace
}  // namespace opshap

int main(int argc, char** argv) {
  opshap::restart_with_fast_blas(argv);
  benchmark::Initialize(&argc, argv);
  std::string device = "cpu";
  if (argc == 3 && std::string(argv[1]) == "--device") {
    device = argv[2];
  } else if (argc != 1) {
    std::fprintf(stderr, "bench_gpu: %s (neither --device NAME nor an option of Google Benchmark). Leave it out.\n",
                 argv[1]);
    return 2;
  }
  try {
    opshap::operators::tensor_options(opshap::networks::Precision::float32, device);
    opshap::register_all(device);
    benchmark::RunSpecifiedBenchmarks();
  } catch (const opshap::InvalidArgument& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 2;
  } catch (const opshap::Error& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 4;
  }
}
