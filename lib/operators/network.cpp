#include "operators/network.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "operators/batches.hpp"
#include "operators/layers.hpp"
#include "operators/spectral_convolution.hpp"
#include "operators/tiles.hpp"

namespace opshap::operators {

torch::Tensor Network::add(std::string name, std::vector<std::int64_t> shape, Initial initial) {
  torch::Tensor value = torch::zeros(shape, options_);
  parameters_.push_back(
      {.name = std::move(name), .shape = std::move(shape), .complex = false, .initial = initial, .value = value});
  return value;
}

torch::Tensor Network::add_complex(std::string name, torch::Tensor value, Initial initial) {
  std::vector<std::int64_t> shape = value.sizes().vec();
  shape.pop_back();
  parameters_.push_back(
      {.name = std::move(name), .shape = std::move(shape), .complex = true, .initial = initial, .value = value});
  return value;
}

std::pair<torch::Tensor, torch::Tensor> Network::add_linear(const std::string& name,
                                                            const std::vector<std::int64_t>& shape) {
  torch::Tensor weight = add(name + ".weight", shape, law_of_linear(shape[1]));
  return {std::move(weight), add(name + ".bias", {shape[0]}, law_of_linear(shape[1]))};
}

ChannelPerceptron Network::add_perceptron(const std::string& name, const std::vector<std::int64_t>& sizes) {
  ChannelPerceptron found;
  std::tie(found.weight0, found.bias0) = add_linear(name + ".fcs.0", {sizes[1], sizes[0], 1});
  if (sizes.size() > 2) std::tie(found.weight1, found.bias1) = add_linear(name + ".fcs.1", {sizes[2], sizes[1], 1});
  return found;
}

std::pair<torch::Tensor, torch::Tensor> Network::add_spectral(const std::string& name, std::int64_t width,
                                                              const std::vector<int>& modes) {
  // The scale of the weights is that of their real and imaginary parts.
  const double scale = std::sqrt(2.0 / static_cast<double>(width + width));
  std::vector<std::int64_t> ones(modes.size() + 1, 1);
  ones.front() = width;
  torch::Tensor weight = add_complex(name + ".weight.tensor", spectral_weights(width, width, modes, options_),
                                     {Initial::Law::normal, scale / std::sqrt(2.0)});
  return {std::move(weight), add(name + ".bias", ones, {Initial::Law::normal, scale})};
}

void Network::add_constant(std::string name, const torch::Tensor& value) {
  constants_.push_back({.name = std::move(name), .value = value.to(options_).contiguous()});
}

void Network::adopt(const Network& part) {
  parameters_.insert(parameters_.end(), part.parameters_.begin(), part.parameters_.end());
  constants_.insert(constants_.end(), part.constants_.begin(), part.constants_.end());
}

torch::Tensor Network::forward_mean_field(const torch::Tensor&, const torch::Tensor&, const torch::Tensor&,
                                          const Domain&, std::optional<std::int64_t>) const {
  throw std::logic_error("forward_mean_field of a network without mean field");
}

void require_no_kernel(const EngineRequest& request, const std::string& what) {
  require(!request.arithmetic,
          "operator: --precision=", request.arithmetic ? devices::name_of(*request.arithmetic) : "",
          " (there is no kernel for ", what, "). Give --precision float32.");
}

EngineChoice Network::engines(const EngineRequest& request) const {
  require_no_kernel(request, describe());
  return {.engines = nullptr, .why_not = message("there is no engine for ", describe())};
}

void Network::set_native_domain(Domain domain) {
  require(domain.dimension() == dimension(), describe(), ": domain=", domain.describe(), " (has ", domain.dimension(),
          " dimensions; the network works on ", dimension(), "). Give a domain of that dimension.");
  native_domain_ = std::move(domain);
}

void initialise(Network& network, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  std::uint64_t position = 0;
  for (Parameter& parameter : network.parameters()) {
    Rng rng(seed, "initial parameters", 0, position++);
    torch::Tensor drawn = torch::empty(parameter.value.sizes(), torch::kFloat64);
    const auto [law, scale] = parameter.initial;
    std::generate_n(drawn.data_ptr<double>(), drawn.numel(), [&rng, law = law, scale = scale] {
      if (law == Initial::Law::uniform) return rng.uniform(-scale, scale);
      if (law == Initial::Law::positive) return scale * rng.uniform();
      return law == Initial::Law::normal ? scale * rng.normal() : scale;
    });
    parameter.value.copy_(drawn);
  }
}

std::int64_t cached_batch(const Network& network, const Domain& domain) {
  constexpr std::int64_t core_cache = 1 << 20, gpu_share = 1 << 28;
  const bool on_cpu = network.options().device().is_cpu();
  const auto bytes = network.activations(domain) * static_cast<std::int64_t>(network.options().dtype().itemsize());
  return std::clamp<std::int64_t>((on_cpu ? core_cache : gpu_share) / bytes, 1, on_cpu ? 512 : 65536);
}

torch::Tensor to_tensor(const FieldBatch& fields, std::int64_t first, std::int64_t count,
                        const torch::TensorOptions& options) {
  const std::int64_t points = fields.domain.points(), channels = fields.channels;
  torch::Tensor tensor = torch::empty({points, count, channels}, options.device(torch::kCPU));
  with_type(tensor, [&]<typename T>() {
    T* const to = tensor.data_ptr<T>();
    for (std::int64_t b = 0; b < count; ++b) {
      const double* from = fields.field(first + b).data();
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t p = 0; p < points; ++p)
          to[(p * count + b) * channels + c] = static_cast<T>(from[c * points + p]);
    }
  });
  return tensor.to(options.device());
}

void from_tensor(const torch::Tensor& tensor, FieldBatch& fields, std::int64_t first) {
  const torch::Tensor ordered = tensor.detach().permute({1, 2, 0}).to(torch::kCPU, torch::kFloat64).contiguous();
  std::copy_n(ordered.data_ptr<double>(), ordered.numel(), fields.field(first).data());
}

namespace {

/// Engines take targets of so many points. Beyond them the whole output of the plain form is no dearer.
constexpr std::size_t most_engine_queries = 64;

/// Grids of one shape, or equal meshes.
bool same_points(const Domain& a, const Domain& b) {
  return a.is_grid() && b.is_grid() ? a.shape() == b.shape() : a == b;
}

/// A network as an Operator. A call's fields are cut into chunks of a size that depends on the grid alone.
class NetworkOperator final : public Operator {
 public:
  NetworkOperator(std::unique_ptr<Network> network, const EngineRequest& request) : network_(std::move(network)) {
    for (Parameter& parameter : network_->parameters()) parameter.value.set_requires_grad(false);
    engines_ = request.on ? network_->engines(request)
                          : EngineChoice{.engines = nullptr, .why_not = "the engine is switched off"};
  }

  std::string describe() const override { return network_->describe(); }
  std::string checksum() const override { return network_->checksum(); }
  std::string problem() const override {
    const auto known = network_->trained_for().find("problem");
    return known == network_->trained_for().end() ? "" : known->second;
  }
  int dimension() const override { return network_->dimension(); }
  int input_channels() const override { return network_->input_channels(); }
  int output_channels() const override { return network_->output_channels(); }

  Domain domain(const std::vector<int>& shape) const override {
    if (!network_->native_domain()) return Operator::domain(shape);
    require(static_cast<int>(shape.size()) == dimension(), describe(), ": axes=", shape.size(),
            " (the operator works on ", dimension(), "). Give a shape of that dimension.");
    std::vector<Axis> axes = network_->native_domain()->axes();
    for (std::size_t axis = 0; axis < axes.size(); ++axis) axes[axis] = axes[axis].resampled(shape[axis]);
    return Domain::grid(std::move(axes));
  }

  FieldBatch apply(const FieldBatch& inputs) const override {
    check(inputs);
    FieldBatch outputs = FieldBatch::zeros(inputs.domain, inputs.batch, output_channels());
    for_chunks(inputs, [&](std::int64_t first, std::int64_t count) {
      const torch::NoGradGuard no_grad;
      from_tensor(network_->forward(to_tensor(inputs, first, count, network_->options()), inputs.domain), outputs,
                  first);
    });
    return outputs;
  }

  std::vector<double> values_at(const FieldBatch& inputs, const Readout& readout) const override {
    check(inputs);
    require_readout(*this, inputs.domain, readout);
    std::vector<double> values(static_cast<std::size_t>(inputs.batch));
    for_chunks(inputs, [&](std::int64_t first, std::int64_t count) {
      const torch::NoGradGuard no_grad;
      const auto fields = to_tensor(inputs, first, count, network_->options());
      store(read(fields, inputs.domain, readout), values, first);
    });
    return values;
  }

  Gradient gradient_at(const FieldBatch& inputs, const Readout& readout) const override {
    check(inputs);
    require_readout(*this, inputs.domain, readout);
    if (inputs.batch > 0) network_->check_gradients(inputs, readout.terms().front().query);
    return gradient_of(inputs,
                       [&](const torch::Tensor& fields, std::int64_t) { return read(fields, inputs.domain, readout); });
  }

  bool has_kinks() const override { return network_->has_kinks(); }
  bool has_mean_field() const override { return network_->has_mean_field(); }

  Gradient mean_field_at(const FieldBatch& shown, const FieldBatch& hidden, const FieldBatch& inclusion,
                         const Readout& readout) const override {
    if (!has_mean_field()) return Operator::mean_field_at(shown, hidden, inclusion, readout);
    check(shown);
    check(hidden);
    const auto fits = [&](const FieldBatch& states) { return states.batch == 1 || states.batch == inclusion.batch; };
    require(fits(shown) && fits(hidden) && inclusion.channels == 1, describe(), ": batch=", shown.batch, " and ",
            hidden.batch, ", fields of inclusion=", inclusion.batch, " of ", inclusion.channels,
            " channels (mean_field mixes an input and a baseline). Give one of each, or one for each field of one "
            "channel.");
    require(same_points(shown.domain, hidden.domain) && same_points(shown.domain, inclusion.domain), describe(),
            ": inclusion (its points or the baseline's are not those of the input). Give fields on one domain.");
    require_readout(*this, shown.domain, readout);
    const bool one_of_each = shown.batch == 1 && hidden.batch == 1;
    return gradient_of(inclusion, [&](const torch::Tensor& t, std::int64_t first) {
      const auto states = [&](const FieldBatch& all) {
        if (all.batch > 1) return to_tensor(all, first, t.size(1), network_->options());
        return to_tensor(all, 0, 1, network_->options()).expand({-1, one_of_each ? 1 : t.size(1), -1});
      };
      const auto means = [&](std::optional<std::int64_t> point) {
        return network_->forward_mean_field(states(shown), states(hidden), t.squeeze(2), shown.domain, point);
      };
      return readout.is_query() ? means(readout.query().point).select(1, readout.query().channel)
                                : sum(means({}), readout);
    });
  }

  std::unique_ptr<CoalitionEngine> coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                    const Partition& partition, const Readout& readout) const override {
    if (!engines_.engines || readout.terms().size() > most_engine_queries) return nullptr;
    return engines_.engines->coalition_engine(shown, hidden, partition, readout);
  }
  std::string coalition_path(const Readout& readout) const override {
    const std::size_t queries = readout.terms().size();
    if (engines_.engines && queries <= most_engine_queries) return engines_.engines->path();
    const bool single = network_->options().dtype() == torch::kFloat32;
    return message("LibTorch on ", network_->options().device().str(), ", ", single ? "float32" : "float64", " (",
                   engines_.engines
                       ? message("the target has ", queries, " points, and engines take ", most_engine_queries)
                       : engines_.why_not,
                   ")");
  }

  std::int64_t preferred_batch(const Domain& domain) const override {
    return (network_->options().device().is_cpu() ? 16 : 1) * cached_batch(*network_, domain);
  }

 private:
  void check(const FieldBatch& inputs) const {
    require(inputs.domain.dimension() == dimension(), describe(), ": axes=", inputs.domain.dimension(),
            " (the operator works on ", dimension(), "). Give fields of that dimension.");
    require(inputs.channels == input_channels(), describe(), ": channels=", inputs.channels, " (the operator takes ",
            input_channels(), "). Give fields with that many channels.");
  }

  void for_chunks(const FieldBatch& inputs,
                  const std::function<void(std::int64_t first, std::int64_t count)>& compute) const {
    std::atomic<std::int64_t> size = cached_batch(*network_, inputs.domain);
    if (!network_->options().device().is_cpu()) return memory_batches(describe().c_str(), inputs.batch, size, compute);
    try {
      parallel_chunks(inputs.batch, size, compute);
    } catch (const c10::Error& error) {
      // LibTorch has no type of its own for this one on the CPU.
      const bool memory = std::string_view(error.what_without_backtrace()).find("memory") != std::string_view::npos;
      require<EnvironmentError>(!memory, describe(), ": points=", inputs.domain.points(),
                                " (there is not enough memory for fields of this size). Use a coarser grid.");
      throw;
    }
  }

  /// What `outputs_of` has of these fields as tensors, [B], from which number on, and its gradients by them.
  template <typename Outputs>
  Gradient gradient_of(const FieldBatch& fields, const Outputs& outputs_of) const {
    Gradient result{.values = std::vector<double>(static_cast<std::size_t>(fields.batch)),
                    .gradient = FieldBatch::zeros(fields.domain, fields.batch, fields.channels)};
    for_chunks(fields, [&](std::int64_t first, std::int64_t count) {
      const torch::AutoGradMode with_grad(true);
      const auto tensor = to_tensor(fields, first, count, network_->options()).set_requires_grad(true);
      const auto outputs = outputs_of(tensor, first);
      from_tensor(torch::autograd::grad({outputs.sum()}, {tensor})[0], result.gradient, first);
      store(outputs.detach(), result.values, first);
    });
    return result;
  }

  /// What the readout has of the fields' outputs, [B].
  torch::Tensor read(const torch::Tensor& fields, const Domain& domain, const Readout& readout) const {
    if (!readout.is_query()) return sum(network_->forward(fields, domain), readout);
    return network_->forward_at(fields, domain, readout.query().point).select(1, readout.query().channel);
  }

  /// ⟨w, F⟩ of outputs [points, B, C], summed in double.
  static torch::Tensor sum(const torch::Tensor& outputs, const Readout& readout) {
    torch::Tensor weights = torch::zeros({outputs.size(0), outputs.size(2)}, torch::kFloat64);
    auto to = weights.accessor<double, 2>();
    for (const auto& [query, weight] : readout.terms()) to[query.point][query.channel] += weight;
    return (outputs.to(torch::kFloat64) * weights.to(outputs.device()).unsqueeze(1))
        .sum(std::vector<std::int64_t>{0, 2});
  }

  static void store(const torch::Tensor& chunk, std::vector<double>& values, std::int64_t first) {
    const torch::Tensor numbers = chunk.to(torch::kCPU, torch::kFloat64).contiguous();
    std::copy_n(numbers.data_ptr<double>(), numbers.numel(), values.begin() + first);
  }

  std::unique_ptr<Network> network_;
  EngineChoice engines_;
};

}  // namespace

std::unique_ptr<Operator> as_operator(std::unique_ptr<Network> network, const EngineRequest& request) {
  Normalisation normalisation = network->normalisation();
  return in_physical_units(std::make_unique<NetworkOperator>(std::move(network), request), std::move(normalisation));
}

}  // namespace opshap::operators
