#include "training/identity.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/scenario.hpp"
#include "operators/inverse_shift.hpp"
#include "operators/network.hpp"
#include "training/training.hpp"

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

networks::NetworkConfig config_for(const networks::NetworkSettings& settings, const FieldBatch& inputs,
                                   int out_channels) {
  return operators::fitted(
      settings, {.dimension = inputs.domain.dimension(), .in_channels = inputs.channels, .out_channels = out_channels});
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

/// The recipe's own model, or the density network that its settings ask for.
networks::NetworkSettings explainer_settings(const networks::ExplainerRecipe& asked, const FieldBatch& inputs) {
  const networks::ExplainerRecipe recipe = settled(asked, inputs.domain);
  auto network = ordered_json::parse(recipe.model.json);
  if (recipe.padding) network["padding"] = *recipe.padding;
  if (recipe.quadrature) network["quadrature"] = *recipe.quadrature;
  const networks::ExplainerRecipe paper;
  if (recipe.coordinates == paper.coordinates && recipe.atom == paper.atom && recipe.any_query == paper.any_query &&
      recipe.fine_from == paper.fine_from && recipe.cells == paper.cells)
    return {.model = recipe.model.model, .json = network.dump()};
  require(recipe.coordinates != "query_angle" || inputs.domain.periodic(),
          "explainer: coordinates=query_angle (the domain is ", inputs.domain.describe(),
          "; an angle to the query needs periodic axes). Use query_offset.");
  network["model"] = recipe.model.model;
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
  // Where all grids are fine there is nothing to tell.
  if (recipe.fine_from > recipe.resolutions.front().fewest()) settings["fine_from"] = recipe.fine_from;
  return {.model = "density", .json = settings.dump()};
}

}  // namespace

networks::NetworkConfig backbone_config(const networks::BackboneRecipe& recipe, const data::Dataset& data) {
  return config_for(recipe.model, data.inputs, data.targets.channels);
}

networks::NetworkConfig explainer_config(const networks::ExplainerRecipe& recipe, const data::Dataset& data) {
  return config_for(explainer_settings(recipe, data.inputs), data.inputs, 1);
}

void require_recipes(const networks::BackboneRecipe& backbone, const networks::ExplainerRecipe& explainer,
                     networks::NetworkSpaces spaces) {
  operators::fitted(backbone.model, spaces);
  operators::fitted(explainer.model, spaces);
  require(explainer.averaging >= 0 && explainer.averaging < 1, "explainer: averaging=", explainer.averaging,
          " (is what the mean of the weights keeps of itself at a step). Give 0 for none, or 0.999.");
  targets::make(explainer);
}

std::string training_identity(const networks::BackboneRecipe& recipe, const data::Dataset& data, std::uint64_t seed) {
  return describe(recipe, backbone_config(recipe, data), data, seed).dump();
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

}  // namespace opshap::training
