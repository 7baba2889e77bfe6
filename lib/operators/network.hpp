#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/field.hpp"
#include "core/operator.hpp"
#include "core/rng.hpp"
#include "engines/fno_weights.hpp"
#include "operators/config.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

class FnoCoalitions;

/// How a parameter is drawn before training.
struct Initial {
  /// On (−scale, scale); with standard deviation `scale`; equal to `scale`.
  enum class Law { uniform, normal, constant };
  Law law = Law::uniform;
  double scale = 1;
};

/// One tensor of a network, under the name it has in the Python reference's state_dict.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> shape;  ///< as in the state_dict; a complex tensor has no trailing 2 here
  bool complex = false;
  Initial initial;
  /// Real; [shape..., 2] when complex, so that optimisers and casts see real numbers. Dense, but not always row-major.
  torch::Tensor value;
};

/// A neural operator as a function of tensors. Fields are points first: [points, B, C], so that every layer is one
/// matrix product for the whole batch.
///
/// Computation is safe to call from several threads. Parameters are changed only by training and loading.
/// Adding one: a file in lib/operators and a line in registry.def.
class Network {
 public:
  /// The parameters are real tensors of the options' dtype and device.
  Network(OperatorConfig config, const torch::TensorOptions& options)
      : config_(std::move(config)), options_(options), fused_(options.device().is_cpu()) {}
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  const OperatorConfig& config() const { return config_; }
  const torch::TensorOptions& options() const { return options_; }
  int dimension() const { return static_cast<int>(config_.n_modes.size()); }
  std::vector<Parameter>& parameters() { return parameters_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  /// Whether layers run as kernels of our own, where there are any, rather than as operations of LibTorch alone. True on the CPU; setting it to false gives the
  /// formulation that the kernels are compared with.
  bool fused() const { return fused_; }
  void set_fused(bool fused) { fused_ = fused && options_.device().is_cpu(); }

  /// [points, B, Cin] to [points, B, Cout] on a grid of this shape (points = its product, axis 1 fastest).
  virtual torch::Tensor forward(const torch::Tensor& fields, const std::vector<int>& shape) const = 0;
  /// forward() at one point: [B, Cout]. What other points need only for themselves is left out.
  virtual torch::Tensor forward_at(const torch::Tensor& fields, const std::vector<int>& shape,
                                   std::int64_t point) const = 0;
  /// Whether forward_mean_field_at works.
  virtual bool has_mean_field() const { return false; }
  /// Operator::mean_field_at as tensors: `shown` and `hidden` [points, 1, Cin], `inclusion` [points, B] to [B, Cout].
  virtual torch::Tensor forward_mean_field_at(const torch::Tensor& shown, const torch::Tensor& hidden,
                                              const torch::Tensor& inclusion, const std::vector<int>& shape,
                                              std::int64_t point) const;
  /// The parameters for the coalition engine of the CPU, where it covers this network.
  virtual std::optional<engines::FnoWeights> engine_weights() const { return std::nullopt; }
  /// Coalition engines for any device, or nullptr where they do not cover this network. The parameters must not change any more.
  virtual std::unique_ptr<FnoCoalitions> device_engines() const;
  /// Numbers in the widest activation of one field on this grid.
  virtual std::int64_t activations(const std::vector<int>& shape) const = 0;

 protected:
  /// Adds a real parameter, and returns its value.
  torch::Tensor add(std::string name, std::vector<std::int64_t> shape, Initial initial);
  /// Adds a complex parameter with this value, [shape..., 2].
  torch::Tensor add_complex(std::string name, torch::Tensor value, Initial initial);

 private:
  OperatorConfig config_;
  torch::TensorOptions options_;
  bool fused_;
  std::vector<Parameter> parameters_;
};

/// dtype and device. `device` is "cpu" or "cuda:0" (any number). Throws InvalidArgument for another text, EnvironmentError when there is no such GPU.
torch::TensorOptions tensor_options(Precision precision, const std::string& device);

/// The network of a config with parameters that are zero. Throws InvalidArgument for a model that is not registered.
std::unique_ptr<Network> make_network(const OperatorConfig& config, const torch::TensorOptions& options);
/// Draws all parameters, each from its own stream.
void initialise(Network& network, std::uint64_t seed);

/// Reads config and parameters. Throws DataError for missing and unexpected tensors (listed), wrong shapes, and parameters that are not finite.
std::unique_ptr<Network> load_network(const std::filesystem::path& path, const torch::TensorOptions& options);
/// Writes config and parameters as a safetensors file, in one step.
void save_network(const Network& network, const std::filesystem::path& path);

/// How many fields of this grid make a good chunk: their widest activation fills a core's second-level cache (larger
/// chunks are slower), or 256 MiB of a GPU.
std::int64_t cached_batch(const Network& network, const std::vector<int>& shape);

/// The network, from now on only read, behind the interface of core; with `engine` masked inputs go to the coalition engine where it covers the network.
std::unique_ptr<Operator> make_operator(std::unique_ptr<Network> network, bool engine = true);

/// Fields first..first+count-1 as [points, count, C] of the options' dtype and device: the one place where numbers are cast.
torch::Tensor to_tensor(const FieldBatch& fields, std::int64_t first, std::int64_t count,
                        const torch::TensorOptions& options);
/// The inverse of to_tensor for one chunk: writes [points, B, C] to fields first..first+B-1.
void from_tensor(const torch::Tensor& tensor, FieldBatch& fields, std::int64_t first);

}  // namespace opshap::operators
