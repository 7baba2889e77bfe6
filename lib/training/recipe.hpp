#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/scenario.hpp"
#include "operators/network_config.hpp"

namespace opshap::training {

/// How a backbone is trained: AdamW, cosine schedule, MSE, early stopping on the validation MSE, best checkpoint kept
/// (paper, section Training).
struct BackboneRecipe {
  operators::NetworkSettings model;  ///< dimension and channels come from the data
  std::vector<int> resolutions;      ///< points per axis; each sample is served at the one of its slot
  int epochs = 200;
  int batch = 64;
  double learning_rate = 1e-3;
  double weight_decay = 1e-4;
  int patience = 50;  ///< epochs without a better validation loss before stopping
};

/// How an explainer is trained: by a target, with hard normalisation by volume and AdamW with linear warm-up and cosine
/// decay (paper, Algorithm 1 and section Training).
struct ExplainerRecipe {
  operators::NetworkSettings model;  ///< dimension and channels come from the data
  std::vector<int> resolutions;
  int epochs = 300;
  int batch = 64;
  double learning_rate = 3e-4;
  double weight_decay = 1e-5;
  int warmup_epochs = 5;
  int patience = 10;
  int coalitions = 128;             ///< per sample and step, even; of the target fastshap
  std::string target = "fastshap";  ///< registry name, targets.def
  ScenarioRule scenario;            ///< how a field becomes a game
};

/// What a finished training did, also its last line in metrics.jsonl.
struct TrainingSummary {
  std::int64_t epochs = 0, best_epoch = 0;
  double best_validation = 0;
  std::int64_t operator_evaluations = 0;  ///< backbone forwards spent on coalition values, validation included
  double seconds = 0;                     ///< wall time of all epochs, over interruptions
};

}  // namespace opshap::training
