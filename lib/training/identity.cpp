#include "training/identity.hpp"

#include <nlohmann/json.hpp>
#include <span>

#include "core/checksum.hpp"
#include "operators/network.hpp"
#include "training/samples.hpp"
#include "training/training.hpp"

namespace opshap::training {

namespace {

template <typename Recipe>
nlohmann::ordered_json describe(const Recipe& recipe, const operators::NetworkConfig& config, const data::Dataset& data,
                                std::uint64_t seed) {
  return {{"model", nlohmann::ordered_json::parse(config.json)},
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

operators::NetworkConfig config_for(const operators::NetworkSettings& settings, const FieldBatch& inputs,
                                    int out_channels) {
  return operators::fitted(
      settings, {.dimension = inputs.domain.dimension(), .in_channels = inputs.channels, .out_channels = out_channels});
}

}  // namespace

operators::NetworkConfig backbone_config(const BackboneRecipe& recipe, const data::Dataset& data) {
  return config_for(recipe.model, data.inputs, data.targets.channels);
}

operators::NetworkConfig explainer_config(const ExplainerRecipe& recipe, const data::Dataset& data) {
  return config_for(recipe.model, data.inputs, 1);
}

void require_recipes(const BackboneRecipe& backbone, const ExplainerRecipe& explainer,
                     operators::NetworkSpaces spaces) {
  operators::fitted(backbone.model, spaces);
  operators::fitted(explainer.model, spaces);
  targets::make(explainer);
}

std::string training_identity(const BackboneRecipe& recipe, const data::Dataset& data, std::uint64_t seed) {
  return describe(recipe, backbone_config(recipe, data), data, seed).dump();
}

std::string training_identity(const ExplainerRecipe& recipe, const Target& target, const Operator& backbone,
                              const data::Dataset& data, std::uint64_t seed) {
  auto json = describe(recipe, explainer_config(recipe, data), data, seed);
  json["warmup_epochs"] = recipe.warmup_epochs;
  json.update(nlohmann::ordered_json::parse(target.identity()));
  const Scenario probe =
      make_scenario(recipe.scenario, data.inputs.one(0), grid(data.inputs, recipe.resolutions.front()));
  json["backbone"] = {{"is", backbone.describe()}, {"probe", backbone.values_at(probe.input, probe.query).front()}};
  // Trainings from before there were targets and scenarios have the defaults, which go without saying.
  const ExplainerRecipe defaults;
  if (recipe.target != defaults.target) json["target"] = recipe.target;
  if (const std::string rule = recipe.scenario.describe(); rule != defaults.scenario.describe())
    json["scenario"] = {{"rule", rule},
                        {"labels", checksum(recipe.scenario.labels)},
                        {"hidden", checksum(recipe.scenario.hidden.values)}};
  return json.dump();
}

}  // namespace opshap::training
