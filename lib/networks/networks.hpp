#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/explainer.hpp"
#include "core/operator.hpp"
#include "data/dataset.hpp"
#include "networks/recipe.hpp"

namespace opshap::networks {

/// The matrix multiplication that LibTorch uses, as found and measured in this process.
struct Blas {
  std::string name;   ///< "OpenBLAS 0.3.21 (OpenMP), kernels for SkylakeX", "MKL", "reference BLAS"
  std::string path;   ///< the library that provides sgemm; empty when it is inside LibTorch
  double gflops = 0;  ///< per thread: best of five single products of 512³ in float32
  bool fast = false;  ///< by its name: not the reference BLAS
  std::string fix;    ///< the command that installs a fast one; empty when fast
};

/// The LibTorch of this process.
struct Torch {
  std::string compiled;      ///< version the program was compiled against
  std::string library;       ///< where the loaded libtorch_cpu.so is
  bool as_compiled = false;  ///< the loaded one is in the folder the program was linked with
  std::string gpu;           ///< "none", or the names of the CUDA devices
};

/// Which of the processes that train one network together this one is.
struct Rank {
  int rank = 0, size = 1;

  bool alone() const { return size == 1; }
  /// Whether this one writes files and speaks.
  bool first() const { return rank == 0; }
};

/// An operator with prescribed parameters on a prescribed input, as numbers that any other implementation can be
/// compared with.
struct GoldenValues {
  /// Entries 0, size/2 and size−1 of the output [B, Cout, points], on a mesh of the output [B, points, Cout].
  double first = 0, middle = 0, last = 0;
  double mean = 0, l2 = 0;
};

/// What the labels of one field cost, in operator evaluations.
struct LabelCost {
  std::int64_t training = 0, validation = 0;
  bool once = false;  ///< the training asks before its first step, and keeps the answers
};

/// All that opshap does with LibTorch. libopshap-networks.so has the one object, which is loaded the first time that it
/// is asked for, so whatever needs no network starts without LibTorch. Functions throw as those that their comments
/// name.
class Networks {
 public:
  virtual ~Networks() = default;

  /// operators::examine_blas(), require_fast_blas(), examine_torch() and require_device().
  virtual Blas blas() const = 0;
  virtual void require_fast_blas() const = 0;
  virtual Torch torch() const = 0;
  virtual void require_device(const std::string& device) const = 0;

  /// operators::is_torch_script().
  virtual bool is_torch_script(const std::filesystem::path& path) const = 0;
  /// operators::load_operator().
  virtual std::unique_ptr<Operator> load_operator(const std::filesystem::path& path, const std::string& device = "cpu",
                                                  Precision precision = Precision::float32, bool engine = true,
                                                  const std::vector<std::int64_t>& input = {}) const = 0;
  /// operators::untrained_operator().
  virtual std::unique_ptr<Operator> untrained_operator(const NetworkConfig& config, std::uint64_t seed) const = 0;
  /// operators::golden_output() in five numbers.
  virtual GoldenValues golden_values(const NetworkConfig& config, const std::vector<std::int64_t>& input_shape,
                                     Precision precision, const std::string& device) const = 0;
  /// operators::inspected(): what a file of weights says of itself. `input` is the shape of an array that a TorchScript
  /// model is to get; empty where nobody says.
  virtual nlohmann::ordered_json inspected(const std::filesystem::path& weights, const std::vector<std::int64_t>& input,
                                           const std::string& device) const = 0;
  /// operators::import_weights().
  virtual void import_weights(const std::filesystem::path& from, const std::optional<NetworkConfig>& config,
                              const std::filesystem::path& to) const = 0;
  /// explainers::load_explainer().
  virtual std::unique_ptr<Explainer> load_explainer(const std::filesystem::path& weights, const Operator& explained,
                                                    const std::string& device) const = 0;

  /// Of training::Ranks::all(), and its leave().
  virtual Rank rank() const = 0;
  virtual void leave_ranks() const = 0;
  /// training::require_recipes(), train_backbone() and train_explainer().
  virtual void require_recipes(const BackboneRecipe& backbone, const ExplainerRecipe& explainer,
                               NetworkSpaces spaces) const = 0;
  virtual TrainingSummary train_backbone(const BackboneRecipe& recipe, const data::Dataset& data, std::uint64_t seed,
                                         const std::filesystem::path& folder,
                                         const std::string& device = "cpu") const = 0;
  virtual TrainingSummary train_explainer(const ExplainerRecipe& recipe, const Operator& backbone,
                                          const data::Dataset& data, std::uint64_t seed,
                                          const std::filesystem::path& folder, const std::vector<int>& snapshots = {},
                                          const std::string& device = "cpu") const = 0;
  /// training::training_identity() of an explainer.
  virtual std::string training_identity(const ExplainerRecipe& recipe, const Operator& backbone,
                                        const data::Dataset& data, std::uint64_t seed) const = 0;

  /// The CONFIG of the network that a recipe trains on a data set.
  virtual NetworkConfig backbone_config(const BackboneRecipe& recipe, const data::Dataset& data) const = 0;
  virtual NetworkConfig explainer_config(const ExplainerRecipe& recipe, const data::Dataset& data) const = 0;
  /// Of the recipe's target, for games of so many players.
  virtual LabelCost label_cost(const ExplainerRecipe& recipe, int players) const = 0;
  /// A training step of an untrained network on a batch of random fields, to be called again and again: what it costs
  /// is measured.
  virtual std::function<void()> training_step(const NetworkConfig& config, const Domain& native,
                                              const Resolution& resolution, int batch) const = 0;
  /// Numbers among the parameters of a network.
  virtual std::int64_t parameter_count(const NetworkConfig& config) const = 0;
};

/// The one object. The first call loads libopshap-networks.so, which lies beside libopshap.so. Throws EnvironmentError
/// where it is missing, cannot be loaded, or is of another build.
const Networks& library();

/// What libopshap-networks.so gives: its one function is `extern "C" Entry opshap_networks()`.
struct Entry {
  const char* build;  ///< what build.hpp has of libopshap.so
  const Networks* networks;
};

}  // namespace opshap::networks
