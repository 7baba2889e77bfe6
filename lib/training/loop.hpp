#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/file.hpp"
#include "data/safetensors.hpp"
#include "networks/recipe.hpp"
#include "operators/network.hpp"
#include "operators/torch.hpp"
#include "training/recorded_loss.hpp"

namespace opshap::training {

/// AdamW with decoupled weight decay (Loshchilov & Hutter 2019), β = (0.9, 0.999), ε = 1e-8: the update of
/// torch.optim.AdamW.
///
/// Complex weights are real tensors with a last dimension of 2 here, which is how the reference treats them too: each
/// part has its own second moment.
class AdamW {
 public:
  using Tensors = std::map<std::string, torch::Tensor>;

  /// The tensors share their storage with `parameters`. With `together` all of them are updated by each operation,
  /// which a GPU wants; without it one after the other, in one pass.
  AdamW(const Tensors& parameters, double weight_decay, bool together = false);

  /// One update from the gradients in the parameters, which are then cleared.
  void step(double learning_rate);

  /// Moments by name ("first.<parameter>", "second.<parameter>"), for checkpoints; they share their storage with the
  /// optimiser.
  Tensors moments() const;
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 private:
  void step_together(double decay, double rate, double second_correction);

  Tensors parameters_, first_, second_;
  double weight_decay_;
  bool together_;
  std::int64_t steps_ = 0;
};

/// The part of a batch's loss that comes from its fields first..first+count-1: a scalar tensor. The loss is the sum of
/// its parts.
using LossPart = std::function<torch::Tensor(std::int64_t first, std::int64_t count)>;

/// The loss of a batch of fields on this domain, computed in chunks that fit into caches, on all threads. A GPU
/// computes the batch as a whole. A scalar of float64 on the network's device, for which nobody has waited there.
torch::Tensor batch_loss(const operators::Network& network, std::int64_t batch, const Domain& domain,
                         const LossPart& part);

/// The same, and its gradient is added to that of the parameters. Chunks and the order of their sum depend on batch and
/// domain alone, so the bits do not depend on the number of threads.
torch::Tensor batch_loss_and_gradient(operators::Network& network, std::int64_t batch, const Domain& domain,
                                      const LossPart& part);

/// A batch of one group of samples, by the tensors that its loss depends on.
struct BatchOfTensors {
  std::size_t group = 0;
  std::size_t whole = 0;  ///< fields of the batch
  std::int64_t size = 0;  ///< those that this rank has
  const Domain& domain;
  std::vector<torch::Tensor> tensors = {};
  /// As LossPart, of these tensors or of others like them.
  std::function<torch::Tensor(const std::vector<torch::Tensor>& tensors, std::int64_t first, std::int64_t count)> part;
};

/// The loss of such a batch, and its gradient where `with_gradient` is given: a GPU may record what it does for one
/// batch and repeat it for others.
torch::Tensor batch_loss(operators::Network& network, const BatchOfTensors& batch, RecordedLoss* with_gradient);

/// Cuts the gradients to `clipping` times the running mean of their length, and moves that mean on, a scalar of float64
/// that is 0 at first. A few samples with small values would else throw the training back by epochs. On a GPU nothing
/// waits for either.
void clip_gradients(const operators::Network& network, double clipping, torch::Tensor& mean_length);

/// What every training has in common: epochs, schedule, early stopping, checkpoints, metrics. What differs is in the
/// two functions.
struct TrainingLoop {
  std::string name;  ///< "backbone", "explainer": for progress and errors
  int epochs = 1;
  int warmup_epochs = 0;
  int patience = 1;  ///< 0: no early stopping, and the last weights are the best ones, since the rate ends at 0
  double learning_rate = 1e-3;
  double weight_decay = 0;
  double clipping = 0;  ///< gradients longer than so many times the running mean of their length are cut to it; 0: none
  double averaging = 0;  ///< what the running mean of the weights keeps of itself at a step; it is validated and kept

  /// One optimiser step per call of `step(learning rate)`; returns the mean training loss of the epoch.
  std::function<double(std::int64_t epoch, const std::function<void()>& step)> train;
  /// The validation loss.
  std::function<double()> validate;
  /// Operator evaluations that an epoch costs, and what validation and caches cost once.
  std::int64_t evaluations_per_epoch = 0, evaluations_once = 0;
  double seconds_once = 0;  ///< what was done before the first epoch
  /// Epochs after which the weights as they are then, or their mean, are kept as epoch_file().
  std::vector<int> snapshots = {};
};

/// Learning rate of an epoch: linear from 0 over the warm-up, then cosine to 0 over the rest.
double scheduled_rate(const TrainingLoop& loop, std::int64_t epoch);

/// The summary when `folder` holds a finished training of this identity; throws InvalidArgument when it holds one of
/// another identity.
bool is_finished(const std::filesystem::path& folder, const std::string& identity, networks::TrainingSummary& summary);

/// Throws InvalidArgument when `found`, the identity of what `folder` holds, is not `identity`. Another processor
/// rounds the backbone's answer in its own way; that is no difference.
void require_same(const std::filesystem::path& folder, const std::string& identity, const std::string& found);

/// A folder in which one process trains. It is taken before anything of the training is written there.
class TrainingFolder {
 public:
  /// Makes the folder and holds it; of several ranks the first one does. `identity` is recipe, data and seed as text:
  /// two trainings with the same text are the same. Throws InvalidArgument when another process trains there and when
  /// the folder holds an unfinished training of another identity, and DataError for a checkpoint that is truncated,
  /// corrupt or none.
  TrainingFolder(std::filesystem::path path, std::string identity);

  const std::filesystem::path& path() const { return path_; }
  const std::string& identity() const { return identity_; }
  /// What a training that was stopped has left; nothing in a new folder.
  const std::optional<data::Safetensors>& checkpoint() const { return checkpoint_; }

 private:
  std::filesystem::path path_;
  std::string identity_;
  std::optional<FolderLock> lock_;
  std::optional<data::Safetensors> checkpoint_;
};

/// Runs the loop on `network`, which ends with its last weights; the best ones are in model.safetensors of the folder.
networks::TrainingSummary run_training(const TrainingLoop& loop, operators::Network& network,
                                       const TrainingFolder& folder);

}  // namespace opshap::training
