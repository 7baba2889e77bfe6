// Training of an explainer by the target that its recipe names.

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <span>

#include "core/error.hpp"
#include "core/rng.hpp"
#include "core/scenario.hpp"
#include "operators/network.hpp"
#include "training/batch_loss.hpp"
#include "training/identity.hpp"
#include "training/loop.hpp"
#include "training/mean_loss.hpp"
#include "training/ranks.hpp"
#include "training/resolution_batches.hpp"
#include "training/sample_games.hpp"
#include "training/samples.hpp"
#include "training/target.hpp"
#include "training/training.hpp"

namespace opshap::training {

namespace {

/// The explained point of each member of each group, at random; nothing unless the recipe asks for any query.
std::vector<std::vector<std::int64_t>> queries_of(const networks::ExplainerRecipe& recipe, const FieldBatch& fields,
                                                  const std::vector<ResolutionGroup>& groups, std::uint64_t seed) {
  const Rng rng(seed, "explainer queries");
  std::vector<std::vector<std::int64_t>> queries(groups.size());
  for (std::size_t group = 0; recipe.any_query && group < groups.size(); ++group) {
    const std::int64_t points = at_resolution(fields.domain, groups[group].resolution).points();
    for (const std::int64_t sample : groups[group].samples) {
      queries[group].push_back(static_cast<std::int64_t>(
          rng.stream(0, static_cast<std::uint64_t>(sample)).below(static_cast<std::uint64_t>(points))));
    }
  }
  return queries;
}

/// What a part of the data gives a training: its games, its inputs as the network gets them, and the labels that are
/// asked once.
struct Material {
  std::vector<ResolutionGroup> groups;
  std::vector<SampleGames> games;
  std::vector<torch::Tensor> inputs;   ///< of each group
  std::vector<Target::Labels> labels;  ///< of each group; empty for a target that draws new ones

  Material(const networks::ExplainerRecipe& recipe, const Operator& backbone, const data::Dataset& data,
           data::Split part, std::uint64_t seed)
      : groups(resolution_groups(data, part, recipe.resolutions)) {
    const auto queries = queries_of(recipe, data.inputs, groups, seed);
    for (std::size_t group = 0; group < groups.size(); ++group)
      games.emplace_back(backbone, data.inputs, groups[group], recipe.scenario, queries[group]);
    inputs = at_resolutions(data.inputs, groups, torch::kFloat32, queries);
  }

  std::int64_t evaluations() const {
    std::int64_t sum = 0;
    for (const SampleGames& of_group : games) sum += of_group.evaluations();
    return sum;
  }
  /// What labels of all samples cost.
  std::int64_t evaluations(const Target& target, Target::Use use) const {
    std::int64_t sum = 0;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      if (!groups[group].samples.empty())
        sum +=
            static_cast<std::int64_t>(groups[group].samples.size()) * target.evaluations(use, games[group].players());
    }
    return sum;
  }
};

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

/// The rows of the members of a batch.
Target::Labels rows(const Target::Labels& labels, const std::vector<std::int64_t>& members) {
  Target::Labels some;
  for (const torch::Tensor& label : labels)
    some.push_back(label.index_select(0, torch::tensor(members, torch::kInt64)));
  return some;
}

/// Labels of all members of a group, of which each rank has asked its share.
Target::Labels gathered(const Target::Labels& labels, std::int64_t first, std::int64_t members, const Ranks& ranks) {
  Target::Labels all;
  for (const torch::Tensor& label : labels) {
    std::vector<std::int64_t> shape = label.sizes().vec();
    const std::int64_t mine = shape.front();
    shape.front() = members;
    const torch::Tensor rows = torch::zeros(shape, torch::kFloat32);
    rows.narrow(0, first, mine).copy_(label);
    ranks.add(std::span<float>(rows.data_ptr<float>(), static_cast<std::size_t>(rows.numel())));
    all.push_back(rows);
  }
  return all;
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

networks::TrainingSummary train_explainer(const networks::ExplainerRecipe& asked, const Operator& backbone,
                                          const data::Dataset& data, std::uint64_t seed,
                                          const std::filesystem::path& folder, const std::vector<int>& snapshots) {
  const auto start = std::chrono::steady_clock::now();
  require_fits(backbone, data);
  networks::ExplainerRecipe recipe = asked;
  recipe.scenario = data::rule_for(asked.scenario, data);
  const auto target = targets::make(recipe);
  const std::string identity = training_identity(recipe, *target, backbone, data, seed);
  networks::TrainingSummary summary;
  if (is_finished(folder, identity, summary)) return summary;

  const Rng rng(seed, "explainer coalitions");
  Material train(recipe, backbone, data, data::Split::train, seed);
  const Material validation(recipe, backbone, data, data::Split::validation, seed);
  const auto network = operators::make_network(explainer_config(recipe, data), torch::kFloat32);
  if (data.inputs.domain.is_grid()) network->set_native_domain(data.inputs.domain);
  operators::initialise(*network, seed + 1);  // not the backbone's own initial weights
  TrainedFor facts = trained_for(backbone, recipe.scenario);
  if (recipe.any_query) facts["query"] = "any";
  facts["problem"] = data.parameters.empty() ? data.pde : message(data.pde, " ", data.parameters);
  facts["data"] = data.content_hash;
  network->set_trained_for(std::move(facts));

  const auto draw = [&](const Material& from, const Batch& batch, Target::Use use, std::int64_t epoch) {
    if (batch.members.empty()) return Target::Labels{};
    return target->draw(from.games[batch.group], batch.members,
                        member_streams(from.groups[batch.group], batch, rng, use, epoch), use);
  };
  const Ranks& ranks = Ranks::all();
  // The validation labels never change, nor do those of the training with a target that asks once. Each rank asks for
  // its share.
  const std::vector<Batch> validation_batches = ordered_batches(validation.groups, recipe.batch);
  std::vector<Target::Labels> fixed_labels;
  for (const Batch& batch : validation_batches)
    fixed_labels.push_back(draw(validation, ranks.share(batch), Target::Use::validation, 0));
  std::int64_t once = validation.evaluations(*target, Target::Use::validation);
  const auto all_labels = [&](const Batch& all) {
    const auto members = static_cast<std::int64_t>(all.members.size());
    // Fewer than there are ranks are asked for by each of them, since shapes of labels are known by having some.
    if (ranks.alone() || members < ranks.size()) return draw(train, all, Target::Use::training, 0);
    return gathered(draw(train, ranks.share(all), Target::Use::training, 0), ranks.share(members).first, members,
                    ranks);
  };
  if (target->once()) {
    once += train.evaluations(*target, Target::Use::training);
    for (std::size_t group = 0; group < train.groups.size(); ++group) {
      Batch all{.group = group, .members = {}};
      for (std::size_t member = 0; member < train.groups[group].samples.size(); ++member)
        all.members.push_back(static_cast<std::int64_t>(member));
      train.labels.push_back(all_labels(all));
    }
  }

  TrainingLoop loop{.name = "explainer",
                    .identity = identity,
                    .epochs = recipe.epochs,
                    .warmup_epochs = recipe.warmup_epochs,
                    .patience = recipe.patience,
                    .learning_rate = recipe.learning_rate,
                    .weight_decay = recipe.weight_decay,
                    .clipping = recipe.clipping,
                    .averaging = recipe.averaging,
                    .train = {},
                    .validate = {},
                    .evaluations_per_epoch = target->once() ? 0 : train.evaluations(*target, Target::Use::training),
                    .evaluations_once = train.evaluations() + validation.evaluations() + once,
                    .seconds_once = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                    .snapshots = snapshots};
  // What some fields of a batch have of its loss. Parts of that, for chunks of these fields, are given to `evaluate`.
  const auto loss_of = [&](const auto& evaluate, const Material& from, const Batch& some, const Target::Labels& labels,
                           std::size_t of) {
    if (some.members.empty()) return 0.0;
    const SampleGames& games = from.games[some.group];
    const torch::Tensor fields = select(from.inputs, some), gains = games.gains(some.members);
    return evaluate(*network, fields.size(1), games.domain(), [&](std::int64_t first, std::int64_t count) {
      const torch::Tensor densities = network->forward(fields.narrow(1, first, count), games.domain());
      return target->loss(densities, games.volumes(), gains.narrow(0, first, count), rows(labels, first, count),
                          static_cast<std::int64_t>(of));
    });
  };
  // Without an engine coalitions are LibTorch's, whose threads the explainer has already.
  const auto ahead =
      std::ranges::any_of(train.games, &SampleGames::has_engine) ? std::launch::async : std::launch::deferred;
  loop.train = [&](std::int64_t epoch, const std::function<void()>& step) {
    MeanLoss mean;
    const std::vector<Batch> batches = epoch_batches(train.groups, recipe.batch, seed, epoch);
    const auto play = [&](const Batch& batch) {
      const Batch mine = ranks.share(batch);
      return target->once() ? rows(train.labels[batch.group], mine.members)
                            : draw(train, mine, Target::Use::training, epoch);
    };
    // The next batch's labels do not wait for the explainer: what a step leaves of the processor's time goes to them.
    std::future<Target::Labels> next = std::async(ahead, play, std::cref(batches.front()));
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const std::size_t size = batches[i].members.size();
      const Target::Labels labels = next.get();
      if (i + 1 < batches.size()) next = std::async(ahead, play, std::cref(batches[i + 1]));
      mean.add(loss_of(batch_loss_and_gradient, train, ranks.share(batches[i]), labels, size), size);
      step();
    }
    return mean.over(ranks);
  };
  loop.validate = [&] {
    MeanLoss mean;
    for (std::size_t i = 0; i < validation_batches.size(); ++i) {
      const Batch& batch = validation_batches[i];
      const std::size_t size = batch.members.size();
      mean.add(loss_of(batch_loss, validation, ranks.share(batch), fixed_labels[i], size), size);
    }
    return mean.over(ranks);
  };
  return run_training(loop, *network, folder);
}

}  // namespace opshap::training
