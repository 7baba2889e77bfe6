// Training of a backbone: MSE against the solution at the target time.

#include "core/error.hpp"
#include "core/resolution.hpp"
#include "operators/network.hpp"
#include "training/batch_loss.hpp"
#include "training/identity.hpp"
#include "training/loop.hpp"
#include "training/resolution_batches.hpp"
#include "training/samples.hpp"
#include "training/training.hpp"

namespace opshap::training {

TrainingSummary train_backbone(const BackboneRecipe& recipe, const data::Dataset& data, std::uint64_t seed,
                               const std::filesystem::path& folder) {
  require(data.inputs.domain == data.targets.domain, "backbone: targets=", data.targets.domain.describe(),
          " (the inputs are on ", data.inputs.domain.describe(), "). Use a data set with both on one domain.");
  const std::string identity = training_identity(recipe, data, seed);
  TrainingSummary summary;
  if (is_finished(folder, identity, summary)) return summary;

  const std::vector<ResolutionGroup> train = resolution_groups(data, data::Split::train, recipe.resolutions);
  const std::vector<ResolutionGroup> validation = resolution_groups(data, data::Split::validation, recipe.resolutions);
  const torch::TensorOptions options = torch::kFloat32;
  const std::vector<torch::Tensor> train_inputs = at_resolutions(data.inputs, train, options),
                                   train_targets = at_resolutions(data.targets, train, options);
  const std::vector<torch::Tensor> validation_inputs = at_resolutions(data.inputs, validation, options);
  const std::vector<torch::Tensor> validation_targets = at_resolutions(data.targets, validation, options);
  const std::vector<Batch> validation_batches = ordered_batches(validation, recipe.batch);
  const auto network = operators::make_network(backbone_config(recipe, data), options);
  if (data.inputs.domain.is_grid()) network->set_native_domain(data.inputs.domain);
  operators::initialise(*network, seed);
  // A batch's loss is its mean squared error; a part of it, for chunks of fields, is given to `evaluate`.
  const auto loss_of = [&](const auto& evaluate, const std::vector<ResolutionGroup>& groups,
                           const std::vector<torch::Tensor>& inputs, const std::vector<torch::Tensor>& targets,
                           const Batch& batch) {
    const Domain domain = at_resolution(data.inputs.domain, groups[batch.group].points);
    const torch::Tensor batch_inputs = select(inputs, batch), batch_targets = select(targets, batch);
    return evaluate(*network, batch_inputs.size(1), domain, [&](std::int64_t first, std::int64_t count) {
      const torch::Tensor outputs = network->forward(batch_inputs.narrow(1, first, count), domain);
      return torch::mse_loss(outputs, batch_targets.narrow(1, first, count), torch::Reduction::Sum) /
             static_cast<double>(batch_targets.numel());
    });
  };

  TrainingLoop loop{.name = "backbone",
                    .identity = identity,
                    .epochs = recipe.epochs,
                    .warmup_epochs = 0,
                    .patience = recipe.patience,
                    .learning_rate = recipe.learning_rate,
                    .weight_decay = recipe.weight_decay,
                    .train = {},
                    .validate = {}};
  loop.train = [&](std::int64_t epoch, const std::function<void()>& step) {
    double sum = 0;
    std::size_t samples = 0;
    for (const Batch& batch : epoch_batches(train, recipe.batch, seed, epoch)) {
      const double loss = loss_of(batch_loss_and_gradient, train, train_inputs, train_targets, batch);
      step();
      sum += loss * static_cast<double>(batch.members.size());
      samples += batch.members.size();
    }
    return sum / static_cast<double>(samples);
  };
  loop.validate = [&] {
    double sum = 0;
    std::size_t samples = 0;
    for (const Batch& batch : validation_batches) {
      sum += loss_of(batch_loss, validation, validation_inputs, validation_targets, batch) *
             static_cast<double>(batch.members.size());
      samples += batch.members.size();
    }
    return sum / static_cast<double>(samples);
  };
  return run_training(loop, *network, folder);
}

}  // namespace opshap::training
