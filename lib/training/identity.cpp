#include "training/identity.hpp"

#include <nlohmann/json.hpp>

#include "training/samples.hpp"

namespace opshap::training {

namespace {

template <typename Recipe>
nlohmann::ordered_json describe(const Recipe& recipe, const data::Dataset& data, std::uint64_t seed) {
  return {{"model", nlohmann::ordered_json::parse(operators::to_json(recipe.model))},
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

}  // namespace

std::string training_identity(const BackboneRecipe& recipe, const data::Dataset& data, std::uint64_t seed) {
  return describe(recipe, data, seed).dump();
}

std::string training_identity(const ExplainerRecipe& recipe, const Operator& backbone, const data::Dataset& data,
                              std::uint64_t seed) {
  auto json = describe(recipe, data, seed);
  json["warmup_epochs"] = recipe.warmup_epochs;
  json["coalitions"] = recipe.coalitions;
  const FieldBatch probe = at_resolution(data.inputs, 0, recipe.resolutions.front());
  json["backbone"] = {{"is", backbone.describe()},
                      {"probe", backbone.values_at(probe, {.point = probe.domain.centre()}).front()}};
  return json.dump();
}

}  // namespace opshap::training
