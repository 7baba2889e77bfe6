// Training of an explainer by the target that its recipe names.

#include <algorithm>
#include <functional>
#include <future>

#include "core/error.hpp"
#include "core/rng.hpp"
#include "operators/network.hpp"
#include "training/batch_loss.hpp"
#include "training/identity.hpp"
#include "training/loop.hpp"
#include "training/resolution_batches.hpp"
#include "training/sample_games.hpp"
#include "training/samples.hpp"
#include "training/target.hpp"
#include "training/training.hpp"

namespace opshap::training {

namespace {

std::vector<SampleGames> games_of(const Operator& backbone, const FieldBatch& fields,
                                  const std::vector<ResolutionGroup>& groups, const ScenarioRule& rule) {
  std::vector<SampleGames> games;
  for (const ResolutionGroup& group : groups) games.emplace_back(backbone, fields, group, rule);
  return games;
}

/// A stream for each of a batch's members. It depends on the member's number in the data set, on the use and on the
/// epoch alone.
std::vector<Rng> member_streams(const ResolutionGroup& group, const Batch& batch, const Rng& rng, Target::Use use,
                                std::int64_t epoch) {
  std::vector<Rng> streams;
  for (const std::int64_t member : batch.members) {
    const auto sample = static_cast<std::uint64_t>(group.samples[static_cast<std::size_t>(member)]);
    streams.push_back(
        rng.stream(use == Target::Use::training ? 0 : 1, static_cast<std::uint64_t>(epoch) << 32 | sample));
  }
  return streams;
}

/// The rows of some fields of a batch.
Target::Labels rows(const Target::Labels& labels, std::int64_t first, std::int64_t count) {
  Target::Labels some;
  for (const torch::Tensor& label : labels) some.push_back(label.narrow(0, first, count));
  return some;
}

void require_fits(const Operator& backbone, const data::Dataset& data) {
  require(backbone.dimension() == data.inputs.domain.dimension() && backbone.input_channels() == data.inputs.channels,
          "explainer: operator=", backbone.describe(), " (takes ", backbone.input_channels(), " channels on ",
          backbone.dimension(), " axes; the data set has ", data.inputs.channels, " on ",
          data.inputs.domain.dimension(), "). Give the operator that was trained on this data.");
}

}  // namespace

TrainingSummary train_explainer(const ExplainerRecipe& asked, const Operator& backbone, const data::Dataset& data,
                                std::uint64_t seed, const std::filesystem::path& folder) {
  require_fits(backbone, data);
  ExplainerRecipe recipe = asked;
  recipe.scenario = data::rule_for(asked.scenario, data);
  const auto target = targets::make(recipe);
  const std::string identity = training_identity(recipe, *target, backbone, data, seed);
  TrainingSummary summary;
  if (is_finished(folder, identity, summary)) return summary;

  const Rng rng(seed, "explainer coalitions");
  const std::vector<ResolutionGroup> train = resolution_groups(data, data::Split::train, recipe.resolutions);
  const std::vector<ResolutionGroup> validation = resolution_groups(data, data::Split::validation, recipe.resolutions);
  const torch::TensorOptions options = torch::kFloat32;
  const std::vector<torch::Tensor> train_inputs = at_resolutions(data.inputs, train, options);
  const std::vector<torch::Tensor> validation_inputs = at_resolutions(data.inputs, validation, options);
  const std::vector<SampleGames> train_games = games_of(backbone, data.inputs, train, recipe.scenario),
                                 validation_games = games_of(backbone, data.inputs, validation, recipe.scenario);
  const auto network = operators::make_network(explainer_config(recipe, data), options);
  network->set_native_domain(data.inputs.domain);
  operators::initialise(*network, seed + 1);  // not the backbone's own initial weights

  const auto draw = [&](const std::vector<SampleGames>& games, const std::vector<ResolutionGroup>& groups,
                        const Batch& batch, Target::Use use, std::int64_t epoch) {
    return target->draw(games[batch.group], batch.members, member_streams(groups[batch.group], batch, rng, use, epoch),
                        use);
  };
  // The validation labels never change.
  const std::vector<Batch> validation_batches = ordered_batches(validation, recipe.batch);
  std::vector<Target::Labels> fixed_labels;
  for (const Batch& batch : validation_batches)
    fixed_labels.push_back(draw(validation_games, validation, batch, Target::Use::validation, 0));

  const auto train_samples = static_cast<std::int64_t>(data.indices(data::Split::train).size());
  const auto validation_samples = static_cast<std::int64_t>(data.indices(data::Split::validation).size());
  TrainingLoop loop{.name = "explainer",
                    .identity = identity,
                    .epochs = recipe.epochs,
                    .warmup_epochs = recipe.warmup_epochs,
                    .patience = recipe.patience,
                    .learning_rate = recipe.learning_rate,
                    .weight_decay = recipe.weight_decay,
                    .train = {},
                    .validate = {},
                    .evaluations_per_epoch = train_samples * target->evaluations(Target::Use::training),
                    .evaluations_once = validation_samples * target->evaluations(Target::Use::validation)};
  for (const std::vector<SampleGames>* all : {&train_games, &validation_games})
    for (const SampleGames& games : *all) loop.evaluations_once += games.evaluations();
  // Parts of a batch's loss, for chunks of fields, are given to `evaluate`.
  const auto loss_of = [&](const auto& evaluate, const std::vector<torch::Tensor>& inputs, const SampleGames& games,
                           const Batch& batch, const Target::Labels& labels) {
    const torch::Tensor fields = select(inputs, batch), gains = games.gains(batch.members);
    return evaluate(*network, fields.size(1), games.domain(), [&](std::int64_t first, std::int64_t count) {
      const torch::Tensor densities = network->forward(fields.narrow(1, first, count), games.domain());
      return target->loss(densities, games.volumes(), gains.narrow(0, first, count), rows(labels, first, count),
                          fields.size(1));
    });
  };
  // Without an engine coalitions are LibTorch's, whose threads the explainer has already.
  const auto ahead =
      std::ranges::any_of(train_games, &SampleGames::has_engine) ? std::launch::async : std::launch::deferred;
  loop.train = [&](std::int64_t epoch, const std::function<void()>& step) {
    double sum = 0;
    std::size_t samples = 0;
    const std::vector<Batch> batches = epoch_batches(train, recipe.batch, seed, epoch);
    const auto play = [&](const Batch& batch) { return draw(train_games, train, batch, Target::Use::training, epoch); };
    // The next batch's labels do not wait for the explainer: what a step leaves of the processor's time goes to them.
    std::future<Target::Labels> next = std::async(ahead, play, std::cref(batches.front()));
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const Batch& batch = batches[i];
      const Target::Labels labels = next.get();
      if (i + 1 < batches.size()) next = std::async(ahead, play, std::cref(batches[i + 1]));
      const double loss = loss_of(batch_loss_and_gradient, train_inputs, train_games[batch.group], batch, labels);
      step();
      sum += loss * static_cast<double>(batch.members.size());
      samples += batch.members.size();
    }
    return sum / static_cast<double>(samples);
  };
  loop.validate = [&] {
    double sum = 0;
    std::size_t samples = 0;
    for (std::size_t i = 0; i < validation_batches.size(); ++i) {
      const Batch& batch = validation_batches[i];
      const double loss = loss_of(batch_loss, validation_inputs, validation_games[batch.group], batch, fixed_labels[i]);
      sum += loss * static_cast<double>(batch.members.size());
      samples += batch.members.size();
    }
    return sum / static_cast<double>(samples);
  };
  return run_training(loop, *network, folder);
}

}  // namespace opshap::training
