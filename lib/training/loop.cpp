#include "training/loop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/process.hpp"
#include "core/strict_json.hpp"
#include "core/threads.hpp"
#include "operators/batches.hpp"
#include "operators/weights.hpp"
#include "training/ranks.hpp"
#include "training/training.hpp"

namespace opshap::training {

namespace {

constexpr double beta_first = 0.9, beta_second = 0.999, epsilon = 1e-8;

/// What the update of a step has in common for all parameters.
struct Update {
  double decay = 1, rate = 0, second_correction = 1;
};

/// Seven passes over memory in one, and no temporary: a third of a step's time on small grids otherwise. Clears the
/// gradient.
void update_in_one_pass(const Update& update, std::int64_t size, float* parameter, float* gradient, float* first,
                        float* second) {
  const auto decay = static_cast<float>(update.decay), rate = static_cast<float>(update.rate);
  const auto root = static_cast<float>(std::sqrt(update.second_correction));
  constexpr auto b1 = static_cast<float>(beta_first), c1 = static_cast<float>(1 - beta_first);
  constexpr auto b2 = static_cast<float>(beta_second), c2 = static_cast<float>(1 - beta_second);
  constexpr auto tiny = static_cast<float>(epsilon);
  for (std::int64_t i = 0; i < size; ++i) {
    first[i] = b1 * first[i] + c1 * gradient[i];
    second[i] = b2 * second[i] + c2 * gradient[i] * gradient[i];
    parameter[i] = decay * parameter[i] - rate * first[i] / (std::sqrt(second[i]) / root + tiny);
    gradient[i] = 0;
  }
}

/// At least four chunks, to have work for several threads; at most sixteen, since each has gradients of its own until
/// they are added up.
std::int64_t chunk_size(const operators::Network& network, std::int64_t batch, const Domain& domain) {
  const std::int64_t least = (batch + 15) / 16, most = (batch + 3) / 4;
  return std::clamp(operators::cached_batch(network, domain), least, most);
}

torch::Tensor scalar(double number) { return torch::full({}, number, torch::kFloat64); }

}  // namespace

AdamW::AdamW(const Tensors& parameters, double weight_decay, bool together)
    : parameters_(parameters), weight_decay_(weight_decay), together_(together) {
  for (const auto& [name, parameter] : parameters_) {
    first_[name] = torch::zeros_like(parameter).set_requires_grad(false);
    second_[name] = torch::zeros_like(parameter).set_requires_grad(false);
  }
}

void AdamW::step(double learning_rate) {
  const torch::NoGradGuard no_grad;
  ++steps_;
  const Update update{.decay = 1 - learning_rate * weight_decay_,
                      .rate = learning_rate / (1 - std::pow(beta_first, static_cast<double>(steps_))),
                      .second_correction = 1 - std::pow(beta_second, static_cast<double>(steps_))};
  if (together_) return step_together(update.decay, update.rate, update.second_correction);
  for (auto& [name, parameter] : parameters_) {
    if (!parameter.grad().defined()) continue;
    torch::Tensor gradient = parameter.grad();
    torch::Tensor& first = first_[name];
    torch::Tensor& second = second_[name];
    const bool fused = parameter.device().is_cpu() && parameter.scalar_type() == torch::kFloat32 &&
                       parameter.is_non_overlapping_and_dense() && gradient.strides() == parameter.strides() &&
                       first.strides() == parameter.strides() && second.strides() == parameter.strides();
    if (fused) {
      update_in_one_pass(update, parameter.numel(), parameter.data_ptr<float>(), gradient.data_ptr<float>(),
                         first.data_ptr<float>(), second.data_ptr<float>());
      continue;
    }
    parameter.mul_(update.decay);
    first.mul_(beta_first).add_(gradient, 1 - beta_first);
    second.mul_(beta_second).addcmul_(gradient, gradient, 1 - beta_second);
    const torch::Tensor scale = second.sqrt().div_(std::sqrt(update.second_correction)).add_(epsilon);
    parameter.addcdiv_(first, scale, -update.rate);
    gradient.zero_();
  }
}

void AdamW::step_together(double decay, double rate, double second_correction) {
  std::vector<torch::Tensor> parameters, gradients, first, second;
  for (auto& [name, parameter] : parameters_) {
    if (!parameter.grad().defined()) continue;
    parameters.push_back(parameter);
    gradients.push_back(parameter.grad());
    first.push_back(first_[name]);
    second.push_back(second_[name]);
  }
  if (parameters.empty()) return;
  at::_foreach_mul_(parameters, decay);
  at::_foreach_mul_(first, beta_first);
  at::_foreach_add_(first, gradients, 1 - beta_first);
  at::_foreach_mul_(second, beta_second);
  at::_foreach_addcmul_(second, gradients, gradients, 1 - beta_second);
  std::vector<torch::Tensor> scales = at::_foreach_sqrt(second);
  at::_foreach_div_(scales, std::sqrt(second_correction));
  at::_foreach_add_(scales, epsilon);
  at::_foreach_addcdiv_(parameters, first, scales, -rate);
  at::_foreach_zero_(gradients);
}

AdamW::Tensors AdamW::moments() const {
  Tensors all;
  for (const auto& [name, tensor] : first_) all["first." + name] = tensor;
  for (const auto& [name, tensor] : second_) all["second." + name] = tensor;
  return all;
}

torch::Tensor batch_loss(const operators::Network& network, std::int64_t batch, const Domain& domain,
                         const LossPart& part) {
  if (!network.options().device().is_cpu()) {
    const torch::NoGradGuard no_grad;
    return part(0, batch).to(torch::kFloat64);
  }
  const std::int64_t size = chunk_size(network, batch, domain);
  std::vector<double> losses(static_cast<std::size_t>((batch + size - 1) / size));
  operators::parallel_chunks(batch, size, [&](std::int64_t first, std::int64_t count) {
    const torch::NoGradGuard no_grad;
    losses[static_cast<std::size_t>(first / size)] = part(first, count).item<double>();
  });
  return scalar(std::accumulate(losses.begin(), losses.end(), 0.0));
}

namespace {

std::vector<torch::Tensor> values_of_parameters(const operators::Network& network) {
  std::vector<torch::Tensor> values;
  for (const operators::Parameter& parameter : network.parameters()) values.push_back(parameter.value);
  return values;
}

/// Adds what a device has found to the gradients of the parameters; the loss, for which nobody has waited.
torch::Tensor added_to_gradients(const std::vector<torch::Tensor>& parameters, const LossAndGradients& found) {
  const torch::NoGradGuard no_grad;
  for (std::size_t number = 0; number < parameters.size(); ++number) {
    torch::Tensor& sum = parameters[number].mutable_grad();
    sum = sum.defined() ? sum.add_(found.gradients[number]) : found.gradients[number].clone();
  }
  return found.loss.detach().to(torch::kFloat64, /*non_blocking=*/false, /*copy=*/true);
}

}  // namespace

torch::Tensor batch_loss_and_gradient(operators::Network& network, std::int64_t batch, const Domain& domain,
                                      const LossPart& part) {
  const std::vector<torch::Tensor> parameters = values_of_parameters(network);
  if (!network.options().device().is_cpu()) {
    const torch::Tensor loss = part(0, batch);
    return added_to_gradients(parameters, {loss, torch::autograd::grad({loss}, parameters)});
  }
  const std::int64_t size = chunk_size(network, batch, domain);
  const auto chunks = static_cast<std::size_t>((batch + size - 1) / size);
  std::vector<double> losses(chunks);
  std::vector<std::vector<torch::Tensor>> gradients(chunks);
  operators::parallel_chunks(batch, size, [&](std::int64_t first, std::int64_t count) {
    const auto chunk = static_cast<std::size_t>(first / size);
    const torch::Tensor loss = part(first, count);
    losses[chunk] = loss.item<double>();
    gradients[chunk] = torch::autograd::grad({loss}, parameters);
  });
  // Not by LibTorch's own threads: they would go on spinning while the next batch's chunks want the cores.
  operators::parallel_chunks(static_cast<std::int64_t>(parameters.size()), 1, [&](std::int64_t index, std::int64_t) {
    const torch::NoGradGuard no_grad;
    const auto number = static_cast<std::size_t>(index);
    torch::Tensor& sum = parameters[number].mutable_grad();
    if (!sum.defined()) sum = torch::zeros_like(parameters[number]);
    for (const auto& gradient : gradients) sum.add_(gradient[number]);
  });
  return scalar(std::accumulate(losses.begin(), losses.end(), 0.0));
}

torch::Tensor batch_loss(operators::Network& network, const BatchOfTensors& batch, RecordedLoss* with_gradient) {
  const LossPart part = [&](std::int64_t first, std::int64_t count) { return batch.part(batch.tensors, first, count); };
  if (with_gradient == nullptr) return batch_loss(network, batch.size, batch.domain, part);
  if (network.options().device().is_cpu()) return batch_loss_and_gradient(network, batch.size, batch.domain, part);
  const std::vector<torch::Tensor> parameters = values_of_parameters(network);
  const std::vector<std::int64_t> number = {static_cast<std::int64_t>(batch.group),
                                            static_cast<std::int64_t>(batch.whole)};
  return added_to_gradients(parameters,
                            (*with_gradient)(number, batch.tensors, [&](const RecordedLoss::Tensors& tensors) {
                              const torch::Tensor loss = batch.part(tensors, 0, batch.size);
                              return LossAndGradients{loss.detach(), torch::autograd::grad({loss}, parameters)};
                            }));
}

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

const char* const summary_file = "summary.json";
const char* const metrics_file = "metrics.jsonl";
const char* const checkpoint_file = "checkpoint.safetensors";

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
  AdamW::Tensors average;       ///< empty without averaging
  torch::Tensor mean_gradient;  ///< the running mean of the gradients' lengths; 0 without clipping
  networks::TrainingSummary summary{.epochs = 0,
                                    .best_epoch = 0,
                                    .best_validation = std::numeric_limits<double>::infinity(),
                                    .operator_evaluations = 0,
                                    .seconds = 0};
};

/// The state of an unfinished training: float32 tensors by name, and counters as JSON text. One file, so that it is all
/// there or not at all.
void save(const TrainingFolder& folder, const operators::Network& network, const AdamW& optimiser, const State& state) {
  data::Safetensors checkpoint;
  const auto put = [&](const std::string& prefix, const AdamW::Tensors& tensors) {
    for (const auto& [name, tensor] : tensors) checkpoint.tensors[prefix + name] = operators::stored_tensor(tensor);
  };
  put("model.", weights(network));
  put("best.", state.best);
  put("average.", state.average);
  put("", optimiser.moments());
  const networks::TrainingSummary& summary = state.summary;
  checkpoint.metadata["counters"] = ordered_json{
      {"identity", folder.identity()},
      {"steps", optimiser.steps()},
      {"epochs", summary.epochs},
      {"best_epoch", summary.best_epoch},
      {"best_validation", summary.best_validation},
      {"operator_evaluations", summary.operator_evaluations},
      {"gradient_norm", state.mean_gradient.item<double>()},
      {"seconds", summary.seconds}}.dump();
  data::write_safetensors(folder.path() / checkpoint_file, checkpoint);
}

/// As a checkpoint and a finished training have it.
networks::TrainingSummary summary_of(const ordered_json& json) {
  return {.epochs = json["epochs"],
          .best_epoch = json["best_epoch"],
          .best_validation = json["best_validation"],
          .operator_evaluations = json["operator_evaluations"],
          .seconds = json["seconds"]};
}

/// The counters of a checkpoint.
ordered_json counters_of(const data::Safetensors& checkpoint, const fs::path& path) {
  const auto said = checkpoint.metadata.find("counters");
  require<DataError>(said != checkpoint.metadata.end(), "training: checkpoint=", path.string(),
                     " (has no counters). Remove the folder and train again.");
  ordered_json counters = strict_json<ordered_json>(said->second, message("training: checkpoint=", path.string()));
  require<DataError>(counters.is_object() && counters.contains("identity") && counters["identity"].is_string(),
                     "training: checkpoint=", path.string(), " (has no counters). Remove the folder and train again.");
  return counters;
}

/// False when there is no checkpoint. Throws DataError for one of another network.
bool restore(const TrainingLoop& loop, const TrainingFolder& folder, const operators::Network& network,
             AdamW& optimiser, State& state) {
  if (!folder.checkpoint()) return false;
  const data::Safetensors& checkpoint = *folder.checkpoint();
  const fs::path path = folder.path() / checkpoint_file;
  for (const auto& [name, stored] : checkpoint.tensors)
    require<DataError>(stored.dtype == "F32", "training: checkpoint=", path.string(), " (tensor ", name,
                       " is not F32). Remove the folder and train again.");
  const ordered_json counters = counters_of(checkpoint, path);
  const auto take = [&](const std::string& name, const torch::Tensor& like) {
    const auto found = checkpoint.tensors.find(name);
    require<DataError>(found != checkpoint.tensors.end() && like.sizes() == found->second.shape,
                       "training: checkpoint=", path.string(), " (tensor ", name,
                       " is missing or of another shape). Remove the folder and train again.");
    return operators::stored_values(found->second);
  };
  const auto part = [&](const std::string& prefix) {
    AdamW::Tensors tensors;
    for (const auto& [name, parameter] : weights(network))
      tensors[name] = take(prefix + name, parameter).to(parameter.device());
    return tensors;
  };
  assign(network, part("model."));
  state.best = part("best.");
  if (loop.averaging > 0) state.average = part("average.");
  for (auto [name, moment] : optimiser.moments()) moment.copy_(take(name, moment));
  optimiser.set_steps(counters["steps"]);
  state.mean_gradient.fill_(counters.value("gradient_norm", 0.0));
  state.summary = summary_of(counters);
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
    const torch::Tensor flat = gradient.to(torch::kCPU).contiguous();
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
    const torch::Tensor flat = tensor.detach().to(torch::kCPU).contiguous();
    checksum ^= crc32c(std::as_bytes(std::span(flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel()))));
  }
  std::vector<double> of_the_first = {ranks.first() ? static_cast<double>(checksum) : 0.0};
  ranks.add(std::span<double>(of_the_first));
  require<NumericalError>(of_the_first.front() == checksum, "training: rank=", ranks.rank,
                          " (its weights are no longer those of the first). Start the ranks on machines of one kind.");
}

/// Moves the mean of the weights on by a step. Early on it is the plain mean of all steps.
void average(AdamW::Tensors& mean, const operators::Network& network, double keep, std::int64_t steps) {
  const torch::NoGradGuard no_grad;
  const double fresh = std::max(1 - keep, 1 / static_cast<double>(steps + 1));
  for (const auto& [name, tensor] : weights(network)) mean.at(name).lerp_(tensor, fresh);
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

void clip_gradients(const operators::Network& network, double clipping, torch::Tensor& mean_length) {
  const torch::NoGradGuard no_grad;
  torch::Tensor squares = torch::zeros_like(mean_length);
  for (const auto& [name, tensor] : weights(network))
    if (tensor.grad().defined()) squares = squares + tensor.grad().norm().to(torch::kFloat64).square();
  const torch::Tensor length = squares.sqrt(), known = mean_length > 0,
                      most = torch::where(known, clipping * mean_length, length), longer = length > most;
  // On the CPU to know is free, and to multiply by 1 is not.
  if (!longer.is_cpu() || longer.item<bool>()) {
    const torch::Tensor shrink = torch::where(longer, most / length, torch::ones_like(length));
    for (const auto& [name, tensor] : weights(network))
      if (tensor.grad().defined()) tensor.grad().mul_(shrink);
  }
  constexpr double kept = 0.98;  // the mean of about fifty steps
  mean_length = torch::where(known, kept * mean_length + (1 - kept) * torch::minimum(length, most), length);
}

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
  summary = summary_of(json);
  return true;
}

void require_same(const fs::path& folder, const std::string& identity, const std::string& found) {
  require(same_training(identity, found), "training: --out=", folder.string(),
          " (holds a training of another recipe, data set or seed). Choose another folder, or remove this one.");
}

TrainingFolder::TrainingFolder(fs::path path, std::string identity)
    : path_(std::move(path)), identity_(std::move(identity)) {
  if (Ranks::all().first()) {
    make_folder(path_);
    lock_.emplace(path_, "training");
  }
  const fs::path file = path_ / checkpoint_file;
  if (!is_there(file)) return;
  checkpoint_ = data::read_safetensors(file);
  require_same(path_, identity_, counters_of(*checkpoint_, file)["identity"].get<std::string>());
}

networks::TrainingSummary run_training(const TrainingLoop& loop, operators::Network& network,
                                       const TrainingFolder& place) {
  const Ranks& ranks = Ranks::all();
  const fs::path& folder = place.path();
  for (operators::Parameter& parameter : network.parameters()) parameter.value.set_requires_grad(true);
  AdamW optimiser(weights(network), loop.weight_decay, !network.options().device().is_cpu());
  State state;
  state.mean_gradient = torch::zeros({}, network.options().dtype(torch::kFloat64));
  networks::TrainingSummary& summary = state.summary;
  if (!restore(loop, place, network, optimiser, state)) {
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
      if (loop.clipping > 0) clip_gradients(network, loop.clipping, state.mean_gradient);
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
    save(place, network, optimiser, state);
    throw_if_over_after_piece(loop.name);
  }

  assign(network, state.best);
  if (!ranks.first()) {
    ranks.wait();  // until the files are there
    return summary;
  }
  operators::save_network(network, folder / "model.safetensors");
  write_file(folder / summary_file, ordered_json{{"schema", "opshap.training_summary/1"},
                                                 {"identity", place.identity()},
                                                 {"epochs", summary.epochs},
                                                 {"best_epoch", summary.best_epoch},
                                                 {"best_validation", summary.best_validation},
                                                 {"operator_evaluations", summary.operator_evaluations},
                                                 {"seconds", summary.seconds}}
                                            .dump(2) +
                                        '\n');
  fs::remove(folder / checkpoint_file);
  ranks.wait();
  return summary;
}

}  // namespace opshap::training
