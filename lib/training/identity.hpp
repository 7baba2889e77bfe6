#pragma once

#include <cstdint>
#include <string>

#include "core/operator.hpp"
#include "data/dataset.hpp"
#include "training/recipe.hpp"

namespace opshap::training {

/// What decides the result of a training, as one line of JSON: recipe, data set, seed; for an explainer also its backbone, by the values it gives.
std::string training_identity(const BackboneRecipe& recipe, const data::Dataset& data, std::uint64_t seed);
std::string training_identity(const ExplainerRecipe& recipe, const Operator& backbone, const data::Dataset& data,
                              std::uint64_t seed);

}  // namespace opshap::training
