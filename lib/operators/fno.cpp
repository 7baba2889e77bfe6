#include "operators/fno.hpp"

#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "engines/fno_engines.hpp"
#include "operators/fno_coalitions.hpp"
#include "operators/grid_padding.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"
#include "operators/spectral_convolution.hpp"

namespace opshap::operators {

namespace {

// In the order of the enumerations.
const std::vector<std::string> skips = {"none", "identity", "linear", "soft-gating"},
                               activations = {"gelu", "relu", "tanh", "silu"},
                               norms = {"none", "instance_norm", "group_norm", "batch_norm"},
                               stabilizers = {"none", "tanh"};
constexpr double largest_ratio = 64;

template <typename Choice>
const std::string& name_of(Choice choice, const std::vector<std::string>& names) {
  return names[static_cast<std::size_t>(choice)];
}

/// null is the choice "none", where there is one.
template <typename Choice>
void read_choice(ConfigReader& reader, const char* key, Choice& choice, const std::vector<std::string>& names) {
  const std::string& absent = name_of(choice, names);
  const std::string found =
      names.front() == "none" ? reader.choice_or_none(key, absent, names) : reader.choice(key, absent, names);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (found == names[i]) choice = static_cast<Choice>(i);
}

/// Settings of the reference that change what a network computes, and the one value of each that there is here.
void refuse_others(ConfigReader& reader) {
  const struct {
    const char *key, *only, *why;
  } settings[] = {
      {"resolution_scaling_factor", "null",
       "resamples the skips inside a block, so that the output would depend on the grid beyond what the operator does"},
      {"complex_data", "false", "needs complex fields; here they are real"},
      {"preactivation", "false", "activates before the spectral convolution; here blocks activate after it"},
      {"separable", "false", "has spectral weights that mix no channels; here they do"},
      {"fno_block_precision", "\"full\"", "rounds spectra to half precision; here they are computed in full"},
      {"max_n_modes", "null", "keeps weights of modes that are not used; here all are"},
  };
  for (const auto& [key, only, why] : settings)
    if (const std::string value = reader.json(key, only); value != only) reader.reject(message(key, "=", value), why);
}

/// Settings that change nothing once the weights are expanded, or outside of a training.
void pass_over(ConfigReader& reader) {
  reader.choice_or_none("factorization", "none",
                        {"none", "dense", "Dense", "tucker", "Tucker", "cp", "CP", "tt", "TT"});
  for (const char* key : {"rank", "fixed_rank_modes", "implementation", "decomposition_kwargs", "channel_mlp_dropout"})
    reader.json(key, "null");
}

}  // namespace

FnoOptions FnoOptions::read(ConfigReader& reader) {
  FnoOptions options;
  BlockOptions& block = options.block;
  options.lifting_channel_ratio = reader.fraction("lifting_channel_ratio", 2, largest_ratio);
  options.projection_channel_ratio = reader.fraction("projection_channel_ratio", 2, largest_ratio);
  options.use_channel_mlp = reader.truth("use_channel_mlp", true);
  options.channel_mlp_expansion = reader.fraction("channel_mlp_expansion", 0.5, largest_ratio);
  read_choice(reader, "fno_skip", block.skip, skips);
  read_choice(reader, "channel_mlp_skip", block.mlp_skip, skips);
  read_choice(reader, "non_linearity", block.activation, activations);
  read_choice(reader, "norm", block.norm, norms);
  read_choice(reader, "stabilizer", block.stabilizer, stabilizers);
  if (!options.use_channel_mlp) block.mlp_skip = Skip::none;  // the reference has none either then
  refuse_others(reader);
  pass_over(reader);
  return options;
}

void FnoOptions::write(nlohmann::ordered_json& config) const {
  const FnoOptions usual;
  const auto add = [&](const char* key, const auto& value, const auto& absent) {
    if (value != absent) config[key] = value;
  };
  const auto add_choice = [&](const char* key, auto choice, auto absent, const std::vector<std::string>& names) {
    if (choice == absent) return;
    const std::string& name = name_of(choice, names);
    config[key] = name == "none" ? nlohmann::ordered_json() : nlohmann::ordered_json(name);
  };
  add("lifting_channel_ratio", lifting_channel_ratio, usual.lifting_channel_ratio);
  add("projection_channel_ratio", projection_channel_ratio, usual.projection_channel_ratio);
  add("use_channel_mlp", use_channel_mlp, usual.use_channel_mlp);
  add("channel_mlp_expansion", channel_mlp_expansion, usual.channel_mlp_expansion);
  add_choice("fno_skip", block.skip, usual.block.skip, skips);
  if (use_channel_mlp) add_choice("channel_mlp_skip", block.mlp_skip, usual.block.mlp_skip, skips);
  add_choice("non_linearity", block.activation, usual.block.activation, activations);
  add_choice("norm", block.norm, usual.block.norm, norms);
  add_choice("stabilizer", block.stabilizer, usual.block.stabilizer, stabilizers);
}

int FnoOptions::mlp_channels(int width) const {
  return static_cast<int>(std::lrint(width * channel_mlp_expansion));  // half to even, as Python's round
}

std::string FnoOptions::beyond_kernels() const {
  if (!use_channel_mlp) return "use_channel_mlp=false";
  if (block.mlp_skip == Skip::linear) return "channel_mlp_skip=linear";
  if (block.activation != Activation::gelu) return "non_linearity=" + name_of(block.activation, activations);
  if (block.norms_whole_fields()) return "norm=" + name_of(block.norm, norms);
  if (block.stabilizer != Stabilizer::none) return "stabilizer=" + name_of(block.stabilizer, stabilizers);
  return "";
}

// The Fourier neural operator, in one and two dimensions, with the layers, names and defaults of neuraloperator 2.0.0.
// Source: Li et al. (2021), Fourier Neural Operator for Parametric Partial Differential Equations.

namespace {

using torch::Tensor;
using Shape = std::vector<std::int64_t>;

/// (x − mean)/√(variance + ε)·weight + bias with numbers that come from a training: a factor and a shift.
struct BatchNorm {
  Tensor weight, bias, mean, variance;

  Affine affine() const {
    const Tensor factor = weight * torch::rsqrt(variance + 1e-5);
    return {.weight = factor, .bias = bias - mean * factor};
  }
};

/// In the order of the state_dict, whatever the layout in memory.
std::vector<float> numbers(const Tensor& tensor) {
  const Tensor dense = tensor.detach().contiguous();
  return {dense.data_ptr<float>(), dense.data_ptr<float>() + dense.numel()};
}

engines::FnoWeights::Linear packed(const Tensor& weight, const Tensor& bias) {
  return {.inputs = static_cast<int>(weight.size(1)),
          .outputs = static_cast<int>(weight.size(0)),
          .weight = numbers(weight),
          .bias = bias.defined() ? numbers(bias) : std::vector<float>{}};
}

/// The engine of the CPU.
class CpuEngines final : public CoalitionEngines {
 public:
  explicit CpuEngines(engines::FnoWeights weights) : engines_(std::move(weights)) {}
  std::unique_ptr<CoalitionEngine> coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                    const Partition& partition, const Readout& readout) const override {
    return engines_.coalition_engine(shown, hidden, partition, readout);
  }
  std::string path() const override { return "engine, " + engines_.instruction_set(); }

 private:
  engines::FnoEngines engines_;
};

class Fno final : public Network {
 public:
  Fno(const FnoConfig& config, const torch::TensorOptions& options) : Network(options), config_(config) {
    const FnoOptions& chosen = config.options;
    const std::int64_t width = config.hidden_channels, lifting = chosen.lifting_channels(config.hidden_channels),
                       projection = chosen.projection_channels(config.hidden_channels),
                       mlp = chosen.mlp_channels(config.hidden_channels);
    const std::int64_t entry = config.in_channels + (config.knows_places() ? dimension() : 0);
    require<DataError>(mlp >= 1 || !chosen.use_channel_mlp, "operator config: hidden_channels=", width,
                       " (the channel MLP has ", chosen.channel_mlp_expansion, " times as many). Give more.");
    require<DataError>(projection >= 1, "operator config: projection_channel_ratio=", chosen.projection_channel_ratio,
                       " (the projection would have no hidden channel). Give at least 1.");
    Shape gate_shape(2 + config.n_modes.size(), 1);
    gate_shape[1] = width;
    const auto add_skip = [&](const std::string& name, Skip kind) {
      if (kind == Skip::linear) return add(name + ".conv.weight", {width, width, 1}, law_of_linear(width));
      if (kind == Skip::soft_gating) return add(name + ".weight", gate_shape, {Initial::Law::constant, 1});
      return Tensor();
    };
    lifting_ = add_perceptron("lifting", lifting > 0 ? Shape{entry, lifting, width} : Shape{entry, width});
    for (int index = 0; index < config.n_layers; ++index) {
      const std::string at = message(".", index);
      FnoLayer layer;
      std::tie(layer.spectral_weight, layer.spectral_bias) =
          add_spectral("fno_blocks.convs" + at, width, config.n_modes);
      PointwiseWeights& pointwise = layer.block.pointwise;
      pointwise.skip = add_skip("fno_blocks.fno_skips" + at, chosen.block.skip);
      if (chosen.use_channel_mlp) {
        pointwise.mlp = add_perceptron("fno_blocks.channel_mlp" + at, {width, mlp, width});
        (chosen.block.mlp_skip == Skip::linear ? layer.block.mlp_skip : pointwise.gate) =
            add_skip("fno_blocks.channel_mlp_skips" + at, chosen.block.mlp_skip);
      }
      for (const int which : {0, 1}) {
        const auto add_numbers = [&](const std::string& name, double value) {
          return add(message("fno_blocks.norm.", 2 * index + which, name), {width}, {Initial::Law::constant, value});
        };
        if (chosen.block.norm == Norm::group_norm)
          (which == 0 ? layer.block.first : layer.block.second) = {.weight = add_numbers(".weight", 1),
                                                                   .bias = add_numbers(".bias", 0)};
        if (chosen.block.norm == Norm::batch_norm)
          batch_norms_.push_back({.weight = add_numbers(".norm.weight", 1),
                                  .bias = add_numbers(".norm.bias", 0),
                                  .mean = add_numbers(".norm.running_mean", 0),
                                  .variance = add_numbers(".norm.running_var", 1)});
      }
      layers_.push_back(layer);
    }
    projection_ = add_perceptron("projection", {width, projection, config.out_channels});
  }

  networks::NetworkConfig config() const override { return config_; }
  std::string describe() const override {
    std::string modes;
    for (const int count : config_.n_modes) modes += message(modes.empty() ? "" : "x", count);
    return message("fno ", dimension(), "D, width ", config_.hidden_channels, ", ", modes, " modes, ", config_.n_layers,
                   " layers", config_.knows_volumes() ? ", quadrature by volumes" : "");
  }
  int dimension() const override { return static_cast<int>(config_.n_modes.size()); }
  int input_channels() const override { return config_.in_channels; }
  int output_channels() const override { return config_.out_channels; }

  Tensor forward(const Tensor& fields, const Domain& domain) const override {
    const std::vector<int>& shape = domain.shape();
    const GridPadding padding = padding_on(domain);
    if (in_kernels()) return fused_forward(fields, shape, padding, padding.inside());
    const auto basis = basis_on(padding);
    Tensor x = padding.pad(lift(fields, shape));
    for (std::size_t index = 0; index < layers_.size(); ++index) x = block(x, index, *basis);
    return project(padding.crop(x));
  }

  Tensor forward_at(const Tensor& fields, const Domain& domain, std::int64_t point) const override {
    const std::vector<int>& shape = domain.shape();
    const GridPadding padding = padding_on(domain);
    if (in_kernels()) return fused_forward(fields, shape, padding, padding.one(point)).squeeze(0);
    const auto basis = basis_on(padding);
    Tensor x = padding.pad(lift(fields, shape));
    for (std::size_t index = 0; index + 1 < layers_.size(); ++index) x = block(x, index, *basis);
    const std::size_t last = layers_.size() - 1;
    const std::int64_t place = padding.padded_point(point);
    if (options_of_blocks().norms_whole_fields()) return project(block(x, last, *basis).select(0, place));
    const Tensor coefficients = spectral(stabilised(x), last, *basis);
    return project(pointwise_part(basis->inverse_at(coefficients, place), x.select(0, place), last));
  }

  bool has_kinks() const override { return options_of_blocks().activation == Activation::relu; }

  // A norm of whole fields ties each point to the probabilities of all others.
  bool has_mean_field() const override { return !options_of_blocks().norms_whole_fields(); }

  Tensor forward_mean_field(const Tensor& shown, const Tensor& hidden, const Tensor& inclusion, const Domain& domain,
                            std::optional<std::int64_t> point) const override {
    const std::vector<int>& shape = domain.shape();
    const GridPadding padding = padding_on(domain);
    const auto basis = basis_on(padding);
    const std::int64_t batch = inclusion.size(1);
    // The branches lie side by side, the shown states first. In the padding they are equal, whatever the probability
    // there.
    const Tensor probability = padding.pad(inclusion.unsqueeze(2));
    const auto mean = [batch](const Tensor& x, const Tensor& t) {
      return torch::lerp(x.narrow(-2, batch, batch), x.narrow(-2, 0, batch), t);
    };
    Tensor x = padding.pad(lift(torch::cat({shown, hidden}, 1), shape));
    if (shown.size(1) == 1) x = x.repeat_interleave(batch, 1);
    for (std::size_t index = 0; index + 1 < layers_.size(); ++index) {
      const Tensor shared = basis->inverse(spectral(mean(stabilised(x), probability), index, *basis));
      x = pointwise_part(torch::cat({shared, shared}, 1), x, index);
    }
    const std::size_t last = layers_.size() - 1;
    const Tensor mixed = spectral(mean(stabilised(x), probability), last, *basis);
    const auto finish = [&](const Tensor& shared, const Tensor& own, const Tensor& t) {
      return mean(project(pointwise_part(torch::cat({shared, shared}, -2), own, last)), t);
    };
    if (!point) return finish(padding.crop(basis->inverse(mixed)), padding.crop(x), inclusion.unsqueeze(2));
    const std::int64_t place = padding.padded_point(*point);
    return finish(basis->inverse_at(mixed, place), x.select(0, place), probability.select(0, place));
  }

  EngineChoice engines(const EngineRequest& request) const override {
    if (request.arithmetic) return kernel_engines(*request.arithmetic);
    if (config_.knows_volumes())
      return {.engines = nullptr, .why_not = "the engines' Fourier sums count every point as much"};
    std::string beyond = config_.options.beyond_kernels();
    if (beyond.empty() && !lifting_.weight1.defined()) beyond = "lifting_channel_ratio=0";
    if (!beyond.empty()) return {.engines = nullptr, .why_not = "the engines have no " + beyond};
    if (!options().device().is_cpu() && config_.options != FnoOptions{})
      return {.engines = nullptr, .why_not = "the engine of GPUs has the default options alone"};
    if (!options().device().is_cpu())
      return {.engines = std::make_unique<FnoCoalitions>(config_, options(), parameters()), .why_not = {}};
    if (options().dtype() != torch::kFloat32)
      return {.engines = nullptr, .why_not = "the CPU's engine works in float32"};
    return {.engines = std::make_unique<CpuEngines>(engine_weights()), .why_not = {}};
  }

  std::int64_t activations(const Domain& domain) const override {
    return padding_on(domain).padded_points() * config_.hidden_channels;
  }

 private:
  EngineChoice kernel_engines(devices::Arithmetic arithmetic) const {
    const bool plain =
        !config_.knows_volumes() && config_.options == FnoOptions{} &&
        devices::has_kernel(config_.hidden_channels,
                            static_cast<int>(layers_.front().block.pointwise.mlp.bias0.size(0)), config_.n_layers);
    require(plain, "operator: --precision=", devices::name_of(arithmetic),
            " (the kernel has the default options, up to 64 "
            "channels and up to ",
            devices::FnoArguments::most_layers + 1, " layers; this is ", describe(), "). Give --precision float32.");
    return {.engines = std::make_unique<FnoCoalitions>(config_, options(), parameters(), arithmetic), .why_not = {}};
  }

  engines::FnoWeights engine_weights() const {
    engines::FnoWeights weights{.modes = config_.n_modes,
                                .width = config_.hidden_channels,
                                .in_channels = config_.in_channels,
                                .out_channels = config_.out_channels,
                                .padding = config_.domain_padding,
                                .both_sides = config_.domain_padding_mode == "symmetric",
                                .inverse_fftshift = config_.inverse_shift == InverseShift::fftshift,
                                .lifting0 = packed(weights_of_places(lifting_.weight0), lifting_.bias0),
                                .lifting1 = packed(lifting_.weight1, lifting_.bias1),
                                .projection0 = packed(projection_.weight0, projection_.bias0),
                                .projection1 = packed(projection_.weight1, projection_.bias1)};
    for (const FnoLayer& layer : in_standard_form()) {
      const auto& [skip, gate, mlp] = layer.block.pointwise;
      const std::vector<float> pairs = numbers(layer.spectral_weight);
      engines::FnoWeights::Layer& made = weights.layers.emplace_back();
      for (std::size_t i = 0; i < pairs.size(); i += 2) made.spectral.emplace_back(pairs[i], pairs[i + 1]);
      made.spectral_bias = numbers(layer.spectral_bias);
      made.skip = packed(skip, {});
      made.mlp0 = packed(mlp.weight0, mlp.bias0);
      made.mlp1 = packed(mlp.weight1, mlp.bias1);
      made.gate = numbers(gate);
    }
    return weights;
  }

  /// The first layer as one that gets places too: without any influence where the network does not know them.
  Tensor weights_of_places(const Tensor& weight) const {
    if (config_.knows_places()) return weight;
    return torch::cat({weight, torch::zeros({weight.size(0), dimension(), 1}, weight.options())}, 1);
  }

  Tensor lift(const Tensor& fields, const std::vector<int>& shape) const {
    return lifting_(config_.knows_places() ? with_places(fields, shape) : fields, fused(),
                    options_of_blocks().activation);
  }
  Tensor project(const Tensor& x) const { return projection_(x, fused(), options_of_blocks().activation); }

  const BlockOptions& options_of_blocks() const { return config_.options.block; }
  /// Whether the blocks run as kernels of our own.
  bool in_kernels() const { return fused() && config_.options.beyond_kernels().empty(); }

  /// A block with the matrix and the gate that its skips amount to. Norms by the numbers of a training are factors and
  /// shifts, which the layers before them take over.
  FnoLayer in_standard_form(std::size_t index) const {
    const BlockOptions& chosen = options_of_blocks();
    FnoLayer layer = layers_[index];
    PointwiseWeights& pointwise = layer.block.pointwise;
    // The kernels ask the skip whether gradients of weights are wanted, also where it has none itself.
    const Tensor ones =
        torch::ones({config_.hidden_channels}, options().requires_grad(layer.spectral_bias.requires_grad()));
    if (chosen.skip == Skip::soft_gating) pointwise.skip = torch::diag(pointwise.skip.view({-1})).unsqueeze(2);
    if (chosen.skip == Skip::identity) pointwise.skip = torch::diag(ones).unsqueeze(2);
    if (chosen.skip == Skip::none) pointwise.skip = torch::diag(0 * ones).unsqueeze(2);
    if (chosen.mlp_skip == Skip::identity) pointwise.gate = ones;
    if (chosen.mlp_skip == Skip::none) pointwise.gate = torch::zeros_like(ones);
    if (chosen.norm != Norm::batch_norm) return layer;
    const Affine first = batch_norms_[2 * index].affine(), second = batch_norms_[2 * index + 1].affine();
    Shape outputs(static_cast<std::size_t>(layer.spectral_weight.dim()), 1);
    outputs[1] = -1;
    layer.spectral_weight = layer.spectral_weight * first.weight.view(outputs);
    layer.spectral_bias = layer.spectral_bias.view({-1}) * first.weight + first.bias;
    if (!config_.options.use_channel_mlp) {
      layer.block.second = second;
      return layer;
    }
    const Tensor rows = second.weight.view({-1, 1, 1});
    pointwise.mlp.weight1 = pointwise.mlp.weight1 * rows;
    pointwise.mlp.bias1 = pointwise.mlp.bias1 * second.weight + second.bias;
    if (pointwise.gate.defined()) pointwise.gate = pointwise.gate.view({-1}) * second.weight;
    if (layer.block.mlp_skip.defined()) layer.block.mlp_skip = layer.block.mlp_skip * rows;
    return layer;
  }
  std::vector<FnoLayer> in_standard_form() const {
    std::vector<FnoLayer> layers;
    for (std::size_t index = 0; index < layers_.size(); ++index) layers.push_back(in_standard_form(index));
    return layers;
  }

  /// What the spectral convolution of a block sees of the block's input.
  Tensor stabilised(const Tensor& x) const {
    return options_of_blocks().stabilizer == Stabilizer::tanh ? torch::tanh(x) : x;
  }

  /// Mixed coefficients.
  Tensor spectral(const Tensor& x, std::size_t index, const FourierBasis& basis) const {
    const FnoLayer layer = in_standard_form(index);
    return mix(basis.transform(x), layer.spectral_weight, layer.spectral_bias, basis);
  }

  Tensor block(const Tensor& x, std::size_t index, const FourierBasis& basis) const {
    return pointwise_part(basis.inverse(spectral(stabilised(x), index, basis)), x, index);
  }

  /// What a block does besides its spectral convolution: `spectral` is the convolution and is overwritten, x is the
  /// block's input. The last block has no activation before and after its channel MLP.
  Tensor pointwise_part(const Tensor& spectral, const Tensor& x, std::size_t index) const {
    return block_with(options_of_blocks(), spectral, x, in_standard_form(index).block, index + 1 == layers_.size());
  }

  /// The output in a box of the padded grid, [points, B, Cout], with fused layers. The padding is never stored.
  Tensor fused_forward(const Tensor& fields, const std::vector<int>& shape, const GridPadding& padding,
                       const Box& wanted) const {
    return project(fused_fno(lift(fields, shape), in_standard_form(), *basis_on(padding), padding.inside(),
                             padding.whole(), wanted));
  }

  GridPadding padding_on(const Domain& domain) const {
    return {domain, config_.domain_padding, config_.domain_padding_mode == "symmetric"};
  }

  std::shared_ptr<const FourierBasis> basis_on(const GridPadding& padding) const {
    return fourier_basis(padding.padded(), config_.n_modes, options(), config_.inverse_shift,
                         config_.knows_volumes() ? padding.volume_quadratures() : std::vector<AxisQuadrature>{});
  }

  FnoConfig config_;
  std::vector<FnoLayer> layers_;
  std::vector<BatchNorm> batch_norms_;  ///< two for each layer, where there are any
  ChannelPerceptron lifting_, projection_;
};

const std::vector<std::string> quadratures = {"points", "volumes"};

class FnoArchitecture final : public ArchitectureOf<Fno, FnoConfig> {
 public:
  std::vector<int> dimensions() const override { return {1, 2}; }
  bool shifts_spectra() const override { return true; }

  FnoConfig fit(ConfigReader& reader, networks::NetworkSpaces spaces) const override {
    reader.require_keys({"modes", "width", "layers", "padding", "padding_mode"});
    FnoConfig config;
    fit_sizes(reader, config, spaces, spaces.dimension, 2);
    config.domain_padding = read_padding(reader, "padding", static_cast<std::size_t>(spaces.dimension));
    config.domain_padding_mode = reader.choice("padding_mode", "", padding_modes);
    config.positional_embedding = reader.choice("positional_embedding", "grid", embeddings);
    config.quadrature = reader.choice("quadrature", "points", quadratures);
    config.options = FnoOptions::read(reader);
    reader.finish();
    if (config.options.block.norm == Norm::batch_norm)
      reader.reject("norm=batch_norm", "takes its numbers from the batches of a training, which it does not do here");
    if (config.n_modes.size() != static_cast<std::size_t>(spaces.dimension))
      reader.reject("modes",
                    message("has ", config.n_modes.size(), " numbers; the data has ", spaces.dimension, " axes"));
    return config;
  }

  networks::NetworkSettings of_the_paper() const override {
    return {.model = "fno",
            .json = R"({"modes": 16, "width": 64, "layers": 4, "padding": 0.5, "padding_mode": "symmetric"})"};
  }
};

}  // namespace

FnoConfig FnoConfig::parse(const networks::NetworkConfig& json) {
  ConfigReader reader(json);
  reader.choice("model", "fno", {"fno"});
  FnoConfig config;
  read_sizes(reader, config, 1);
  config.domain_padding = read_padding(reader, "domain_padding", config.n_modes.size());
  config.domain_padding_mode = reader.choice("domain_padding_mode", config.domain_padding_mode, padding_modes);
  config.positional_embedding = reader.choice_or_none("positional_embedding", config.positional_embedding, embeddings);
  config.quadrature = reader.choice("quadrature", config.quadrature, quadratures);
  config.inverse_shift = read_inverse_shift(reader, config.inverse_shift);
  if (config.knows_volumes() && reader.has(inverse_shift_key) && config.inverse_shift == InverseShift::fftshift)
    reader.reject("inverse_shift=fftshift", "is of neuraloperator, which has no quadrature=volumes");
  config.options = FnoOptions::read(reader);
  reader.finish();
  return config;
}

FnoConfig::operator networks::NetworkConfig() const {
  nlohmann::ordered_json object = sizes_json("fno", *this);
  object["domain_padding"] = padding_json(domain_padding);
  object["domain_padding_mode"] = domain_padding_mode;
  if (!knows_places()) object["positional_embedding"] = nullptr;
  if (knows_volumes()) object["quadrature"] = quadrature;
  if (n_modes.size() == 2 && !knows_volumes()) object[inverse_shift_key] = to_string(inverse_shift);
  options.write(object);
  return {object.dump()};
}

std::unique_ptr<Architecture> fno() { return std::make_unique<FnoArchitecture>(); }

}  // namespace opshap::operators
