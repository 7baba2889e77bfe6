#include "training/loop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <span>
#include <sstream>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/strict_json.hpp"
#include "core/threads.hpp"
#include "training/adamw.hpp"
#include "training/checkpoint.hpp"
#include "training/ranks.hpp"
#include "training/training.hpp"

namespace opshap::training {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

const char* const summary_file = "summary.json";
const char* const metrics_file = "metrics.jsonl";

/// Whether two identities are of the same training. Another processor rounds the backbone's answer in its own way: as
/// many roundings of single precision are allowed as its sums are long. Other weights show more.
bool same_training(const std::string& wanted, const std::string& found) {
  constexpr double rounding = 100 * 0x1p-23;
  const ordered_json::json_pointer probe("/backbone/probe");
  const ordered_json one = ordered_json::parse(wanted);
  ordered_json other = strict_json<ordered_json>(found, "training: identity");
  if (one.contains(probe) && other.contains(probe) && other[probe].is_number()) {
    const double here = one[probe].get<double>(), there = other[probe].get<double>();
    if (std::abs(here - there) <= rounding * std::abs(here)) other[probe] = one[probe];
  }
  return one == other;
}

void require_same(const fs::path& folder, const std::string& identity, const std::string& found) {
  require(same_training(identity, found), "training: --out=", folder.string(),
          " (holds a training of another recipe, data set or seed). Choose another folder, or remove this one.");
}

/// The parameters by name, sharing their storage.
AdamW::Tensors weights(const operators::Network& network) {
  AdamW::Tensors tensors;
  for (const operators::Parameter& parameter : network.parameters()) tensors[parameter.name] = parameter.value;
  return tensors;
}

/// Copies of the parameters' values: the best weights so far.
AdamW::Tensors copies(const operators::Network& network) {
  AdamW::Tensors tensors;
  for (const auto& [name, tensor] : weights(network)) tensors[name] = tensor.detach().clone();
  return tensors;
}

void assign(const operators::Network& network, const AdamW::Tensors& values) {
  const torch::NoGradGuard no_grad;
  for (auto [name, tensor] : weights(network)) tensor.copy_(values.at(name));
}

/// Everything that a training carries from one epoch to the next.
struct State {
  AdamW::Tensors best;
  AdamW::Tensors average;    ///< empty without averaging
  double gradient_norm = 0;  ///< the running mean; 0 without clipping
  networks::TrainingSummary summary{.epochs = 0,
                                    .best_epoch = 0,
                                    .best_validation = std::numeric_limits<double>::infinity(),
                                    .operator_evaluations = 0,
                                    .seconds = 0};
};

void save(const fs::path& folder, const TrainingLoop& loop, const operators::Network& network, const AdamW& optimiser,
          const State& state) {
  Checkpoint checkpoint;
  for (const auto& [name, tensor] : weights(network)) checkpoint.tensors["model." + name] = tensor;
  for (const auto& [name, tensor] : state.best) checkpoint.tensors["best." + name] = tensor;
  for (const auto& [name, tensor] : state.average) checkpoint.tensors["average." + name] = tensor;
  for (const auto& [name, tensor] : optimiser.moments()) checkpoint.tensors[name] = tensor;
  const networks::TrainingSummary& summary = state.summary;
  checkpoint.counters = ordered_json{
      {"identity", loop.identity},
      {"steps", optimiser.steps()},
      {"epochs", summary.epochs},
      {"best_epoch", summary.best_epoch},
      {"best_validation", summary.best_validation},
      {"operator_evaluations", summary.operator_evaluations},
      {"gradient_norm", state.gradient_norm},
      {"seconds",
       summary.seconds}}.dump();
  write_checkpoint(folder / "checkpoint.safetensors", checkpoint);
}

/// False when there is no checkpoint.
bool restore(const fs::path& folder, const TrainingLoop& loop, const operators::Network& network, AdamW& optimiser,
             State& state) {
  const fs::path path = folder / "checkpoint.safetensors";
  if (!is_there(path)) return false;
  const Checkpoint checkpoint = read_checkpoint(path);
  const auto counters = strict_json<ordered_json>(checkpoint.counters, message("training: checkpoint=", path.string()));
  require<DataError>(counters.is_object() && counters.contains("identity") && counters["identity"].is_string(),
                     "training: checkpoint=", path.string(), " (has no counters). Remove the folder and train again.");
  require_same(folder, loop.identity, counters["identity"].get<std::string>());
  const auto part = [&](const std::string& prefix) {
    AdamW::Tensors tensors;
    for (const auto& [name, parameter] : weights(network)) {
      const auto found = checkpoint.tensors.find(prefix + name);
      require<DataError>(found != checkpoint.tensors.end() && found->second.sizes() == parameter.sizes(),
                         "training: checkpoint=", path.string(), " (tensor ", prefix + name,
                         " is missing or of another shape). Remove the folder and train again.");
      tensors[name] = found->second;
    }
    return tensors;
  };
  assign(network, part("model."));
  state.best = part("best.");
  if (loop.averaging > 0) state.average = part("average.");
  const AdamW::Tensors first = part("first."), second = part("second.");
  {
    const torch::NoGradGuard no_grad;
    for (auto [name, tensor] : optimiser.moments())
      tensor.copy_(name.starts_with("first.") ? first.at(name.substr(6)) : second.at(name.substr(7)));
  }
  optimiser.set_steps(counters["steps"]);
  state.gradient_norm = counters.value("gradient_norm", 0.0);
  state.summary = {.epochs = counters["epochs"],
                   .best_epoch = counters["best_epoch"],
                   .best_validation = counters["best_validation"],
                   .operator_evaluations = counters["operator_evaluations"],
                   .seconds = counters["seconds"]};
  return true;
}

/// Adds up the gradients of all ranks, in one message. `numbers` is the room for it.
void add_gradients(const operators::Network& network, const Ranks& ranks, std::vector<float>& numbers) {
  if (ranks.alone()) return;
  const torch::NoGradGuard no_grad;
  numbers.clear();
  AdamW::Tensors all = weights(network);
  for (auto& [name, tensor] : all) {
    torch::Tensor& gradient = tensor.mutable_grad();
    if (!gradient.defined()) gradient = torch::zeros_like(tensor);  // of a rank that had none of the batch
    const torch::Tensor flat = gradient.contiguous();
    numbers.insert(numbers.end(), flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  }
  ranks.add(std::span<float>(numbers));
  float* next = numbers.data();
  for (const auto& [name, tensor] : all) {
    tensor.grad().copy_(torch::from_blob(next, tensor.sizes(), torch::kFloat32));
    next += tensor.numel();
  }
}

/// Throws unless all ranks have the same weights: they take the same steps, so that any difference is the machines'.
void require_same_weights(const operators::Network& network, const Ranks& ranks) {
  if (ranks.alone()) return;
  std::uint32_t checksum = 0;
  for (const auto& [name, tensor] : weights(network)) {
    const torch::Tensor flat = tensor.detach().contiguous();
    checksum ^= crc32c(std::as_bytes(std::span(flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel()))));
  }
  std::vector<double> of_the_first = {ranks.first() ? static_cast<double>(checksum) : 0.0};
  ranks.add(std::span<double>(of_the_first));
  require<NumericalError>(of_the_first.front() == checksum, "training: rank=", ranks.rank(),
                          " (its weights are no longer those of the first). Start the ranks on machines of one kind.");
}

/// Moves the mean of the weights on by a step. Early on it is the plain mean of all steps.
void average(AdamW::Tensors& mean, const operators::Network& network, double keep, std::int64_t steps) {
  const torch::NoGradGuard no_grad;
  const double fresh = std::max(1 - keep, 1 / static_cast<double>(steps + 1));
  for (const auto& [name, tensor] : weights(network)) mean.at(name).lerp_(tensor, fresh);
}

/// Cuts the gradients to `clipping` times the running mean of their length, and moves that mean on. A few samples with
/// small values would else throw the training back by epochs.
void clip(const operators::Network& network, double clipping, double& mean) {
  const torch::NoGradGuard no_grad;
  double squares = 0;
  for (const auto& [name, tensor] : weights(network)) squares += std::pow(tensor.grad().norm().item<double>(), 2);
  const double norm = std::sqrt(squares), most = mean > 0 ? clipping * mean : norm;
  if (norm > most)
    for (const auto& [name, tensor] : weights(network))
      if (tensor.grad().defined()) tensor.grad().mul_(most / norm);
  constexpr double kept = 0.98;  // the mean of about fifty steps
  mean = mean > 0 ? kept * mean + (1 - kept) * std::min(norm, most) : norm;
}

/// Lines of epochs that the checkpoint does not know, written just before a kill, are dropped.
void keep_metrics(const fs::path& path, std::int64_t epochs) {
  if (!is_there(path)) return;
  std::istringstream lines(read_file(path));
  std::string kept, line;
  for (std::int64_t epoch = 0; epoch < epochs && std::getline(lines, line); ++epoch) kept += line + '\n';
  write_file(path, kept);
}

}  // namespace

double scheduled_rate(const TrainingLoop& loop, std::int64_t epoch) {
  if (epoch < loop.warmup_epochs) return loop.learning_rate * static_cast<double>(epoch + 1) / loop.warmup_epochs;
  const double progress =
      static_cast<double>(epoch - loop.warmup_epochs) / std::max(1, loop.epochs - loop.warmup_epochs);
  return loop.learning_rate * (1 + std::cos(std::numbers::pi * progress)) / 2;
}

bool is_finished(const fs::path& folder, const std::string& identity, networks::TrainingSummary& summary) {
  const fs::path path = folder / summary_file;
  if (!is_there(path)) return false;
  const auto json = strict_json<ordered_json>(read_file(path), message("training: summary=", path.string()));
  const auto has_number = [&json](const char* key) { return json.contains(key) && json[key].is_number(); };
  const bool complete = json.is_object() && json.contains("identity") && json["identity"].is_string() &&
                        has_number("epochs") && has_number("best_epoch") && has_number("best_validation") &&
                        has_number("operator_evaluations") && has_number("seconds") &&
                        is_there(folder / "model.safetensors");
  require<DataError>(complete, "training: summary=", path.string(),
                     " (is not that of a finished training). Remove the folder and train again.");
  require_same(folder, identity, json["identity"].get<std::string>());
  summary = {.epochs = json["epochs"],
             .best_epoch = json["best_epoch"],
             .best_validation = json["best_validation"],
             .operator_evaluations = json["operator_evaluations"],
             .seconds = json["seconds"]};
  return true;
}

networks::TrainingSummary run_training(const TrainingLoop& loop, operators::Network& network, const fs::path& folder) {
  const Ranks& ranks = Ranks::all();
  std::optional<FolderLock> lock;  // one process trains in a folder, and its first rank holds it
  if (ranks.first()) {
    make_folder(folder);
    lock.emplace(folder, "training");
  }
  for (operators::Parameter& parameter : network.parameters()) parameter.value.set_requires_grad(true);
  AdamW optimiser(weights(network), loop.weight_decay);
  State state;
  networks::TrainingSummary& summary = state.summary;
  if (!restore(folder, loop, network, optimiser, state)) {
    state.best = copies(network);
    if (loop.averaging > 0) state.average = copies(network);
    summary.operator_evaluations = loop.evaluations_once;
    summary.seconds = loop.seconds_once;
  }
  ranks.wait();  // until all have read the checkpoint
  std::optional<LineLog> metrics;
  if (ranks.first()) {
    keep_metrics(folder / metrics_file, summary.epochs);
    metrics.emplace(folder / metrics_file);
  }
  std::vector<float> message_room;

  Progress progress(loop.name, loop.epochs, "epochs");
  progress.skip(summary.epochs);
  const auto patient = [&](std::int64_t epoch) {
    return loop.patience == 0 || epoch - summary.best_epoch < loop.patience;
  };
  for (std::int64_t epoch = summary.epochs; epoch < loop.epochs && patient(epoch); ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    const double rate = scheduled_rate(loop, epoch);
    const double loss = loop.train(epoch, [&] {
      add_gradients(network, ranks, message_room);
      if (loop.clipping > 0) clip(network, loop.clipping, state.gradient_norm);
      optimiser.step(rate);
      if (loop.averaging > 0) average(state.average, network, loop.averaging, optimiser.steps());
      throw_if_stopped(loop.name);
    });
    require_same_weights(network, ranks);
    const AdamW::Tensors last = loop.averaging > 0 ? copies(network) : AdamW::Tensors{};
    if (loop.averaging > 0) assign(network, state.average);
    const double validation = loop.validate();
    require<NumericalError>(std::isfinite(loss) && std::isfinite(validation), loop.name, ": loss=", loss,
                            ", validation=", validation, " (not finite in epoch ", epoch,
                            "; the training has diverged). Lower the learning rate.");
    if (validation < summary.best_validation || loop.patience == 0) {
      summary.best_validation = validation;
      summary.best_epoch = epoch + 1;
      state.best = copies(network);
    }
    if (ranks.first() && std::ranges::count(loop.snapshots, epoch + 1) > 0)
      operators::save_network(network, folder / networks::epoch_file(static_cast<int>(epoch + 1)));
    if (loop.averaging > 0) assign(network, last);
    summary.epochs = epoch + 1;
    summary.operator_evaluations += loop.evaluations_per_epoch;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    summary.seconds += seconds;
    progress.advance(1, message("validation ", validation));
    if (!ranks.first()) continue;
    metrics->append(ordered_json{{"schema", "opshap.epoch/1"},
                                 {"epoch", epoch + 1},
                                 {"loss", loss},
                                 {"validation", validation},
                                 {"learning_rate", rate},
                                 {"operator_evaluations", summary.operator_evaluations},
                                 {"seconds", seconds},
                                 {"elapsed", summary.seconds}}
                        .dump());
    save(folder, loop, network, optimiser, state);
  }

  assign(network, state.best);
  if (!ranks.first()) {
    ranks.wait();  // until the files are there
    return summary;
  }
  operators::save_network(network, folder / "model.safetensors");
  write_file(folder / summary_file, ordered_json{{"schema", "opshap.training_summary/1"},
                                                 {"identity", loop.identity},
                                                 {"epochs", summary.epochs},
                                                 {"best_epoch", summary.best_epoch},
                                                 {"best_validation", summary.best_validation},
                                                 {"operator_evaluations", summary.operator_evaluations},
                                                 {"seconds", summary.seconds}}
                                            .dump(2) +
                                        '\n');
  fs::remove(folder / "checkpoint.safetensors");
  ranks.wait();
  return summary;
}

}  // namespace opshap::training
