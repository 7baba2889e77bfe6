#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/explainer.hpp"
#include "core/field.hpp"
#include "core/operator.hpp"
#include "core/rng.hpp"
#include "devices/fno_kernels.hpp"
#include "networks/recipe.hpp"
#include "operators/normalisation.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

struct ChannelPerceptron;

/// The coalition engines of one trained network, on the network's own device.
class CoalitionEngines {
 public:
  virtual ~CoalitionEngines() = default;
  /// As Operator::coalition_engine.
  virtual std::unique_ptr<CoalitionEngine> coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                            const Partition& partition,
                                                            const Readout& readout) const = 0;
  /// What computes, for Operator::coalition_path: "engine, avx512".
  virtual std::string path() const = 0;
};

/// Engines, or the reason why a network has none.
struct EngineChoice {
  std::unique_ptr<CoalitionEngines> engines;
  std::string why_not;
};

/// How coalitions of masked inputs are to be computed.
struct EngineRequest {
  bool on = true;  ///< by an engine, where there is one
  /// Of the kernels of GPUs, which are emulated where the network is on the processor; without one there are none.
  std::optional<devices::Arithmetic> arithmetic = {};

  EngineRequest(bool engine = true) : on(engine) {}
};

/// Throws InvalidArgument when kernels of GPUs are asked for; `what` has none.
void require_no_kernel(const EngineRequest& request, const std::string& what);

/// How a parameter is drawn before training.
struct Initial {
  /// On (−scale, scale); on (0, scale); with standard deviation `scale`; equal to `scale`.
  enum class Law { uniform, positive, normal, constant };
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

/// A tensor of the reference's state_dict that is no parameter, since it follows from the config. It is written beside
/// the parameters, so that the reference can read the file. A file need not have it; one that has it must agree.
struct Constant {
  std::string name;
  torch::Tensor value;
};

/// A neural operator as a function of tensors. Fields are points first: [points, B, C], so that every layer is one
/// matrix product for the whole batch.
///
/// Computation is safe to call from several threads. Parameters are changed only by training and loading.
class Network {
 public:
  /// The parameters are real tensors of the options' dtype and device.
  explicit Network(const torch::TensorOptions& options) : options_(options), fused_(options.device().is_cpu()) {}
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  /// Every key with its value.
  virtual networks::NetworkConfig config() const = 0;
  /// The architecture and the sizes that tell two of its networks apart: "fno 1D, width 64, 16 modes, 4 layers".
  virtual std::string describe() const = 0;
  virtual int dimension() const = 0;
  virtual int input_channels() const = 0;
  virtual int output_channels() const = 0;

  const torch::TensorOptions& options() const { return options_; }
  std::vector<Parameter>& parameters() { return parameters_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<Constant>& constants() const { return constants_; }

  /// Whether layers run as kernels of our own, where there are any, rather than as operations of LibTorch alone. True
  /// on the CPU; setting it to false gives the formulation that the kernels are compared with.
  bool fused() const { return fused_; }
  void set_fused(bool fused) { fused_ = fused && options_.device().is_cpu(); }

  /// The domain of the data that it learned from, on its native grid; nothing where nobody said. It travels with the
  /// weights.
  const std::optional<Domain>& native_domain() const { return native_domain_; }
  /// Throws InvalidArgument for a domain of another dimension.
  void set_native_domain(Domain domain);

  /// What stands around the network where it was trained on normalised fields. forward() is without it, as_operator()
  /// with it. It travels with the weights.
  const Normalisation& normalisation() const { return normalisation_; }
  void set_normalisation(Normalisation normalisation) { normalisation_ = std::move(normalisation); }

  /// What the network was trained for, where it is an explainer; of a backbone problem and data. It travels with the
  /// weights.
  const TrainedFor& trained_for() const { return trained_for_; }
  void set_trained_for(TrainedFor facts) { trained_for_ = std::move(facts); }

  /// What knows its configuration, normalisers and parameters again.
  virtual std::string checksum() const;

  /// [points, B, Cin] to [points, B, Cout], points in the order of the domain.
  virtual torch::Tensor forward(const torch::Tensor& fields, const Domain& domain) const = 0;
  /// forward() at one point: [B, Cout]. What other points need only for themselves is left out.
  virtual torch::Tensor forward_at(const torch::Tensor& fields, const Domain& domain, std::int64_t point) const = 0;
  /// Whether forward_mean_field works.
  virtual bool has_mean_field() const { return false; }
  /// Operator::mean_field_at as tensors: `shown` and `hidden` [points, 1, Cin] or both [points, B, Cin], `inclusion`
  /// [points, B] to [B, Cout] at the point, or to [points, B, Cout] without one.
  virtual torch::Tensor forward_mean_field(const torch::Tensor& shown, const torch::Tensor& hidden,
                                           const torch::Tensor& inclusion, const Domain& domain,
                                           std::optional<std::int64_t> point) const;
  /// Operator::has_kinks().
  virtual bool has_kinks() const { return false; }
  /// Called before gradients of these fields are computed. A model of which nothing is known looks once whether it has
  /// them. Throws NumericalError.
  virtual void check_gradients(const FieldBatch& /*fields*/, Query /*query*/) const {}
  /// Coalition engines for the network's device and precision. The parameters must not change any more. Throws
  /// InvalidArgument where kernels of GPUs are asked for, and there are none for such a network.
  virtual EngineChoice engines(const EngineRequest& request = {}) const;
  /// Numbers in the widest activation of one field on this domain.
  virtual std::int64_t activations(const Domain& domain) const = 0;

 protected:
  /// Adds a real parameter, and returns its value.
  torch::Tensor add(std::string name, std::vector<std::int64_t> shape, Initial initial);
  /// Adds a complex parameter with this value, [shape..., 2].
  torch::Tensor add_complex(std::string name, torch::Tensor value, Initial initial);
  /// Adds weight and bias of a linear layer or convolution; `shape` [outputs, inputs, ...] is that of the weight.
  std::pair<torch::Tensor, torch::Tensor> add_linear(const std::string& name, const std::vector<std::int64_t>& shape);
  /// Adds the layers of a perceptron with these sizes, from the input to the output: one or two layers.
  ChannelPerceptron add_perceptron(const std::string& name, const std::vector<std::int64_t>& sizes);
  /// Adds weight and bias of a spectral convolution, drawn as in neuraloperator.
  std::pair<torch::Tensor, torch::Tensor> add_spectral(const std::string& name, std::int64_t width,
                                                       const std::vector<int>& modes);
  /// Adds a constant, cast to the network's dtype and device.
  void add_constant(std::string name, const torch::Tensor& value);
  /// Adds all parameters and constants of a network that this one is made of. They share their storage.
  void adopt(const Network& part);

 private:
  torch::TensorOptions options_;
  bool fused_;
  std::optional<Domain> native_domain_;
  Normalisation normalisation_;
  TrainedFor trained_for_;
  std::vector<Parameter> parameters_;
  std::vector<Constant> constants_;
};

/// dtype and device. `device` is "cpu" or "cuda:0" (any number). Throws InvalidArgument for another text,
/// EnvironmentError when there is no such GPU.
torch::TensorOptions tensor_options(networks::Precision precision, const std::string& device);

/// The network of a CONFIG with parameters that are zero. Throws InvalidArgument for a model that is not registered,
/// and as Architecture::make.
std::unique_ptr<Network> make_network(const networks::NetworkConfig& config, const torch::TensorOptions& options);
/// The CONFIG for these spaces of a network with a profile's settings. Throws as Architecture::fitted.
networks::NetworkConfig fitted(const networks::NetworkSettings& settings, networks::NetworkSpaces spaces);
/// Draws all parameters, each from its own stream.
void initialise(Network& network, std::uint64_t seed);

/// Reads config, domain, normalisers and parameters. Throws DataError for missing and unexpected tensors (listed),
/// wrong shapes, parameters that are not finite, and constants that are not those of the config.
std::unique_ptr<Network> load_network(const std::filesystem::path& path, const torch::TensorOptions& options);
/// Writes config, domain and normalisers (where there are any), parameters and constants as a safetensors file, in one
/// step.
void save_network(const Network& network, const std::filesystem::path& path);

/// How many fields of this domain make a good chunk: their widest activation fills a core's second-level cache (larger
/// chunks are slower), or 256 MiB of a GPU.
std::int64_t cached_batch(const Network& network, const Domain& domain);

/// The network with its normalisers, from now on only read, behind the interface of core; masked inputs go to the
/// coalition engine where it covers the network and the request is for one.
std::unique_ptr<Operator> as_operator(std::unique_ptr<Network> network, const EngineRequest& request = {});

/// Fields first..first+count-1 as [points, count, C] of the options' dtype and device: the one place where numbers are
/// cast.
torch::Tensor to_tensor(const FieldBatch& fields, std::int64_t first, std::int64_t count,
                        const torch::TensorOptions& options);
/// The inverse of to_tensor for one chunk: writes [points, B, C] to fields first..first+B-1.
void from_tensor(const torch::Tensor& tensor, FieldBatch& fields, std::int64_t first);

/// The law of weights and biases of a linear layer or convolution in PyTorch, where each output is a sum over `inputs`
/// numbers.
inline Initial law_of_linear(std::int64_t inputs) {
  return {Initial::Law::uniform, 1 / std::sqrt(static_cast<double>(inputs))};
}

/// One kind of neural operator: what can be done without a network in hand.
///
/// Adding one: a file in lib/operators with its configuration, its layers and its engines, and a line in registry.def.
/// Properties, benchmarks and `opshap list` find it there.
class Architecture {
 public:
  virtual ~Architecture() = default;

  /// The dimensions of the grids that its networks work on.
  virtual std::vector<int> dimensions() const = 0;
  /// Whether its networks work on the points of any domain, meshes among them, and not on grids alone.
  virtual bool on_meshes() const { return false; }
  /// Whether its CONFIG has the key of an InverseShift.
  virtual bool shifts_spectra() const { return false; }
  /// The network of a CONFIG with parameters that are zero. Throws DataError for a key that is unknown and for a value
  /// that cannot work, naming it. An absent key has the default of the reference's constructor.
  virtual std::unique_ptr<Network> make(const networks::NetworkConfig& config,
                                        const torch::TensorOptions& options) const = 0;
  /// The CONFIG for these spaces of a network with a profile's settings. Throws InvalidArgument for a setting that is
  /// unknown or cannot work, naming it.
  virtual networks::NetworkConfig fitted(const networks::NetworkSettings& settings,
                                         networks::NetworkSpaces spaces) const = 0;
  /// The name that a tensor of a weight file has among the parameters of the network with this CONFIG. An architecture
  /// knows the names of older versions of its reference, and further names for one tensor. Throws DataError for a name
  /// of a version whose networks compute something else.
  virtual std::string parameter_name(const std::string& stored, const networks::NetworkConfig& /*config*/) const {
    return stored;
  }
  /// The paper's settings: those of profile `paper`.
  virtual networks::NetworkSettings of_the_paper() const = 0;
};

}  // namespace opshap::operators
