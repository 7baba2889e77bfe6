// Training of a backbone: MSE against the solution at the target time.

#include "core/error.hpp"
#include "core/scenario.hpp"
#include "operators/network.hpp"
#include "training/batch_loss.hpp"
#include "training/identity.hpp"
#include "training/loop.hpp"
#include "training/mean_loss.hpp"
#include "training/ranks.hpp"
#include "training/resolution_batches.hpp"
#include "training/samples.hpp"
#include "training/training.hpp"

namespace opshap::training {

networks::TrainingSummary train_backbone(const networks::BackboneRecipe& recipe, const data::Dataset& data,
                                         std::uint64_t seed, const std::filesystem::path& folder) {
  require(data.inputs.domain == data.targets.domain, "backbone: targets=", data.targets.domain.describe(),
          " (the inputs are on ", data.inputs.domain.describe(), "). Use a data set with both on one domain.");
  const std::string identity = training_identity(recipe, data, seed);
  networks::TrainingSummary summary;
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
  const Ranks& ranks = Ranks::all();
  // A batch's loss is its mean squared error. What some of its fields have of it is asked for; parts of that, for
  // chunks of these fields, are given to `evaluate`.
  const auto loss_of = [&](const auto& evaluate, const std::vector<ResolutionGroup>& groups,
                           const std::vector<torch::Tensor>& inputs, const std::vector<torch::Tensor>& targets,
                           const Batch& some, std::size_t of) {
    if (some.members.empty()) return 0.0;
    const Domain domain = at_resolution(data.inputs.domain, groups[some.group].resolution);
    const torch::Tensor batch_inputs = select(inputs, some), batch_targets = select(targets, some);
    const double numbers = static_cast<double>(batch_targets.numel() / batch_targets.size(1)) * static_cast<double>(of);
    return evaluate(*network, batch_inputs.size(1), domain, [&](std::int64_t first, std::int64_t count) {
      const torch::Tensor outputs = network->forward(batch_inputs.narrow(1, first, count), domain);
      return torch::mse_loss(outputs, batch_targets.narrow(1, first, count), torch::Reduction::Sum) / numbers;
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
    MeanLoss mean;
    for (const Batch& batch : epoch_batches(train, recipe.batch, seed, epoch)) {
      const std::size_t size = batch.members.size();
      mean.add(loss_of(batch_loss_and_gradient, train, train_inputs, train_targets, ranks.share(batch), size), size);
      step();
    }
    return mean.over(ranks);
  };
  loop.validate = [&] {
    MeanLoss mean;
    for (const Batch& batch : validation_batches) {
      const std::size_t size = batch.members.size();
      mean.add(loss_of(batch_loss, validation, validation_inputs, validation_targets, ranks.share(batch), size), size);
    }
    return mean.over(ranks);
  };
  return run_training(loop, *network, folder);
}

}  // namespace opshap::training
