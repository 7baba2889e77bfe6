#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/explainer_base.hpp"
#include "core/scenario.hpp"

namespace opshap::networks {

/// The CONFIG of a network: the JSON object of its weight files, with the Python reference's names.
///
/// "model" names the architecture. Only that architecture knows what the other keys mean; everybody else hands the text
/// on.
struct NetworkConfig {
  std::string json = "{}";

  bool operator==(const NetworkConfig&) const = default;
};

/// An architecture and its settings before there is a data set: the table [operator] of a profile, as a JSON object.
///
/// What the settings mean is the architecture's own business. Dimension and channels are not among them: they come from
/// the data.
struct NetworkSettings {
  std::string model = "fno";
  std::string json = "{}";

  bool operator==(const NetworkSettings&) const = default;
};

/// What a data set asks of a network.
struct NetworkSpaces {
  int dimension = 1;
  int in_channels = 1;
  int out_channels = 1;
  /// x0, x1, y0, y1 of what all meshes lie in; none for grids and for clouds in the unit square.
  std::optional<std::array<double, 4>> box = {};
};

/// What a network computes with; fields are double on the outside. With the last three the kernels of a GPU multiply
/// coalitions' states by tensor cores (devices::Arithmetic); all else is in float32.
enum class Precision { float32, float64, tf32x3, tf32, bf16 };

/// How a backbone is trained: AdamW, cosine schedule, MSE, early stopping on the validation MSE, best checkpoint kept
/// (paper, section Training).
struct BackboneRecipe {
  NetworkSettings model;                ///< dimension and channels come from the data
  std::vector<Resolution> resolutions;  ///< points per axis; each sample is served at the one of its slot
  int epochs = 200;
  int batch = 64;
  double learning_rate = 1e-3;
  double weight_decay = 1e-4;
  int patience = 50;  ///< epochs without a better validation loss before stopping
  /// In what units it computes. "none": those of the fields. "fields": each channel of inputs and targets less its mean
  /// over the points of the training samples, over its deviation. "change": the same of the inputs, and of what they
  /// change by until the target, which the operator adds to its input.
  std::string normalisation = "none";
};

/// What the games of up to so many players are labelled with.
struct LabelRule {
  int players = 0;  ///< the most
  std::string target;
  std::int64_t evaluations = 0;  ///< as ExplainerRecipe::label_evaluations

  bool operator==(const LabelRule&) const = default;
};

/// How an explainer is trained: by a target, with hard normalisation by volume and AdamW with linear warm-up and cosine
/// decay (paper, Algorithm 1 and section Training). The defaults of the settings that the paper does not have are its
/// recipe.
struct ExplainerRecipe {
  NetworkSettings model;  ///< dimension and channels come from the data
  std::vector<Resolution> resolutions;
  int epochs = 300;
  int batch = 64;
  double learning_rate = 3e-4;
  double weight_decay = 1e-5;
  int warmup_epochs = 5;
  int patience = 10;                ///< 0: no early stopping: the cosine ends at 0, and the last weights are kept
  int coalitions = 128;             ///< per sample and step, even; of the targets fastshap and fastshap_reused
  std::string target = "fastshap";  ///< registry name, targets.def
  ScenarioRule scenario;            ///< how a field becomes a game

  /// What a label of one game may cost, in evaluations; 0 for the target's own choice. Of targets that are values.
  std::int64_t label_evaluations = 0;
  /// Other targets for games of few players, ascending. `target` is for the rest.
  std::vector<LabelRule> mixture;
  /// Each sample counts relative to the size of its values, and FastSHAP's coalitions as much at every resolution. Else
  /// n = 16 outweighs n = 1024 29 to 1. Values are always compared in this way.
  bool relative = false;
  /// As operators::DensityConfig::coordinates, or "query": query_angle and no padding where the domain is periodic,
  /// else query_offset and, for an FNO, the quadrature "volumes".
  std::string coordinates = "grid";
  bool atom = false;  ///< a second output for the query's own cell
  /// As operators::DensityConfig::cells; with coordinates "query" they are equal.
  std::string cells = "volumes";
  int fine_from = 0;              ///< as operators::DensityConfig::fine_from
  std::optional<double> padding;  ///< instead of the model's, as a fraction of each axis
  /// Instead of the model's: what a point counts in its Fourier sums, as operators::FnoConfig::quadrature.
  std::optional<std::string> quadrature;
  ExplainerBase base;           ///< what it corrects, instead of learning the whole attribution
  bool any_query = false;       ///< every sample is explained at a random point, and the network is told which
  double clipping = 0;          ///< as TrainingLoop::clipping
  double averaging = 0;         ///< of the weights: what the mean keeps of itself at a step; 0 for none
  std::int64_t unlabelled = 0;  ///< further inputs, drawn from the problem without solving it
  std::vector<double> unlabelled_shares;  ///< as data::Unlabelled::shares
};

/// What a finished training did, also its last line in metrics.jsonl.
struct TrainingSummary {
  std::int64_t epochs = 0, best_epoch = 0;
  double best_validation = 0;
  std::int64_t operator_evaluations = 0;  ///< backbone forwards spent on coalition values, validation included
  double seconds = 0;  ///< wall time of all epochs and of labels that are asked once, over interruptions
};

/// The file in a training's folder with the weights after an epoch.
inline std::string epoch_file(int epoch) { return "epoch_" + std::to_string(epoch) + ".safetensors"; }

}  // namespace opshap::networks
