#pragma once

#include <filesystem>
#include <string>

#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "training/training.hpp"

namespace opshap {

/// Trains a small backbone of a problem on the periodic unit interval in seconds: 112 samples on 16 to 64 points.
///
/// Writes what studies read of a run folder: data/<pde>.h5 with 8 test samples, and backbone/model.safetensors.
inline void train_small_backbone(const std::string& pde, const std::filesystem::path& run) {
  const std::filesystem::path file = run / "data" / (pde + ".h5");
  data::generate({.pde = pde,
                  .parameters = {},
                  .layout = {.samples = 136, .train = 112, .validation = 16, .test = 8, .resolutions = {16, 32, 64}}},
                 file);
  networks::BackboneRecipe recipe;
  recipe.model.json = R"({"modes": 16, "width": 16, "layers": 4, "padding": 0.5, "padding_mode": "symmetric"})";
  recipe.resolutions = {16, 32, 64};
  recipe.epochs = recipe.patience = 40;
  recipe.batch = 16;
  recipe.learning_rate = 4e-3;
  training::train_backbone(recipe, data::read_dataset(file), 42, run / "backbone");
}

}  // namespace opshap
