// An FNO of the paper's size on a device, bench_gpu [--device cuda:0] [--benchmark_...]: coalitions a second by
// LibTorch's operations and by the kernel, FastSHAP's labels and steps. benchmarks/gpu/run compares them with the
// peer's. With
// --check instead whether its numbers are those of the CPU, a line of JSON for each; exit code 1 where one is not.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/operator.hpp"
#include "core/process.hpp"
#include "core/rng.hpp"
#include "games/cell_mask_game.hpp"
#include "operators/fno.hpp"
#include "operators/fno_coalitions.hpp"
#include "operators/network.hpp"
#include "training/loop.hpp"
#include "training/samples.hpp"
#include "training/target.hpp"
#include "training/target_fastshap.hpp"

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

constexpr double values_tolerance =
    1e-4;  // of the spread, which is down to a twentieth of the values: tens of roundings

operators::FnoConfig config_of(int dimension) {
  operators::FnoConfig config;
  config.n_modes.assign(static_cast<std::size_t>(dimension), 16);
  config.domain_padding = 0.5;
  return config;
}

std::vector<int> shape_of(int dimension, std::int64_t side) {
  return std::vector<int>(static_cast<std::size_t>(dimension), static_cast<int>(side));
}

/// How coalitions are computed: by LibTorch's operations, or by the kernel with one of its arithmetics.
using Kernel = std::optional<devices::Arithmetic>;

std::string name_of(const Kernel& kernel) { return kernel ? devices::name_of(*kernel) : "float32"; }

/// What the products are rounded to, of the spread.
double tolerance_of(const Kernel& kernel) {
  if (!kernel || *kernel == devices::Arithmetic::tf32x3) return values_tolerance;
  return *kernel == devices::Arithmetic::tf32 ? 0.02 : 0.2;
}

std::unique_ptr<CoalitionEngine> engine_of(const operators::Network& network, const Kernel& kernel,
                                           const Question& of) {
  const auto config = operators::FnoConfig::parse(network.config());
  const operators::FnoCoalitions engines =
      kernel ? operators::FnoCoalitions(config, network.options(), network.parameters(), *kernel)
             : operators::FnoCoalitions(config, network.options(), network.parameters());
  return engines.coalition_engine(of.input, of.baseline, of.players, of.query);
}

/// The engine's values on the device, and their error. Throws NumericalError where that is too large.
double checked_error(const operators::Network& on_device, const Kernel& kernel, const Question& of, int dimension) {
  const Coalitions few = random_coalitions(of.players.players, 16);
  std::vector<double> values(few.size());
  engine_of(on_device, kernel, of)->values(few, 0, values);
  const double found = error(config_of(dimension), of, few, values);
  require<NumericalError>(found < tolerance_of(kernel), "gpu: error=", found, " of the spread by ", name_of(kernel),
                          " (more than ", tolerance_of(kernel), "). Repair the engine before measuring.");
  return found;
}

void coalitions(benchmark::State& state, int dimension, const std::string& device, const Kernel& kernel) {
  const Question of = question(shape_of(dimension, state.range(0)));
  const auto on_device =
      network(config_of(dimension), operators::tensor_options(opshap::networks::Precision::float32, device));
  double found = 0;
  try {
    found = checked_error(*on_device, kernel, of, dimension);
  } catch (const Error& failure) {
    return state.SkipWithError(failure.what());
  }
  const auto engine = engine_of(*on_device, kernel, of);
  // An emulated kernel is there to try this program.
  const std::size_t count = kernel && device == "cpu" ? 64 : engine->batch();
  const Coalitions many = random_coalitions(of.players.players, count);
  std::vector<double> values(many.size());
  engine->values(many, 0, values);  // warm
  for (auto _ : state) {
    engine->values(many, 0, values);
    benchmark::DoNotOptimize(values.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(many.size()));
  state.counters["coalitions_per_call"] = static_cast<double>(many.size());
  state.counters["error"] = found;
}

constexpr std::int64_t batch = 64;
constexpr int coalitions_of_sample = 128;  // the paper's

/// Waits for the device: a number comes back.
void wait_for(const torch::Tensor& of) { benchmark::DoNotOptimize(of.sum().item<double>()); }

/// FastSHAP's labels of a batch: all that a step is given.
void labels(benchmark::State& state, const std::string& device) {
  const auto options = operators::tensor_options(opshap::networks::Precision::float32, device);
  const auto backbone = as_operator(network(config_of(1), options));
  const Domain domain = Domain::unit(shape_of(1, state.range(0)));
  data::SampleFields fields = FieldBatch::zeros(domain, batch, 1);
  Rng rng(1, "benchmark fields");
  for (double& value : fields.batch().values) value = rng.normal();
  training::ResolutionGroup group{.resolution = static_cast<int>(state.range(0))};
  std::vector<Rng> streams;
  for (std::int64_t sample = 0; sample < batch; ++sample) {
    group.samples.push_back(sample);
    streams.push_back(Rng(1, "benchmark labels").stream(0, static_cast<std::uint64_t>(sample)));
  }
  const training::SampleGames games(*backbone, fields, group, {}, {}, options);
  opshap::networks::ExplainerRecipe recipe;
  recipe.coalitions = coalitions_of_sample;
  const auto target = training::targets::make(recipe);
  const auto draw = [&] { wait_for(target->draw(games, group.samples, streams, training::Target::Use::training)[1]); };
  draw();
  for (auto _ : state) draw();
  state.SetItemsProcessed(state.iterations() * batch);
}

/// A network, and its steps by FastSHAP's loss on labels that are there.
class Trained {
 public:
  Trained(std::int64_t points, const torch::TensorOptions& options)
      : domain_(Domain::unit(shape_of(1, points))),
        network_(operators::make_network(config_of(1), options)),
        recorded_(training::recorder(options.device())) {
    operators::initialise(*network_, 1);
    training::AdamW::Tensors parameters;
    for (operators::Parameter& parameter : network_->parameters())
      parameters[parameter.name] = parameter.value.set_requires_grad(true);
    optimiser_.emplace(parameters, 1e-4, !options.device().is_cpu());
    volumes_ = training::player_volumes(domain_, Partition::one_player_per_point(domain_), options);
    // The same numbers on every device.
    const auto drawn = [&](const std::vector<std::int64_t>& shape, bool members) {
      torch::Tensor numbers = torch::empty(shape, torch::kFloat64);
      Rng rng(2, "benchmark labels", 0, static_cast<std::uint64_t>(shape.size() + shape.back()));
      std::generate_n(numbers.data_ptr<double>(), numbers.numel(),
                      [&] { return members ? static_cast<double>(rng.below(2)) : rng.normal(); });
      return numbers.to(options);
    };
    inputs_ = drawn({points, batch, 1}, false);
    gains_ = drawn({batch}, false);
    coalitions_ = drawn({batch, coalitions_of_sample, points}, true);
    coalition_gains_ = drawn({batch, coalitions_of_sample}, false);
  }

  torch::Tensor step() {
    const torch::Tensor loss = training::batch_loss(
        *network_,
        {.size = batch,
         .domain = domain_,
         .tensors = {inputs_, gains_, coalitions_, coalition_gains_},
         .part =
             [&](const std::vector<torch::Tensor>& of, std::int64_t first, std::int64_t count) {
               const torch::Tensor densities = network_->forward(of[0].narrow(1, first, count), domain_);
               return training::fastshap_errors(densities, volumes_, of[1].narrow(0, first, count),
                                                of[2].narrow(0, first, count), of[3].narrow(0, first, count), {}) /
                      static_cast<double>(of[3].numel());
             }},
        &recorded_);
    optimiser_->step(1e-3);
    return loss;
  }

 private:
  Domain domain_;
  std::unique_ptr<operators::Network> network_;
  std::optional<training::AdamW> optimiser_;
  training::PlayerVolumes volumes_;
  torch::Tensor inputs_, gains_, coalitions_, coalition_gains_;
  training::RecordedLoss recorded_;
};

void training_step(benchmark::State& state, const std::string& device) {
  Trained trained(state.range(0), operators::tensor_options(opshap::networks::Precision::float32, device));
  wait_for(trained.step());
  constexpr int steps = 4;  // between which nobody waits
  for (auto _ : state) {
    torch::Tensor loss;
    for (int i = 0; i < steps; ++i) loss = trained.step();
    wait_for(loss);
  }
  state.SetItemsProcessed(state.iterations() * steps * batch);
}

/// The largest difference of ten losses on the device from those of the CPU in float64, relative to them.
double difference_of_steps(std::int64_t points, const std::string& device, opshap::networks::Precision precision) {
  Trained exact(points, torch::kFloat64), other(points, operators::tensor_options(precision, device));
  double worst = 0;
  for (int step = 0; step < 10; ++step) {
    const auto expected = exact.step().item<double>(), found = other.step().item<double>();
    worst = std::max(worst, std::abs(expected - found) / std::abs(expected));
  }
  return worst;
}

std::vector<Kernel> kernels() {
  return {Kernel(), devices::Arithmetic::tf32x3, devices::Arithmetic::tf32, devices::Arithmetic::bf16};
}

/// A line of JSON for each thing that must hold on the device. Returns whether all do.
bool check(const std::string& device) {
  bool good = true;
  const auto say = [&](const std::string& what, double found, double most) {
    good = good && found < most;
    std::printf("{\"part\": \"correctness\", \"check\": \"%s\", \"error\": %.3g, \"most\": %.3g, \"holds\": %s}\n",
                what.c_str(), found, most, found < most ? "true" : "false");
    std::fflush(stdout);
  };
  for (const auto& [dimension, side] : {std::pair(1, 16), {1, 64}, {1, 1024}, {2, 4}, {2, 8}}) {
    if (device == "cpu" && side > 64) continue;  // the emulation is slow
    const auto on_device =
        network(config_of(dimension), operators::tensor_options(opshap::networks::Precision::float32, device));
    const Question of = question(shape_of(dimension, side));
    for (const Kernel& kernel : kernels()) {
      const Coalitions few = random_coalitions(of.players.players, 16);
      std::vector<double> values(few.size());
      engine_of(*on_device, kernel, of)->values(few, 0, values);
      say(message("FNO", dimension, "D, n = ", side, ", coalitions in ", name_of(kernel)),
          error(config_of(dimension), of, few, values), tolerance_of(kernel));
    }
  }
  say("ten steps of FastSHAP in float64", difference_of_steps(16, device, opshap::networks::Precision::float64), 1e-8);
  say("ten steps of FastSHAP in float32", difference_of_steps(16, device, opshap::networks::Precision::float32), 1e-4);
  return good;
}

void register_all(const std::string& device) {
  const auto finish = [](benchmark::internal::Benchmark* row, const std::vector<std::int64_t>& sizes) {
    row->ArgName("n")->Unit(benchmark::kMillisecond)->UseRealTime();
    for (const std::int64_t size : sizes) row->Arg(size);
  };
  for (const Kernel& kernel : kernels()) {
    const bool emulated = kernel && device == "cpu";
    const std::string name = kernel ? message("kernel_", name_of(kernel)) : "coalitions";
    using Sizes = std::vector<std::int64_t>;
    finish(benchmark::RegisterBenchmark(("fno1d_" + name).c_str(), coalitions, 1, device, kernel),
           emulated ? Sizes{16} : Sizes{16, 64, 256, 1024});
    finish(benchmark::RegisterBenchmark(("fno2d_" + name).c_str(), coalitions, 2, device, kernel),
           emulated ? Sizes{4} : Sizes{4, 8, 16, 32});
  }
  finish(benchmark::RegisterBenchmark("fno1d_labels", labels, device), {16, 64, 256});
  finish(benchmark::RegisterBenchmark("fno1d_training_step", training_step, device), {16, 64, 256, 1024});
}

}  // namespace
}  // namespace opshap

int main(int argc, char** argv) {
  opshap::restart_with_fast_blas(argv);
  benchmark::Initialize(&argc, argv);
  std::string device = "cpu";
  bool check = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--device" && i + 1 < argc) {
      device = argv[++i];
    } else if (word == "--check") {
      check = true;
    } else {
      std::fprintf(
          stderr,
          "bench_gpu: %s (neither --device NAME nor --check nor an option of Google Benchmark). Leave it out.\n",
          argv[i]);
      return 2;
    }
  }
  try {
    opshap::operators::tensor_options(opshap::networks::Precision::float32, device);
    if (check) return opshap::check(device) ? 0 : 1;
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
