#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/operator.hpp"
#include "data/dataset.hpp"
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

/// Throws as the trainings below for settings of operator and target that cannot work on such data, before there is
/// any.
void require_recipes(const networks::BackboneRecipe& backbone, const networks::ExplainerRecipe& explainer,
                     networks::NetworkSpaces spaces);

/// Trains a backbone on the data set's training samples and keeps the weights with the best validation loss.
///
/// `folder` gets model.safetensors (the best weights), metrics.jsonl (one object an epoch), checkpoint.safetensors (all
/// that is needed to go on) and summary.json. A folder with a finished training of the same recipe, data and seed
/// returns its summary at once; an unfinished one is continued from its last epoch, with the bits of an uninterrupted
/// run; one of another recipe, data set or seed throws InvalidArgument. Deterministic given seed, number of threads and
/// LibTorch. `device` is "cpu" or "cuda:0": data, network and optimiser are there, and nothing comes back in a step. It
/// may be another one when a training goes on. Throws NumericalError for a loss that is not finite, Stopped after a
/// signal, and for the device as operators::tensor_options().
networks::TrainingSummary train_backbone(const networks::BackboneRecipe& recipe, const data::Dataset& data,
                                         std::uint64_t seed, const std::filesystem::path& folder,
                                         const std::string& device = "cpu");

/// Trains an explainer of `backbone` by the recipe's target (OperatorSHAP, Algorithm 1, with the target fastshap);
/// otherwise as train_backbone.
///
/// Each sample is a game under the recipe's scenario, at the resolution that the sample is served at. The validation
/// loss is the target's on labels that never change. With a base the slopes of each sample are asked once, before the
/// first step. Coalitions are the same on any device. Throws InvalidArgument when the backbone does not take the data's
/// fields or cannot give the base, and when target, scenario or base do not fit. The folder keeps the weights after the
/// epochs in `snapshots` too, as networks::epoch_file(). Labels that are asked once lie there until the training has
/// ended (KeptLabels), unless several processes train together.
networks::TrainingSummary train_explainer(const networks::ExplainerRecipe& recipe, const Operator& backbone,
                                          const data::Dataset& data, std::uint64_t seed,
                                          const std::filesystem::path& folder, const std::vector<int>& snapshots = {},
                                          const std::string& device = "cpu");

}  // namespace opshap::training
