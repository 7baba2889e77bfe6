// The neural operator with localized integral and differential kernels, in two dimensions, with the layers, names and
// defaults of neuraloperator 2.0.0's LocalNO.
// Source: Liu-Schiaffini et al. (2024), Neural Operators with Localized Integral and Differential Kernels.

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "core/error.hpp"
#include "operators/config_reader.hpp"
#include "operators/fused_layers.hpp"
#include "operators/grid_padding.hpp"
#include "operators/layers.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"
#include "operators/spectral_convolution.hpp"
#include "operators/stencil.hpp"

namespace opshap::operators {

namespace {

using torch::Tensor;

constexpr int plane_axes = 2, most_points = 1 << 15;

/// The configuration, with the names and defaults of neuraloperator's LocalNO. What its constructor has no default for
/// is the paper's, apart from default_in_shape: the weights of the local branches mean nothing without it.
struct LocalNoConfig {
  std::vector<int> n_modes = {16, 16};
  int hidden_channels = 64;
  int n_layers = 4;
  int in_channels = 1;
  int out_channels = 1;
  engines::AxisFractions domain_padding = 0;
  std::string domain_padding_mode = "symmetric";
  std::string positional_embedding = "grid";
  InverseShift inverse_shift = InverseShift::fftshift;
  std::vector<int> default_in_shape;  ///< the grid whose spacing the local branches are scaled by
  std::vector<bool> disco_layers = {true, true, true, true}, diff_layers = disco_layers;

  bool knows_places() const { return positional_embedding == "grid"; }

  static LocalNoConfig parse(const networks::NetworkConfig& json) {
    ConfigReader reader(json);
    reader.choice("model", "local_no", {"local_no"});
    LocalNoConfig config;
    read_sizes(reader, config, 1);
    config.domain_padding = read_padding(reader, "domain_padding", plane_axes);
    config.domain_padding_mode = reader.choice("domain_padding_mode", config.domain_padding_mode, padding_modes);
    config.positional_embedding =
        reader.choice_or_none("positional_embedding", config.positional_embedding, embeddings);
    config.inverse_shift = read_inverse_shift(reader, config.inverse_shift);
    config.read_local_branches(reader);
    return config;
  }

  /// The last keys. Throws what the reader throws where the values do not go together.
  void read_local_branches(ConfigReader& reader) {
    default_in_shape = reader.per_axis("default_in_shape", {}, {.least = 1, .most = most_points});
    disco_layers = reader.truth_per_layer("disco_layers", true, n_layers);
    diff_layers = reader.truth_per_layer("diff_layers", true, n_layers);
    reader.finish();
    const auto any = [](const std::vector<bool>& layers) { return std::ranges::count(layers, true) > 0; };
    if (n_modes.size() != plane_axes)
      reader.reject(message("modes for ", n_modes.size(), " axes"), "LocalNO has two axes");
    if ((any(disco_layers) || any(diff_layers)) && default_in_shape.empty())
      reader.reject("default_in_shape", "is missing; it scales the weights of the local branches");
    if (!default_in_shape.empty() && default_in_shape.size() != plane_axes)
      reader.reject("default_in_shape", "needs two whole numbers, one for each axis");
    if (!any(disco_layers)) return;
    const int points = default_in_shape[0];
    const std::string shape = message("default_in_shape=[", points, ", ", default_in_shape[1], "]");
    if (points != default_in_shape[1])
      reader.reject(shape, "is no square; with DISCO layers the reference does not run on other shapes");
    if (points < 2 || !std::has_single_bit(static_cast<unsigned>(points)))
      reader.reject(shape,
                    "is no power of two; the reference's DISCO filter consists of rounding errors, which are known "
                    "for powers of two alone");
  }

  operator networks::NetworkConfig() const {
    nlohmann::ordered_json object = sizes_json("local_no", *this);
    object["domain_padding"] = padding_json(domain_padding);
    object["domain_padding_mode"] = domain_padding_mode;
    object[inverse_shift_key] = to_string(inverse_shift);
    object["disco_layers"] = disco_layers;
    object["diff_layers"] = diff_layers;
    if (!default_in_shape.empty()) object["default_in_shape"] = default_in_shape;
    if (!knows_places()) object["positional_embedding"] = nullptr;
    return {object.dump()};
  }
};

/// One block: gelu(spectral convolution + finite difference + DISCO + skip). Undefined where a branch is off.
struct LocalNoLayer {
  Tensor spectral_weight, spectral_bias, skip, difference, disco_weight, disco_bias;

  bool has_difference() const { return difference.defined(); }
  bool has_disco() const { return disco_weight.defined(); }
  /// What does not depend on the point: the spectral convolution's bias and that of the DISCO convolution.
  Tensor bias() const { return has_disco() ? spectral_bias.view({-1}) + disco_bias : spectral_bias; }
};

class LocalNo final : public Network {
 public:
  LocalNo(const LocalNoConfig& config, const torch::TensorOptions& options) : Network(options), config_(config) {
    const std::int64_t width = config.hidden_channels, wide = 2 * width;
    lifting_ = add_perceptron("lifting", {config.in_channels + (config.knows_places() ? plane_axes : 0), wide, width});
    int differences = 0, discos = 0;  // the reference numbers the layers that have a branch
    for (int index = 0; index < config.n_layers; ++index) {
      const auto named = [](const char* kind, int number, const char* rest) {
        return message("local_no_blocks.", kind, ".", number, rest);
      };
      LocalNoLayer layer;
      std::tie(layer.spectral_weight, layer.spectral_bias) =
          add_spectral(named("convs", index, ""), width, config.n_modes);
      layer.skip = add(named("local_no_skips", index, ".conv.weight"), {width, width, 1}, law_of_linear(width));
      if (config.diff_layers[static_cast<std::size_t>(index)])
        layer.difference = add(named("differential", differences++, ".conv.weight"), {width, width, 3, 3},
                               law_of_linear(Stencil::taps * width));
      if (config.disco_layers[static_cast<std::size_t>(index)]) {
        layer.disco_weight = add(named("local_convs", discos, ".weight"), {width, width, disco_functions},
                                 {Initial::Law::normal, 1 / std::sqrt(static_cast<double>(width))});
        layer.disco_bias = add(named("local_convs", discos++, ".bias"), {width}, {Initial::Law::constant, 0});
      }
      layers_.push_back(layer);
    }
    projection_ = add_perceptron("projection", {width, wide, config.out_channels});
  }

  networks::NetworkConfig config() const override { return config_; }
  std::string describe() const override {
    const auto branch = [](const std::vector<bool>& layers, const char* name) -> std::string {
      const auto count = std::count(layers.begin(), layers.end(), true);
      if (count == 0) return "";
      return count == static_cast<std::ptrdiff_t>(layers.size()) ? message(", ", name)
                                                                 : message(", ", name, " in ", count, " layers");
    };
    return message("local_no 2D, width ", config_.hidden_channels, ", ", config_.n_modes[0], "x", config_.n_modes[1],
                   " modes, ", config_.n_layers, " layers", branch(config_.disco_layers, "DISCO"),
                   branch(config_.diff_layers, "differences"));
  }
  int dimension() const override { return plane_axes; }
  int input_channels() const override { return config_.in_channels; }
  int output_channels() const override { return config_.out_channels; }

  Tensor forward(const Tensor& fields, const Domain& domain) const override {
    const GridPadding padding = padding_on(domain);
    if (fused()) return fused_forward(fields, domain, padding, padding.inside());
    const auto basis = basis_on(padding);
    const Tensor everywhere = all_points(padding);
    Tensor x = padding.pad(lift(fields, domain));
    for (const LocalNoLayer& layer : layers_) x = block(x, layer, padding, *basis, everywhere);
    return project(padding.crop(x));
  }

  Tensor forward_at(const Tensor& fields, const Domain& domain, std::int64_t point) const override {
    const GridPadding padding = padding_on(domain);
    if (fused()) return fused_forward(fields, domain, padding, padding.one(point)).squeeze(0);
    const auto basis = basis_on(padding);
    const Tensor everywhere = all_points(padding);
    Tensor x = padding.pad(lift(fields, domain));
    for (std::size_t index = 0; index + 1 < layers_.size(); ++index)
      x = block(x, layers_[index], padding, *basis, everywhere);
    const std::int64_t place = padding.padded_point(point);
    const Tensor local =
        stencil_sums(x, stencil(layers_.back(), padding), padding.padded(), everywhere.narrow(0, place, 1));
    return project(basis->inverse_at(spectral(x, layers_.back(), *basis), place) + local.squeeze(0));
  }

  bool has_mean_field() const override { return true; }

  /// A point's own state goes into the skip and into the centre of the stencils. Its neighbours come in by their means,
  /// like the integrals. A stencil reaches a fixed number of cells on every grid, so the fluctuations of the neighbours
  /// do not average out: the closure is an estimate here, and no limit.
  Tensor forward_mean_field(const Tensor& shown, const Tensor& hidden, const Tensor& inclusion, const Domain& domain,
                            std::optional<std::int64_t> point) const override {
    const GridPadding padding = padding_on(domain);
    const auto basis = basis_on(padding);
    const Tensor everywhere = all_points(padding);
    const std::int64_t batch = inclusion.size(1);
    // The branches lie side by side, the shown states first.
    const Tensor probability = padding.pad(inclusion.unsqueeze(2));
    const auto mean = [batch](const Tensor& x, const Tensor& t) {
      return torch::lerp(x.narrow(-2, batch, batch), x.narrow(-2, 0, batch), t);
    };
    const auto states = [](const Tensor& shared, const Tensor& means, const Tensor& own, const Stencil& local) {
      const Tensor both = torch::cat({means, means}, -2);
      return torch::cat({shared, shared}, -2) + torch::matmul(own - both, local.inside[Stencil::centre]);
    };
    Tensor x = padding.pad(lift(torch::cat({shown, hidden}, 1), domain));
    if (shown.size(1) == 1) x = x.repeat_interleave(batch, 1);
    for (std::size_t index = 0; index + 1 < layers_.size(); ++index) {
      const LocalNoLayer& layer = layers_[index];
      const Stencil local = stencil(layer, padding);
      const Tensor means = mean(x, probability);
      const Tensor shared =
          basis->inverse(spectral(means, layer, *basis)) + stencil_sums(means, local, padding.padded(), everywhere);
      x = torch::gelu(states(shared, means, x, local));
    }
    const Stencil local = stencil(layers_.back(), padding);
    const Tensor means = mean(x, probability);
    const Tensor mixed = spectral(means, layers_.back(), *basis);
    if (!point) {
      const Tensor shared = basis->inverse(mixed) + stencil_sums(means, local, padding.padded(), everywhere);
      return mean(project(padding.crop(states(shared, means, x, local))), inclusion.unsqueeze(2));
    }
    const std::int64_t place = padding.padded_point(*point);
    const Tensor shared = basis->inverse_at(mixed, place) +
                          stencil_sums(means, local, padding.padded(), everywhere.narrow(0, place, 1)).squeeze(0);
    return mean(project(states(shared, means.select(0, place), x.select(0, place), local)),
                probability.select(0, place));
  }

  std::int64_t activations(const Domain& domain) const override {
    return padding_on(domain).padded_points() * config_.hidden_channels;
  }

 private:
  GridPadding padding_on(const Domain& domain) const {
    return {domain, config_.domain_padding, config_.domain_padding_mode == "symmetric"};
  }
  std::shared_ptr<const FourierBasis> basis_on(const GridPadding& padding) const {
    return fourier_basis(padding.padded(), config_.n_modes, options(), config_.inverse_shift);
  }
  Tensor all_points(const GridPadding& padding) const { return torch::arange(padding.padded_points(), torch::kInt64); }

  Tensor lift(const Tensor& fields, const Domain& domain) const {
    return lifting_(config_.knows_places() ? with_places(fields, domain.shape()) : fields, fused());
  }
  Tensor project(const Tensor& x) const { return projection_(x, fused()); }

  /// Everything that a block takes from a point and its eight neighbours: both local branches and the skip.
  Stencil stencil(const LocalNoLayer& layer, const GridPadding& padding) const {
    // The differences wrap around the padded plane; DISCO has zeros beyond its edges.
    Stencil local;
    if (layer.has_difference()) {
      // The reference divides the last axis of the grid by the first of default_in_shape, whatever the two shapes are.
      const double scale = static_cast<double>(padding.padded()[1]) / config_.default_in_shape[0];
      local.inside = local.beyond = difference_taps(layer.difference, scale);
      local.used = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    } else {
      local.inside = torch::zeros({Stencil::taps, layer.skip.size(1), layer.skip.size(0)}, options());
      local.used = layer.has_disco() ? std::vector<int>{1, 3, 4, 5, 7} : std::vector<int>{4};
    }
    if (layer.has_disco()) local.inside = local.inside + disco_taps(layer.disco_weight, config_.default_in_shape[0]);
    const Tensor skip = layer.skip.squeeze(-1).t().unsqueeze(0);
    const Tensor around = torch::zeros({Stencil::centre, skip.size(1), skip.size(2)}, options());
    local.inside = local.inside + torch::cat({around, skip, around});
    return local;
  }

  /// Mixed coefficients.
  Tensor spectral(const Tensor& x, const LocalNoLayer& layer, const FourierBasis& basis) const {
    return mix(basis.transform(x), layer.spectral_weight, layer.bias(), basis);
  }

  Tensor block(const Tensor& x, const LocalNoLayer& layer, const GridPadding& padding, const FourierBasis& basis,
               const Tensor& everywhere) const {
    const Tensor y = basis.inverse(spectral(x, layer, basis)) +
                     stencil_sums(x, stencil(layer, padding), padding.padded(), everywhere);
    return &layer == &layers_.back() ? y : torch::gelu(y);
  }

  /// The output in a box of the padded grid, [points, B, Cout], with fused layers. The padding is never stored.
  Tensor fused_forward(const Tensor& fields, const Domain& domain, const GridPadding& padding,
                       const Box& wanted) const {
    const auto basis = basis_on(padding);
    const auto block = [&](const LocalNoLayer& layer, const Tensor& spectral, const Tensor& x, const BlockBoxes& boxes,
                           bool last) {
      return fused_stencil_block(spectral, x, stencil(layer, padding), padding.padded(), *basis, boxes, last);
    };
    return project(
        fused_layers(lift(fields, domain), layers_, *basis, padding.inside(), padding.whole(), wanted, block));
  }

  LocalNoConfig config_;
  std::vector<LocalNoLayer> layers_;
  ChannelPerceptron lifting_, projection_;
};

class LocalNoArchitecture final : public ArchitectureOf<LocalNo, LocalNoConfig> {
 public:
  std::vector<int> dimensions() const override { return {plane_axes}; }
  bool shifts_spectra() const override { return true; }

  LocalNoConfig fit(ConfigReader& reader, networks::NetworkSpaces spaces) const override {
    reader.require_keys({"modes", "width", "layers", "padding", "default_in_shape"});
    LocalNoConfig config;
    fit_sizes(reader, config, spaces, plane_axes, 1);
    config.domain_padding = read_padding(reader, "padding", plane_axes);
    config.domain_padding_mode = reader.choice("padding_mode", "symmetric", padding_modes);
    config.positional_embedding = reader.choice("positional_embedding", "grid", embeddings);
    config.read_local_branches(reader);
    if (spaces.dimension != plane_axes)
      reader.reject("model=local_no", message("has ", plane_axes, " axes; the data has ", spaces.dimension));
    return config;
  }

  /// The reference has each difference under two names. Version 1.0.2 has its blocks and skips under FNO's names.
  std::string parameter_name(const std::string& stored, const networks::NetworkConfig& config) const override {
    const std::string blocks = "local_no_blocks.", old_blocks = "fno_blocks.";
    std::string name = stored;
    if (name.starts_with(old_blocks)) {
      const LocalNoConfig parsed = LocalNoConfig::parse(config);
      require<DataError>(std::ranges::find(parsed.disco_layers, true) == parsed.disco_layers.end(), "weights: ", stored,
                         " (is a name of neuraloperator 1.0.2, whose DISCO filters are turned by 180 degrees). "
                         "Export a model of 2.0.0, or one without DISCO layers.");
      name = blocks + name.substr(old_blocks.size());
      const std::string skips = blocks + "local_no_skips.", old_skips = blocks + "fno_skips.";
      if (name.starts_with(old_skips)) name = skips + name.substr(old_skips.size());
    }
    const std::string differences = blocks + "differential.", alias = ".weight", own = ".conv.weight";
    if (name.starts_with(differences) && name.ends_with(alias) && !name.ends_with(own))
      name.replace(name.size() - alias.size(), alias.size(), own);
    return name;
  }

  networks::NetworkSettings of_the_paper() const override {
    return {.model = "local_no",
            .json = R"({"modes": 16, "width": 64, "layers": 4, "padding": 0.5, "default_in_shape": [128, 128]})"};
  }
};

}  // namespace

std::unique_ptr<Architecture> local_no() { return std::make_unique<LocalNoArchitecture>(); }

}  // namespace opshap::operators
