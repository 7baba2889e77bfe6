// What every registered neural operator costs at the paper's size: fields a second forward, at a point, with gradient;
// coalitions a second of the game of one field, and what their time goes to; its Shapley value by the mean field;
// samples a second in training as a backbone and as an explainer. And what the machine's matrix products give, to
// measure all of it by.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/coalitions.hpp"
#include "core/domain.hpp"
#include "core/operator.hpp"
#include "core/rng.hpp"
#include "core/threads.hpp"
#include "estimators/diagonal.hpp"
#include "games/cell_mask_game.hpp"
#include "operation_times.hpp"
#include "operators/blas.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"
#include "operators/weights.hpp"
#include "torch_main.hpp"
#include "training/loop.hpp"
#include "training/samples.hpp"
#include "training/target.hpp"
#include "training/training.hpp"

namespace opshap {
namespace {

FieldBatch random_fields(const Domain& domain, std::int64_t count, int channels = 1) {
  FieldBatch fields = FieldBatch::zeros(domain, count, channels);
  Rng rng(1, "benchmark fields");
  for (double& value : fields.values) value = rng.normal();
  return fields;
}

FieldBatch random_fields(const std::vector<int>& shape, std::int64_t count) {
  return random_fields(Domain::unit(shape), count);
}

/// A cloud of evenly spread points of the unit square: those of the golden values of meshes.
Domain cloud(std::int64_t points) {
  std::vector<double> places;
  for (std::int64_t i = 1; i <= points; ++i) {
    for (const double step : {0.7548776662466927, 0.5698402909980532})
      places.push_back(std::fmod(0.5 + static_cast<double>(i) * step, 1.0));
  }
  return Domain::mesh(point_cloud(2, std::move(places)));
}

/// A registered operator in one of its dimensions, with the paper's settings.
struct Subject {
  std::string name;
  int dimension = 1;
  bool on_mesh = false;  ///< then it has two channels, like the paper's fields on meshes
  int channels() const { return on_mesh ? 2 : 1; }

  networks::NetworkConfig config() const {
    return operators::fitted(operators::architecture(name)->of_the_paper(),
                             {.dimension = dimension, .in_channels = channels(), .out_channels = channels()});
  }
  /// With so many points per axis, or so many in all on a mesh.
  Domain domain(std::int64_t points) const {
    if (on_mesh) return cloud(points);
    return Domain::unit(std::vector<int>(static_cast<std::size_t>(dimension), static_cast<int>(points)));
  }
  /// Every point plays, on a mesh the 8 x 8 blocks of its box.
  Partition players(const Domain& domain) const {
    return on_mesh ? Partition::blocks(domain, 64) : Partition::one_player_per_point(domain);
  }
  std::unique_ptr<Operator> untrained() const { return operators::untrained_operator(config(), 1); }
};

std::vector<int> shape(const benchmark::State& state, int dimension) {
  return std::vector<int>(static_cast<std::size_t>(dimension), static_cast<int>(state.range(0)));
}

/// Calls work(operator, fields) on as many fields as the operator likes to see.
template <typename Work>
void run(benchmark::State& state, const Subject& subject, const Work& work) {
  const auto op = subject.untrained();
  const Domain domain = Domain::unit(shape(state, subject.dimension));
  const FieldBatch fields = random_fields(domain.shape(), op->preferred_batch(domain));
  for (auto _ : state) work(*op, fields);
  state.SetItemsProcessed(state.iterations() * fields.batch);
}

void forward(benchmark::State& state, const Subject& subject) {
  run(state, subject, [](const Operator& op, const FieldBatch& fields) { benchmark::DoNotOptimize(op.apply(fields)); });
}

void value_at(benchmark::State& state, const Subject& subject) {
  run(state, subject, [](const Operator& op, const FieldBatch& fields) {
    benchmark::DoNotOptimize(op.values_at(fields, Query{.point = fields.domain.centre()}));
  });
}

void gradient_at(benchmark::State& state, const Subject& subject) {
  run(state, subject, [](const Operator& op, const FieldBatch& fields) {
    benchmark::DoNotOptimize(op.gradient_at(fields, Query{.point = fields.domain.centre()}));
  });
}

void one_forward(benchmark::State& state, const Subject& subject) {
  const auto op = subject.untrained();
  const FieldBatch field = random_fields(shape(state, subject.dimension), 1);
  for (auto _ : state) benchmark::DoNotOptimize(op->apply(field));
  state.SetItemsProcessed(state.iterations());
}

void one_value(benchmark::State& state, const Subject& subject) {
  const auto op = subject.untrained();
  const FieldBatch field = random_fields(shape(state, subject.dimension), 1);
  for (auto _ : state) benchmark::DoNotOptimize(op->values_at(field, Query{.point = field.domain.centre()}));
  state.SetItemsProcessed(state.iterations());
}

/// Values of random coalitions of the game of one field at the centre. With `split` on one thread, with the shares of
/// its time that go to LibTorch's matrix products and to its other operations. The rest are kernels of our own, their
/// products among them, and the masks.
void coalitions(benchmark::State& state, const Subject& subject, bool split) {
  const int before = threads();
  if (split) set_threads(1);
  const auto op = subject.untrained();
  const FieldBatch field = random_fields(subject.domain(state.range(0)), 1, subject.channels());
  const auto game = games::cell_mask_game(*op, {field, FieldBatch::zeros(field.domain, 1, field.channels),
                                                subject.players(field.domain), Query{.point = field.domain.centre()}});
  Coalitions asked(game->players(), static_cast<std::size_t>(state.range(1)));
  Rng rng(1, "benchmark coalitions");
  for (std::size_t row = 0; row < asked.size(); ++row) {
    for (int player = 0; player < game->players(); ++player) {
      if (rng.below(2) == 1) asked.insert(row, player);
    }
  }
  std::optional<OperationTimes> times;
  if (split) times.emplace();
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) benchmark::DoNotOptimize(game->values(asked));
  const double whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  state.SetItemsProcessed(state.iterations() * state.range(1));
  if (!split) return;
  state.counters["products"] = times->products() / whole;
  state.counters["operations"] = times->others() / whole;
  state.counters["kernels"] = 1 - (times->products() + times->others()) / whole;
  set_threads(before);
}

void mean_field_value(benchmark::State& state, const Subject& subject) {
  const auto op = subject.untrained();
  const FieldBatch field = random_fields(shape(state, subject.dimension), 1);
  const auto game = games::cell_mask_game(
      *op, {field, FieldBatch::zeros(field.domain, 1, 1), Partition::one_player_per_point(field.domain),
            Query{.point = field.domain.centre()}});
  const auto estimator = estimators::mean_field(static_cast<int>(state.range(1)));
  for (auto _ : state) benchmark::DoNotOptimize(attribute(*estimator, *game, {2}, 1));
  state.SetItemsProcessed(state.iterations());
}

/// GFLOP/s of a product of large square matrices, on all threads.
void sgemm(benchmark::State& state) {
  const std::int64_t size = state.range(0);
  at::set_num_threads(threads());  // others leave it at one
  const torch::Tensor a = torch::rand({size, size}), b = torch::rand({size, size});
  torch::Tensor c = torch::mm(a, b);
  for (auto _ : state) torch::mm_out(c, a, b);
  const double operations = 2.0 * static_cast<double>(size * size * size) * static_cast<double>(state.iterations());
  state.counters["GFLOP/s"] = benchmark::Counter(1e-9 * operations, benchmark::Counter::kIsRate);
}

/// The loss of outputs for fields first..first+count-1.
using Loss = std::function<torch::Tensor(const torch::Tensor& outputs, std::int64_t first, std::int64_t count)>;

/// Samples of a step: fields on meshes come one by one, and fewer planes than lines fit into a step.
std::int64_t training_batch(const Subject& subject) { return subject.on_mesh ? 1 : subject.dimension == 2 ? 8 : 32; }

/// One step of a training with this loss, values of coalitions excluded, by fused layers or by LibTorch's operations
/// alone.
void step(benchmark::State& state, const Subject& subject, bool fused, const Loss& loss) {
  const auto network = operators::make_network(subject.config(), torch::kFloat32);
  network->set_fused(fused);
  operators::initialise(*network, 1);
  training::AdamW::Tensors parameters;
  for (operators::Parameter& parameter : network->parameters())
    parameters[parameter.name] = parameter.value.set_requires_grad(true);
  training::AdamW optimiser(parameters, 1e-4);
  const std::int64_t batch = training_batch(subject);
  const FieldBatch fields = random_fields(subject.domain(state.range(0)), batch, subject.channels());
  const torch::Tensor inputs = operators::to_tensor(fields, 0, batch, torch::kFloat32);
  const auto one_step = [&] {
    training::batch_loss_and_gradient(*network, batch, fields.domain, [&](std::int64_t first, std::int64_t count) {
      return loss(network->forward(inputs.narrow(1, first, count), fields.domain), first, count);
    });
    optimiser.step(1e-3);
  };
  one_step();  // the first one gets its memory from the system, and may be the only one that fits into the time
  for (auto _ : state) one_step();
  state.SetItemsProcessed(state.iterations() * batch);
}

/// Mean squared error of the whole fields.
void training_step(benchmark::State& state, const Subject& subject, bool fused) {
  const torch::Tensor targets =
      torch::ones({subject.domain(state.range(0)).points(), training_batch(subject), subject.channels()});
  step(state, subject, fused, [&](const torch::Tensor& outputs, std::int64_t first, std::int64_t count) {
    return torch::mse_loss(outputs, targets.narrow(1, first, count), torch::Reduction::Sum) /
           static_cast<double>(targets.numel());
  });
}

/// Mean squared error of the sums over 32 coalitions of each field.
void explainer_step(benchmark::State& state, const Subject& subject, bool fused) {
  const std::int64_t batch = training_batch(subject);
  const torch::Tensor coalitions = torch::ones({batch, 32, state.range(0)}), targets = torch::ones({batch, 32, 1});
  step(state, subject, fused, [&](const torch::Tensor& outputs, std::int64_t first, std::int64_t count) {
    const torch::Tensor values = outputs.squeeze(2).t() - outputs.mean(0);
    const torch::Tensor sums = torch::bmm(coalitions.narrow(0, first, count), values.unsqueeze(2));
    return torch::mse_loss(sums, targets.narrow(0, first, count), torch::Reduction::Sum) /
           static_cast<double>(targets.numel());
  });
}

/// FastSHAP's labels of a batch of games, each with so many coalitions: all that a training step is given.
void fastshap_labels(benchmark::State& state, const Subject& subject) {
  constexpr std::int64_t batch = 64;
  const auto backbone = subject.untrained();
  const data::SampleFields fields = random_fields(shape(state, subject.dimension), batch);
  training::ResolutionGroup group{.resolution = static_cast<int>(state.range(0))};
  std::vector<std::int64_t> members;
  std::vector<Rng> streams;
  for (std::int64_t sample = 0; sample < batch; ++sample) {
    group.samples.push_back(sample);
    members.push_back(sample);
    streams.push_back(Rng(1, "benchmark labels").stream(0, static_cast<std::uint64_t>(sample)));
  }
  const training::SampleGames games(*backbone, fields, group, {});
  networks::ExplainerRecipe recipe;
  recipe.coalitions = static_cast<int>(state.range(1));
  const auto target = training::targets::make(recipe);
  for (auto _ : state) benchmark::DoNotOptimize(target->draw(games, members, streams, training::Target::Use::training));
  state.SetItemsProcessed(state.iterations() * batch * state.range(1));
}

/// A whole epoch of the real training, its validation and checkpoint too.
void explainer_training(benchmark::State& state, const Subject& subject) {
  constexpr std::int64_t batch = 32, steps = 16;
  const auto backbone = subject.untrained();
  data::Dataset data{.pde = "random",
                     .inputs = random_fields(shape(state, subject.dimension), batch * steps + 1),
                     .targets = {},
                     .split = std::vector<data::Split>(batch * steps + 1, data::Split::train),
                     .resolution_slot = std::vector<std::uint8_t>(batch * steps + 1, 0),
                     .resolutions = {static_cast<int>(state.range(0))},
                     .content_hash = "random"};
  data.split.back() = data::Split::validation;
  const networks::ExplainerRecipe recipe{.model = operators::architecture(subject.name)->of_the_paper(),
                                         .resolutions = data.resolutions,
                                         .epochs = 1,
                                         .batch = batch,
                                         .warmup_epochs = 0,
                                         .coalitions = static_cast<int>(state.range(1))};
  const auto folder = std::filesystem::temp_directory_path() / ("bench_operators." + std::to_string(::getpid()));
  for (auto _ : state) {
    state.SetIterationTime(training::train_explainer(recipe, *backbone, data, 1, folder).seconds);
    std::filesystem::remove_all(folder);
  }
  state.SetItemsProcessed(state.iterations() * batch * steps);
}

void register_all() {
  const auto add = [](const std::string& name, auto function, std::vector<std::int64_t> sizes, auto... arguments) {
    auto* row = benchmark::RegisterBenchmark(name.c_str(), function, arguments...);
    row->ArgName("n")->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
    for (const std::int64_t size : sizes) row->Arg(size);
  };
  const auto add_coalitions = [](const std::string& prefix, const std::vector<std::vector<std::int64_t>>& sizes,
                                 const Subject& subject) {
    for (const bool split : {false, true}) {
      const std::string name = prefix + (split ? "coalitions_split" : "coalitions");
      auto* row = benchmark::RegisterBenchmark(name.c_str(), coalitions, subject, split);
      row->ArgNames({"n", "batch"})->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
      for (const std::vector<std::int64_t>& size : sizes) row->Args(size);
    }
  };
  add("sgemm", sgemm, {1024, 2048});
  for (const std::string& name : operators::names()) {
    for (const int dimension : operators::architecture(name)->dimensions()) {
      const Subject subject{.name = name, .dimension = dimension};
      const std::string prefix = name + std::to_string(dimension) + "d_";
      if (dimension == 2) {
        add(prefix + "forward", forward, {4, 32}, subject);
        if (operators::architecture(name)->on_meshes()) {
          const Subject on_mesh{.name = name, .dimension = 2, .on_mesh = true};
          add(prefix + "mesh_training_step", training_step, {64, 1900}, on_mesh, true);
          add_coalitions(prefix + "mesh_", {{64, 64}, {1900, 64}}, on_mesh);
        } else {
          add(prefix + "training_step", training_step, {4, 32}, subject, true);
          add_coalitions(prefix, {{4, 256}, {32, 32}}, subject);
        }
        continue;
      }
      add_coalitions(prefix, {{16, 512}, {1024, 128}}, subject);
      add(prefix + "forward", forward, {16, 64, 256, 1024}, subject);
      add(prefix + "value_at", value_at, {16, 64, 256, 1024}, subject);
      add(prefix + "gradient_at", gradient_at, {16, 256, 1024}, subject);
      add(prefix + "one_forward", one_forward, {16, 1024}, subject);
      add(prefix + "one_value", one_value, {16, 1024}, subject);
      add(prefix + "training_step", training_step, {64, 256, 1024}, subject, true);
      add(prefix + "training_step_plain", training_step, {64, 256, 1024}, subject, false);
      add(prefix + "explainer_step", explainer_step, {64, 256, 1024}, subject, true);
      add(prefix + "explainer_step_plain", explainer_step, {64, 256, 1024}, subject, false);
      if (subject.untrained()->has_mean_field()) {
        auto* row = benchmark::RegisterBenchmark((prefix + "mean_field").c_str(), mean_field_value, subject);
        row->ArgNames({"n", "nodes"})
            ->Args({16, 8})
            ->Args({1024, 8})
            ->Unit(benchmark::kMillisecond)
            ->MeasureProcessCPUTime()
            ->UseRealTime();
      }
      benchmark::RegisterBenchmark((prefix + "fastshap_labels").c_str(), fastshap_labels, subject)
          ->ArgNames({"n", "coalitions"})
          ->ArgsProduct({{16, 64, 256}, {32, 128}})
          ->Unit(benchmark::kMillisecond)
          ->MeasureProcessCPUTime()
          ->UseRealTime();
      auto* row = benchmark::RegisterBenchmark((prefix + "explainer_training").c_str(), explainer_training, subject);
      row->ArgNames({"n", "coalitions"})
          ->Args({16, 32})
          ->Args({256, 32})
          ->Args({256, 128})
          ->Unit(benchmark::kMillisecond)
          ->UseManualTime();
    }
  }
}

}  // namespace
}  // namespace opshap

int main(int argc, char** argv) { opshap::run_torch_benchmarks(argc, argv, opshap::register_all); }
