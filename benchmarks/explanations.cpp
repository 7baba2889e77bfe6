// What one explanation by a trained explainer costs: its forward pass, and the two evaluations of the operator that
// make the values add up. Beside it the mean field with few nodes, which needs no training. The weights are random.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "core/rng.hpp"
#include "core/scenario.hpp"
#include "estimators/mean_field.hpp"
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

/// The paper's operator, and an input of n points.
struct Explained {
  std::unique_ptr<Operator> op;
  Scenario scenario;
  std::unique_ptr<Game> game;

  explicit Explained(int points)
      : op(operators::untrained_operator(paper(operators::architecture("fno")->of_the_paper()), 1)) {
    FieldBatch field = FieldBatch::zeros(Domain::unit({points}), 1, 1);
    Rng rng(1, "benchmark fields");
    for (double& value : field.values) value = rng.normal();
    scenario = make_scenario({}, field, field.domain.shape());
    game = games::cell_mask_game(*op, scenario);
  }

  static operators::NetworkConfig paper(const operators::NetworkSettings& settings) {
    return operators::fitted(settings, {.dimension = 1});
  }
};

void by_method(benchmark::State& state, const methods::Method& method, const Explained& explained) {
  double forward = 0;
  for (auto _ : state) {
    const Attribution found = method.attribute({*explained.game, &explained.scenario, {2}, 1});
    forward += found.estimator_seconds;
  }
  state.counters["outside of the game"] = benchmark::Counter(forward, benchmark::Counter::kAvgIterations);
  state.SetItemsProcessed(state.iterations());
}

/// The paper's explainer, or the one of profile `desk`'s mean_field_labels.
void by_explainer(benchmark::State& state, bool paper) {
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
      paper ? Explained::paper(operators::architecture("fno")->of_the_paper()) : operators::NetworkConfig(config),
      torch::kFloat32);
  operators::initialise(*network, 2);
  const auto file =
      std::filesystem::temp_directory_path() / ("bench_explanations." + std::to_string(::getpid()) + ".safetensors");
  operators::save_network(*network, file);
  const auto method = methods::of_explainer(explainers::load_explainer(file, *explained.op));
  std::filesystem::remove(file);
  by_method(state, *method, explained);
}

void by_mean_field(benchmark::State& state) {
  const Explained explained(static_cast<int>(state.range(0)));
  const auto method = methods::of_estimator(estimators::mean_field(static_cast<int>(state.range(1))));
  by_method(state, *method, explained);
}

void register_all() {
  const auto explainer = [](const char* name, bool paper) {
    benchmark::RegisterBenchmark(name, by_explainer, paper)
        ->ArgName("n")
        ->Arg(16)
        ->Arg(128)
        ->Arg(1024)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  };
  explainer("explainer/paper", true);
  explainer("explainer/query_angle", false);
  benchmark::RegisterBenchmark("mean_field", by_mean_field)
      ->ArgNames({"n", "nodes"})
      ->Args({16, 2})
      ->Args({1024, 2})
      ->Args({1024, 8})
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

}  // namespace
}  // namespace opshap

int main(int argc, char** argv) { opshap::run_torch_benchmarks(argc, argv, opshap::register_all); }
