// What one explanation by a trained explainer costs: its forward pass, and the two evaluations of the operator that
// make the values add up, of which v(∅) is known from the input before when the baseline is the same. Beside it the
// mean field with few nodes and the correction of second order, which need no training. The weights are random.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/coalitions.hpp"
#include "core/rng.hpp"
#include "core/scenario.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/second_order.hpp"
#include "explainers/operator_shap.hpp"
#include "games/cell_mask_game.hpp"
#include "methods/method.hpp"
#include "operators/density.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"
#include "operators/weights.hpp"
#include "torch_main.hpp"

namespace opshap {
namespace {

/// The paper's operator, and inputs of n points that take turns.
struct Explained {
  std::unique_ptr<Operator> op;
  std::vector<Scenario> scenarios;

  explicit Explained(int points)
      : op(operators::untrained_operator(paper(operators::architecture("fno")->of_the_paper()), 1)) {
    Rng rng(1, "benchmark fields");
    for (int input = 0; input < 8; ++input) {
      FieldBatch field = FieldBatch::zeros(Domain::unit({points}), 1, 1);
      for (double& value : field.values) value = rng.normal();
      scenarios.push_back(make_scenario({}, field, field.domain.shape()));
    }
  }

  static networks::NetworkConfig paper(const networks::NetworkSettings& settings) {
    return operators::fitted(settings, {.dimension = 1});
  }
};

/// The game of an input is made, and then asked.
void by_method(benchmark::State& state, const methods::Method& method, const Explained& explained,
               bool known_baseline = false) {
  double forward = 0;
  std::optional<double> empty;
  std::size_t turn = 0;
  for (auto _ : state) {
    const Scenario& scenario = explained.scenarios[turn++ % explained.scenarios.size()];
    const auto game = games::cell_mask_game(*explained.op, scenario);
    const Attribution found = method.attribute({*game, &scenario, {2}, 1, empty});
    if (known_baseline) empty = found.empty;
    forward += found.estimator_seconds;
  }
  state.counters["outside of the game"] = benchmark::Counter(forward, benchmark::Counter::kAvgIterations);
  state.SetItemsProcessed(state.iterations());
}

/// The paper's explainer, or the one of profile `desk`'s mean_field_labels.
void by_explainer(benchmark::State& state, bool paper, bool known_baseline) {
  const Explained explained(static_cast<int>(state.range(0)));
  operators::DensityConfig config{.network = {}, .trained_at = {16}};
  if (!paper) {
    config.fine_from = 128;
    const auto inner = operators::architecture("fno")->fitted(
        {.model = "fno",
         .json =
             R"({"modes": 16, "width": 64, "layers": 4, "padding": 0.0, "padding_mode": "symmetric", "positional_embedding": "none"})"},
        {.dimension = 1, .in_channels = 1 + config.place_channels(1), .out_channels = 2});
    config.network = inner;
  }
  const auto network = operators::make_network(
      paper ? Explained::paper(operators::architecture("fno")->of_the_paper()) : networks::NetworkConfig(config),
      torch::kFloat32);
  operators::initialise(*network, 2);
  const auto file =
      std::filesystem::temp_directory_path() / ("bench_explanations." + std::to_string(::getpid()) + ".safetensors");
  operators::save_network(*network, file);
  const auto method = methods::of_explainer(explainers::load_explainer(file, *explained.op));
  std::filesystem::remove(file);
  by_method(state, *method, explained, known_baseline);
}

void by_mean_field(benchmark::State& state) {
  const Explained explained(static_cast<int>(state.range(0)));
  const auto method = methods::of_estimator(estimators::mean_field(static_cast<int>(state.range(1))));
  by_method(state, *method, explained);
}

/// diagonal_second_order as it is asked for by default. `evaluations` is its time in evaluations of the same game,
/// which take turns with it.
void by_second_order(benchmark::State& state, bool mean_field) {
  const Explained explained(static_cast<int>(state.range(0)));
  const auto method = estimators::diagonal_second_order({.mean_field = mean_field});
  const auto game = games::cell_mask_game(*explained.op, explained.scenarios.front());
  Rng rng(1, "coalitions");
  Coalitions drawn(game->players(), 1024);
  for (std::size_t row = 0; row < drawn.size(); ++row)
    for (int player = 0; player < game->players(); ++player)
      if (rng.below(2) == 0) drawn.insert(row, player);
  double of_method = 0, of_values = 0;
  std::int64_t gradients = 0;
  const auto seconds_of = [](const auto& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (auto _ : state) {
    of_method += seconds_of([&] { gradients = attribute(*method, *game, {}, 1).gradients; });
    of_values += seconds_of([&] { benchmark::DoNotOptimize(game->values(drawn)); }) / static_cast<double>(drawn.size());
  }
  state.counters["method_ms"] = 1e3 * of_method / static_cast<double>(state.iterations());
  state.counters["evaluations"] = of_method / of_values;
  state.counters["gradients"] = static_cast<double>(gradients);
}

void register_all() {
  const auto explainer = [](const char* name, bool paper, bool known_baseline) {
    benchmark::RegisterBenchmark(name, by_explainer, paper, known_baseline)
        ->ArgName("n")
        ->Arg(16)
        ->Arg(128)
        ->Arg(1024)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  };
  explainer("explainer/paper", true, false);
  explainer("explainer/paper/known_baseline", true, true);
  explainer("explainer/query_angle", false, false);
  explainer("explainer/query_angle/known_baseline", false, true);
  benchmark::RegisterBenchmark("mean_field", by_mean_field)
      ->ArgNames({"n", "nodes"})
      ->Args({16, 2})
      ->Args({1024, 2})
      ->Args({1024, 8})
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  for (const bool mean_field : {false, true})
    benchmark::RegisterBenchmark(mean_field ? "second_order/mean_field" : "second_order", by_second_order, mean_field)
        ->ArgName("n")
        ->Arg(16)
        ->Arg(64)
        ->Arg(256)
        ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace opshap

int main(int argc, char** argv) { opshap::run_torch_benchmarks(argc, argv, opshap::register_all); }
