#include "training/training.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/rng.hpp"
#include "core/scenario.hpp"
#include "operators/config_reader.hpp"
#include "operators/network.hpp"
#include "training/kept_labels.hpp"
#include "training/loop.hpp"
#include "training/ranks.hpp"
#include "training/resolution_batches.hpp"
#include "training/samples.hpp"

namespace opshap::training {

using nlohmann::ordered_json;

namespace {

/// What networks are trained with goes without saying: trainings from before it was written have it too.
ordered_json without_shift(ordered_json model) {
  model.erase(operators::inverse_shift_key);
  if (model.contains("network")) model["network"].erase(operators::inverse_shift_key);
  return model;
}

template <typename Recipe>
ordered_json describe(const Recipe& recipe, const networks::NetworkConfig& config, const data::Dataset& data,
                      std::uint64_t seed) {
  return {{"model", without_shift(ordered_json::parse(config.json))},
          {"resolutions", recipe.resolutions},
          {"epochs", recipe.epochs},
          {"batch", recipe.batch},
          {"learning_rate", recipe.learning_rate},
          {"weight_decay", recipe.weight_decay},
          {"patience", recipe.patience},
          {"data", data.content_hash},
          {"train_samples", data.indices(data::Split::train).size()},
          {"seed", seed}};
}

template <typename Number>
std::uint32_t checksum(const std::vector<Number>& numbers) {
  return crc32c(std::as_bytes(std::span(numbers)));
}

networks::NetworkConfig config_for(const networks::NetworkSettings& settings, const data::Dataset& data,
                                   int out_channels) {
  const data::SampleFields& inputs = data.inputs;
  networks::NetworkSpaces spaces{
      .dimension = inputs.dimension(), .in_channels = inputs.channels(), .out_channels = out_channels};
  if (!data.node_types.empty()) spaces.box = inputs.box();
  return operators::fitted(settings, spaces);
}

/// Whether a grid has points on the ends of an axis, whose cells are cut off there.
bool has_unequal_cells(const Domain& domain) {
  return domain.is_grid() && std::ranges::any_of(domain.axes(), [](const Axis& axis) {
           return !axis.periodic && axis.centring == Centring::node;
         });
}

/// Coordinates relative to the query are angles where the domain is periodic, and a model that pads does not. Elsewhere
/// they are offsets, and the Fourier sums know the ends of the domain. What a point is worth does not jump there.
networks::ExplainerRecipe settled(networks::ExplainerRecipe recipe, const Domain& domain) {
  if (recipe.coordinates != "query") return recipe;
  recipe.coordinates = domain.periodic() ? "query_angle" : "query_offset";
  const bool pads = ordered_json::parse(recipe.model.json).contains("padding");
  if (domain.periodic() && !recipe.padding && pads) recipe.padding = 0;
  if (!domain.periodic() && !recipe.quadrature && recipe.model.model == "fno") recipe.quadrature = "volumes";
  if (has_unequal_cells(domain)) recipe.cells = "equal";
  return recipe;
}

/// Throws for settings of a base that nothing would use.
void require_base_settings(const ExplainerBase& base) {
  require(base.any() || base == ExplainerBase{}, "explainer: base=none, base_nodes=", base.nodes,
          ", order=", base.coarse ? "coarse" : "none",
          " (without a base there are no nodes and nothing to scale). Give a base, or leave them out.");
}

/// The recipe's own model, or the density network that its settings ask for.
networks::NetworkSettings explainer_settings(const networks::ExplainerRecipe& asked, const data::SampleFields& inputs) {
  const networks::ExplainerRecipe recipe = settled(asked, inputs.domain(0));
  require_base_settings(recipe.base);
  auto network = ordered_json::parse(recipe.model.json);
  if (recipe.padding) network["padding"] = *recipe.padding;
  if (recipe.quadrature) network["quadrature"] = *recipe.quadrature;
  const networks::ExplainerRecipe paper;
  if (recipe.coordinates == paper.coordinates && recipe.atom == paper.atom && recipe.any_query == paper.any_query &&
      recipe.fine_from == paper.fine_from && recipe.cells == paper.cells && !recipe.base.any())
    return {.model = recipe.model.model, .json = network.dump()};
  require(recipe.coordinates != "query_angle" || inputs.domain(0).periodic(),
          "explainer: coordinates=query_angle (the domain is ", inputs.domain(0).describe(),
          "; an angle to the query needs periodic axes). Use query_offset.");
  network["model"] = recipe.model.model;
  if (recipe.base.any()) {
    Scenario probe = scenario_at(recipe.scenario, inputs.one(0), recipe.resolutions.front());
    if (recipe.any_query) probe.readout = Query{};
    require_base(recipe.base, probe);
  }
  ordered_json query = "any";
  if (!recipe.any_query) {
    const Scenario probe = scenario_at(recipe.scenario, inputs.one(0), recipe.resolutions.front());
    // Without a point of its own the network sees its places from the centre.
    query = recipe.scenario.query == ScenarioRule::Where::centre || !probe.readout.is_query()
                ? ordered_json("centre")
                : ordered_json(probe.input.domain.position(probe.readout.query().point));
  }
  ordered_json settings = {
      {"coordinates", recipe.coordinates}, {"atom", recipe.atom}, {"cells", recipe.cells}, {"query", query},
      {"trained_at", recipe.resolutions},  {"network", network}};
  if (recipe.base.any())
    settings.update({{"base", name_of(recipe.base.kind)},
                     {"base_nodes", recipe.base.nodes},
                     {"order", recipe.base.coarse ? "coarse" : "none"}});
  // Where all grids are fine there is nothing to tell.
  if (recipe.fine_from > recipe.resolutions.front().fewest()) settings["fine_from"] = recipe.fine_from;
  return {.model = "density", .json = settings.dump()};
}

}  // namespace

networks::NetworkConfig backbone_config(const networks::BackboneRecipe& recipe, const data::Dataset& data) {
  return config_for(recipe.model, data, data.targets.channels());
}

networks::NetworkConfig explainer_config(const networks::ExplainerRecipe& recipe, const data::Dataset& data) {
  return config_for(explainer_settings(recipe, data.inputs), data, 1);
}

void require_recipes(const networks::BackboneRecipe& backbone, const networks::ExplainerRecipe& explainer,
                     networks::NetworkSpaces spaces) {
  operators::fitted(backbone.model, spaces);
  operators::fitted(explainer.model, spaces);
  require(explainer.averaging >= 0 && explainer.averaging < 1, "explainer: averaging=", explainer.averaging,
          " (is what the mean of the weights keeps of itself at a step). Give 0 for none, or 0.999.");
  require_base_settings(explainer.base);
  targets::make(explainer);
}

std::string training_identity(const networks::BackboneRecipe& recipe, const data::Dataset& data, std::uint64_t seed) {
  auto json = describe(recipe, backbone_config(recipe, data), data, seed);
  if (recipe.normalisation != "none") json["normalisation"] = recipe.normalisation;
  return json.dump();
}

std::string training_identity(const networks::ExplainerRecipe& recipe, const Target& target, const Operator& backbone,
                              const data::Dataset& data, std::uint64_t seed) {
  auto json = describe(recipe, explainer_config(recipe, data), data, seed);
  json["warmup_epochs"] = recipe.warmup_epochs;
  if (recipe.clipping > 0) json["clipping"] = recipe.clipping;
  if (recipe.averaging > 0) json["averaging"] = recipe.averaging;
  json.update(ordered_json::parse(target.identity()));
  const Scenario probe = scenario_at(recipe.scenario, data.inputs.one(0), recipe.resolutions.front());
  json["backbone"] = {{"is", backbone.describe()}, {"probe", backbone.values_at(probe.input, probe.readout).front()}};
  // Trainings from before there were targets and scenarios have the defaults, which go without saying.
  const networks::ExplainerRecipe defaults;
  if (recipe.target != defaults.target) json["target"] = recipe.target;
  if (const std::string rule = recipe.scenario.describe(); rule != defaults.scenario.describe())
    json["scenario"] = {{"rule", rule},
                        {"labels", checksum(recipe.scenario.labels)},
                        {"hidden", checksum(recipe.scenario.hidden.values)}};
  return json.dump();
}

namespace {

/// The mean loss of an epoch or a validation over its samples, the same on every rank. `loss(i)` is what this rank has
/// of the mean loss of batch i.
template <typename Loss>
double mean_loss(const std::vector<Batch>& batches, const Ranks& ranks, const Loss& loss) {
  torch::Tensor sum;  // where the losses are: it is waited for at the end alone
  std::size_t samples = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const torch::Tensor part = loss(i) * static_cast<double>(batches[i].members.size());
    sum = sum.defined() ? sum + part : part;
    samples += batches[i].members.size();
  }
  auto total = sum.item<double>();
  ranks.add(std::span<double>(&total, 1));
  return total / static_cast<double>(samples);
}

/// What a rank has of the loss of a batch of which it has no field.
torch::Tensor no_loss(const torch::TensorOptions& options) { return torch::zeros({}, options.dtype(torch::kFloat64)); }

/// The problem of the data with its parameters, and the data.
TrainedFor facts_of(const data::Dataset& data) {
  return {{"problem", data.problem()}, {"data", data.content_hash}};
}

/// Mean and deviation of each channel over all points of some samples.
operators::Normaliser per_channel(const data::SampleFields& fields, const std::vector<std::int64_t>& samples) {
  constexpr double eps = 1e-7;  // as in neuraloperator
  const auto channels = static_cast<std::size_t>(fields.channels());
  std::vector<double> sums(channels, 0.0), squares(channels, 0.0);
  double count = 0;
  const auto add_up = [&](std::vector<double>& into, const auto& of) {
    for (const std::int64_t sample : samples) {
      const std::span<const double> field = fields.field(sample);
      const std::size_t points = field.size() / channels;
      for (std::size_t i = 0; i < field.size(); ++i) into[i / points] += of(field[i], i / points);
    }
  };
  for (const std::int64_t sample : samples) count += static_cast<double>(fields.field(sample).size() / channels);
  add_up(sums, [](double value, std::size_t) { return value; });
  for (double& sum : sums) sum /= count;
  add_up(squares, [&](double value, std::size_t channel) { return std::pow(value - sums[channel], 2); });
  std::vector<std::int64_t> shape = {1, fields.channels()};
  shape.resize(2 + operators::sizes_of(fields.domain(0)).size(), 1);
  operators::Normaliser normaliser{.shape = std::move(shape), .mean = {}, .std = {}, .eps = eps};
  // In float32, as files have them.
  for (std::size_t channel = 0; channel < channels; ++channel) {
    normaliser.mean.push_back(static_cast<float>(sums[channel]));
    normaliser.std.push_back(static_cast<float>(std::sqrt(squares[channel] / count)));
  }
  return normaliser;
}

/// Fields in normalised units, and targets less their inputs where these are what is learned.
struct Learned {
  operators::Normalisation normalisation;
  data::SampleFields inputs, targets;

  /// With "fields" or "change".
  Learned(const networks::BackboneRecipe& recipe, const data::Dataset& data)
      : inputs(data.inputs), targets(data.targets) {
    normalisation.of_change = recipe.normalisation == "change";
    if (normalisation.of_change) {
      require(targets.channels() <= inputs.channels(), "backbone: normalisation=change (", data.pde, " has ",
              inputs.channels(), " input channels for ", targets.channels(), " outputs). Use fields.");
      for (std::int64_t sample = 0; sample < targets.count(); ++sample)
        std::ranges::transform(targets.field(sample), inputs.field(sample), targets.field(sample).begin(),
                               std::minus<>());
    }
    const std::vector<std::int64_t> samples = data.indices(data::Split::train);
    normalisation.input = per_channel(inputs, samples);
    normalisation.output = per_channel(targets, samples);
    normalise(inputs, *normalisation.input);
    normalise(targets, *normalisation.output);
  }

 private:
  static void normalise(data::SampleFields& fields, const operators::Normaliser& by) {
    for (std::int64_t sample = 0; sample < fields.count(); ++sample)
      std::ranges::copy(by.normalised(fields.one(sample)).values, fields.field(sample).begin());
  }
};

/// The samples of a part of the data as a backbone gets them.
struct Served {
  std::vector<ResolutionGroup> groups;
  std::vector<torch::Tensor> inputs, targets;  ///< of each group

  Served(const networks::BackboneRecipe& recipe, const data::Dataset& data, const std::optional<Learned>& learned,
         data::Split part, const torch::TensorOptions& options)
      : groups(resolution_groups(data, part, recipe.resolutions)),
        inputs(at_resolutions(learned ? learned->inputs : data.inputs, groups, options)),
        targets(at_resolutions(learned ? learned->targets : data.targets, groups, options)) {}
};

}  // namespace

// Training of a backbone: MSE against the solution at the target time, in the units of the network.

networks::TrainingSummary train_backbone(const networks::BackboneRecipe& recipe, const data::Dataset& data,
                                         std::uint64_t seed, const std::filesystem::path& folder,
                                         const std::string& device) {
  require(data.inputs.has_domains_of(data.targets), "backbone: targets=", data.targets.domain(0).describe(),
          " (the inputs are on ", data.inputs.domain(0).describe(), "). Use a data set with both on one domain.");
  const std::string identity = training_identity(recipe, data, seed);
  networks::TrainingSummary summary;
  if (is_finished(folder, identity, summary)) return summary;

  const torch::TensorOptions options = operators::tensor_options(networks::Precision::float32, device);
  std::optional<Learned> learned;
  if (recipe.normalisation != "none") learned.emplace(recipe, data);
  const Served train(recipe, data, learned, data::Split::train, options),
      validation(recipe, data, learned, data::Split::validation, options);
  const std::vector<Batch> validation_batches = ordered_batches(validation.groups, recipe.batch);
  const auto network = operators::make_network(backbone_config(recipe, data), options);
  if (data.inputs.domain(0).is_grid()) network->set_native_domain(data.inputs.domain());
  operators::initialise(*network, seed);
  network->set_trained_for(facts_of(data));
  if (learned) network->set_normalisation(learned->normalisation);
  learned.reset();  // a second copy of the data
  const Ranks& ranks = Ranks::all();
  // A batch's loss is its mean squared error. What this rank's share of its fields have of it is asked for, with its
  // gradient or without.
  const auto loss_of = [&](RecordedLoss* with_gradient, const Served& from, const Batch& batch) {
    const Batch some = ranks.share(batch);
    if (some.members.empty()) return no_loss(options);
    const ResolutionGroup& group = from.groups[some.group];
    const Domain domain = at_resolution(data.inputs.domain(group.domain), group.resolution);
    const torch::Tensor inputs = select(from.inputs, some), targets = select(from.targets, some);
    const double numbers =
        static_cast<double>(targets.numel() / targets.size(1)) * static_cast<double>(batch.members.size());
    const auto part = [&](const std::vector<torch::Tensor>& of, std::int64_t first, std::int64_t count) {
      const torch::Tensor outputs = network->forward(of[0].narrow(1, first, count), domain);
      return torch::mse_loss(outputs, of[1].narrow(1, first, count), torch::Reduction::Sum) / numbers;
    };
    return batch_loss(*network, {some.group, batch.members.size(), inputs.size(1), domain, {inputs, targets}, part},
                      with_gradient);
  };
  RecordedLoss recorded(recorder(options.device()));

  TrainingLoop loop{.name = "backbone",
                    .epochs = recipe.epochs,
                    .patience = recipe.patience,
                    .learning_rate = recipe.learning_rate,
                    .weight_decay = recipe.weight_decay};
  loop.train = [&](std::int64_t epoch, const std::function<void()>& step) {
    const std::vector<Batch> batches = epoch_batches(train.groups, recipe.batch, seed, epoch);
    return mean_loss(batches, ranks, [&](std::size_t i) {
      const torch::Tensor loss = loss_of(&recorded, train, batches[i]);
      step();
      return loss;
    });
  };
  loop.validate = [&] {
    return mean_loss(validation_batches, ranks,
                     [&](std::size_t i) { return loss_of(nullptr, validation, validation_batches[i]); });
  };
  return run_training(loop, *network, TrainingFolder(folder, identity));
}

// Training of an explainer by the target that its recipe names.

namespace {

/// The explained point of each member of each group, at random; nothing unless the recipe asks for any query.
std::vector<std::vector<std::int64_t>> queries_of(const networks::ExplainerRecipe& recipe,
                                                  const data::SampleFields& fields,
                                                  const std::vector<ResolutionGroup>& groups, std::uint64_t seed) {
  const Rng rng(seed, "explainer queries");
  std::vector<std::vector<std::int64_t>> queries(groups.size());
  for (std::size_t group = 0; recipe.any_query && group < groups.size(); ++group) {
    const std::int64_t points = at_resolution(fields.domain(groups[group].domain), groups[group].resolution).points();
    for (const std::int64_t sample : groups[group].samples)
      queries[group].push_back(static_cast<std::int64_t>(
          rng.stream(0, static_cast<std::uint64_t>(sample)).below(static_cast<std::uint64_t>(points))));
  }
  return queries;
}

/// What a part of the data gives a training: its games, its inputs as the network gets them, and the labels that are
/// asked once.
struct Material {
  std::vector<ResolutionGroup> groups;
  std::vector<SampleGames> games;
  std::vector<torch::Tensor> inputs;         ///< of each group
  std::vector<torch::Tensor> bases, scales;  ///< of each group, as BasedSamples; empty without a base
  std::vector<Target::Labels> labels;        ///< of each group; empty for a target that draws new ones
  std::int64_t of_bases = 0;                 ///< what these took, in forward equivalents

  Material(const networks::ExplainerRecipe& recipe, const Operator& backbone, const data::Dataset& data,
           data::Split part, std::uint64_t seed, const torch::TensorOptions& options)
      : groups(resolution_groups(data, part, recipe.resolutions)) {
    const auto queries = queries_of(recipe, data.inputs, groups, seed);
    for (std::size_t group = 0; group < groups.size(); ++group)
      games.emplace_back(backbone, data.inputs, groups[group], recipe.scenario, queries[group], options);
    if (!recipe.base.any()) {
      inputs = at_resolutions(data.inputs, groups, options, queries);
      return;
    }
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const BasedSamples samples = based_samples(games[group], groups[group].samples.size(), recipe.base, options);
      inputs.push_back(samples.inputs);
      bases.push_back(samples.densities);
      scales.push_back(samples.scales);
      of_bases += recipe.base.evaluations() * static_cast<std::int64_t>(groups[group].samples.size());
    }
  }

  /// What the games took at their construction, and the bases.
  std::int64_t evaluations() const {
    std::int64_t sum = of_bases;
    for (const SampleGames& of_group : games) sum += of_group.evaluations();
    return sum;
  }
  /// What labels of all samples cost, or of those that an epoch shows.
  std::int64_t evaluations(const Target& target, Target::Use use, bool of_an_epoch = false) const {
    std::int64_t sum = 0;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const auto samples = static_cast<std::int64_t>(groups[group].samples.size());
      if (samples > 0)
        sum += samples / (of_an_epoch ? groups[group].windows : 1) * target.evaluations(use, games[group].players());
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
    some.push_back(label.index_select(0, torch::tensor(members, torch::kInt64).to(label.device())));
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
    rows.narrow(0, first, mine).copy_(label);  // on the CPU, whose processes they are
    ranks.add(std::span<float>(rows.data_ptr<float>(), static_cast<std::size_t>(rows.numel())));
    all.push_back(rows.to(label.device()));
  }
  return all;
}

/// The rows of some fields of a batch.
Target::Labels rows(const Target::Labels& labels, std::int64_t first, std::int64_t count) {
  Target::Labels some;
  for (const torch::Tensor& label : labels) some.push_back(label.narrow(0, first, count));
  return some;
}

}  // namespace

networks::TrainingSummary train_explainer(const networks::ExplainerRecipe& asked, const Operator& backbone,
                                          const data::Dataset& data, std::uint64_t seed,
                                          const std::filesystem::path& folder, const std::vector<int>& snapshots,
                                          const std::string& device) {
  const auto start = std::chrono::steady_clock::now();
  require(backbone.dimension() == data.inputs.dimension() && backbone.input_channels() == data.inputs.channels(),
          "explainer: operator=", backbone.describe(), " (takes ", backbone.input_channels(), " channels on ",
          backbone.dimension(), " axes; the data set has ", data.inputs.channels(), " on ", data.inputs.dimension(),
          "). Give the operator that was trained on this data.");
  networks::ExplainerRecipe recipe = asked;
  recipe.scenario = data::rule_for(asked.scenario, data);
  require_base(recipe.base, backbone);
  const auto target = targets::make(recipe);
  const std::string identity = training_identity(recipe, *target, backbone, data, seed);
  const KeptLabels kept(folder, identity);
  networks::TrainingSummary summary;
  if (is_finished(folder, identity, summary)) {
    kept.forget();
    return summary;
  }

  const Rng rng(seed, "explainer coalitions");
  const torch::TensorOptions options = operators::tensor_options(networks::Precision::float32, device);
  Material train(recipe, backbone, data, data::Split::train, seed, options);
  const Material validation(recipe, backbone, data, data::Split::validation, seed, options);
  const auto network = operators::make_network(explainer_config(recipe, data), options);
  if (data.inputs.domain(0).is_grid()) network->set_native_domain(data.inputs.domain());
  operators::initialise(*network, seed + 1);  // not the backbone's own initial weights
  TrainedFor facts = trained_for(backbone, recipe.scenario);
  if (recipe.any_query) facts["query"] = "any";
  if (recipe.base.any()) facts["base"] = recipe.base.describe();
  for (const auto& [fact, value] : facts_of(data)) facts[fact] = value;
  network->set_trained_for(std::move(facts));

  const TrainingFolder place(folder, identity);
  const auto draw = [&](const Material& from, const Batch& batch, Target::Use use, std::int64_t epoch) {
    if (batch.members.empty()) return Target::Labels{};
    Target::Labels labels = target->draw(from.games[batch.group], batch.members,
                                         member_streams(from.groups[batch.group], batch, rng, use, epoch), use);
    for (torch::Tensor& label : labels) label = label.to(options.device());
    return labels;
  };
  const Ranks& ranks = Ranks::all();
  // The validation labels never change, nor do those of the training with a target that asks once. Each rank asks for
  // its share. A process that is alone keeps the latter for its next piece.
  const std::vector<Batch> validation_batches = ordered_batches(validation.groups, recipe.batch);
  std::vector<Target::Labels> fixed_labels;
  for (const Batch& batch : validation_batches)
    fixed_labels.push_back(draw(validation, ranks.share(batch), Target::Use::validation, 0));
  std::int64_t once = validation.evaluations(*target, Target::Use::validation);
  const auto all_labels = [&](const Batch& all) {
    const auto members = static_cast<std::int64_t>(all.members.size());
    // Fewer than there are ranks are asked for by each of them, since shapes of labels are known by having some.
    if (ranks.alone() || members < ranks.size) return draw(train, all, Target::Use::training, 0);
    return gathered(draw(train, ranks.share(all), Target::Use::training, 0), ranks.share(members).first, members,
                    ranks);
  };
  if (target->once()) {
    once += train.evaluations(*target, Target::Use::training);
    for (std::size_t group = 0; group < train.groups.size(); ++group) {
      Batch all{.group = group, .members = std::vector<std::int64_t>(train.groups[group].samples.size())};
      std::iota(all.members.begin(), all.members.end(), std::int64_t{0});
      if (!ranks.alone()) {
        train.labels.push_back(all_labels(all));
        continue;
      }
      Target::Labels labels = kept.of(group, [&] { return all_labels(all); });
      for (torch::Tensor& label : labels) label = label.to(options.device());
      train.labels.push_back(std::move(labels));
    }
  }

  TrainingLoop loop{.name = "explainer",
                    .epochs = recipe.epochs,
                    .warmup_epochs = recipe.warmup_epochs,
                    .patience = recipe.patience,
                    .learning_rate = recipe.learning_rate,
                    .weight_decay = recipe.weight_decay,
                    .clipping = recipe.clipping,
                    .averaging = recipe.averaging,
                    .evaluations_per_epoch =
                        target->once() ? 0 : train.evaluations(*target, Target::Use::training, /*of_an_epoch=*/true),
                    .evaluations_once = train.evaluations() + validation.evaluations() + once,
                    .seconds_once = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                    .snapshots = snapshots};
  // What this rank's share of a batch has of its loss, with its gradient or without.
  const auto loss_of = [&](RecordedLoss* with_gradient, const Material& from, const Batch& batch,
                           const Target::Labels& labels) {
    const Batch some = ranks.share(batch);
    if (some.members.empty()) return no_loss(options);
    const SampleGames& games = from.games[some.group];
    std::vector<torch::Tensor> tensors = {select(from.inputs, some), games.gains(some.members)};
    if (recipe.base.any()) tensors.insert(tensors.end(), {select(from.bases, some), select(from.scales, some)});
    const auto before_labels = static_cast<std::ptrdiff_t>(tensors.size());
    tensors.insert(tensors.end(), labels.begin(), labels.end());
    const auto part = [&](const std::vector<torch::Tensor>& of, std::int64_t first, std::int64_t count) {
      torch::Tensor densities = network->forward(of[0].narrow(1, first, count), games.domain());
      if (recipe.base.any())
        densities = torch::addcmul(of[2].narrow(1, first, count), densities, of[3].narrow(1, first, count));
      return target->loss(densities, games.volumes(), of[1].narrow(0, first, count),
                          rows({of.begin() + before_labels, of.end()}, first, count),
                          static_cast<std::int64_t>(batch.members.size()));
    };
    const std::int64_t size = tensors.front().size(1);
    return batch_loss(*network, {some.group, batch.members.size(), size, games.domain(), tensors, part}, with_gradient);
  };
  RecordedLoss recorded(recorder(options.device()));
  // Without an engine coalitions are LibTorch's, whose threads the explainer has already.
  const auto ahead =
      std::ranges::any_of(train.games, &SampleGames::has_engine) ? std::launch::async : std::launch::deferred;
  loop.train = [&](std::int64_t epoch, const std::function<void()>& step) {
    const std::vector<Batch> batches = epoch_batches(train.groups, recipe.batch, seed, epoch);
    const auto play = [&](const Batch& batch) {
      const Batch mine = ranks.share(batch);
      return target->once() ? rows(train.labels[batch.group], mine.members)
                            : draw(train, mine, Target::Use::training, epoch);
    };
    // The next batch's labels do not wait for the explainer: what a step leaves of the processor's time goes to them.
    std::future<Target::Labels> next = std::async(ahead, play, std::cref(batches.front()));
    return mean_loss(batches, ranks, [&](std::size_t i) {
      const Target::Labels labels = next.get();
      if (i + 1 < batches.size()) next = std::async(ahead, play, std::cref(batches[i + 1]));
      const torch::Tensor loss = loss_of(&recorded, train, batches[i], labels);
      step();
      return loss;
    });
  };
  loop.validate = [&] {
    return mean_loss(validation_batches, ranks, [&](std::size_t i) {
      return loss_of(nullptr, validation, validation_batches[i], fixed_labels[i]);
    });
  };
  summary = run_training(loop, *network, place);
  if (ranks.first()) kept.forget();
  return summary;
}

}  // namespace opshap::training
