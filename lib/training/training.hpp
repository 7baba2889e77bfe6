#pragma once

#include <cstdint>
#include <filesystem>

#include "core/operator.hpp"
#include "data/dataset.hpp"
#include "training/recipe.hpp"

namespace opshap::training {

/// Trains a backbone on the data set's training samples and keeps the weights with the best validation loss.
///
/// `folder` gets model.safetensors (the best weights), metrics.jsonl (one object an epoch), checkpoint.safetensors (all that is needed to go on) and
/// summary.json. A folder with a finished training of the same recipe, data and seed returns its summary at once; an unfinished one is continued from its
/// last epoch, with the bits of an uninterrupted run; one of another recipe, data set or seed throws InvalidArgument.
/// Deterministic given seed, number of threads and LibTorch. Throws NumericalError for a loss that is not finite, Stopped after a signal.
TrainingSummary train_backbone(const BackboneRecipe& recipe, const data::Dataset& data, std::uint64_t seed,
                               const std::filesystem::path& folder);

/// Trains an explainer of `backbone` by the FastSHAP loss (OperatorSHAP, Algorithm 1); otherwise as train_backbone.
///
/// Players are the grid points of the resolution a sample is served at, the baseline is zero, the query is the centre of the domain. The loss of a sample is
/// the mean over its coalitions of (v(S) − v(∅) − Σ_{i∈S} φ_i)², with φ the density times the cell volume, shifted by volume so that Σφ = v(N) − v(∅); the
/// shift is part of the gradient. The validation loss is the same on 32 fixed coalitions per validation sample.
TrainingSummary train_explainer(const ExplainerRecipe& recipe, const Operator& backbone, const data::Dataset& data,
                                std::uint64_t seed, const std::filesystem::path& folder);

}  // namespace opshap::training
