#pragma once

#include <cstdint>
#include <string>

#include "core/operator.hpp"
#include "data/dataset.hpp"
#include "networks/network_config.hpp"
#include "networks/recipe.hpp"
#include "training/target.hpp"

namespace opshap::training {

/// The CONFIG of the network that a recipe trains on a data set: the recipe's settings with the data's dimension and
/// channels. A density is one channel.
networks::NetworkConfig backbone_config(const networks::BackboneRecipe& recipe, const data::Dataset& data);
networks::NetworkConfig explainer_config(const networks::ExplainerRecipe& recipe, const data::Dataset& data);

/// What decides the result of a training, as one line of JSON: recipe, data set, seed; for an explainer also its
/// backbone, by the values it gives.
std::string training_identity(const networks::BackboneRecipe& recipe, const data::Dataset& data, std::uint64_t seed);
std::string training_identity(const networks::ExplainerRecipe& recipe, const Target& target, const Operator& backbone,
                              const data::Dataset& data, std::uint64_t seed);

}  // namespace opshap::training
