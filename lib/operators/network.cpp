#include "operators/network.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"

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

EngineChoice Network::engines() const {
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
    double* values = drawn.data_ptr<double>();
    for (std::int64_t i = 0; i < drawn.numel(); ++i) {
      switch (parameter.initial.law) {
        case Initial::Law::uniform:
          values[i] = rng.uniform(-parameter.initial.scale, parameter.initial.scale);
          break;
        case Initial::Law::positive:
          values[i] = parameter.initial.scale * rng.uniform();
          break;
        case Initial::Law::normal:
          values[i] = parameter.initial.scale * rng.normal();
          break;
        case Initial::Law::constant:
          values[i] = parameter.initial.scale;
          break;
      }
    }
    parameter.value.copy_(drawn);
  }
}

std::int64_t cached_batch(const Network& network, const Domain& domain) {
  constexpr std::int64_t core_cache = 1 << 20, gpu_share = 1 << 28;
  const bool on_cpu = network.options().device().is_cpu();
  const auto bytes = network.activations(domain) * static_cast<std::int64_t>(network.options().dtype().itemsize());
  return std::clamp<std::int64_t>((on_cpu ? core_cache : gpu_share) / bytes, 1, on_cpu ? 512 : 65536);
}

namespace {

template <typename T>
void gather(const FieldBatch& fields, std::int64_t first, std::int64_t count, T* to) {
  const std::int64_t points = fields.domain.points(), channels = fields.channels;
  for (std::int64_t b = 0; b < count; ++b) {
    const double* from = fields.field(first + b).data();
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t p = 0; p < points; ++p)
        to[(p * count + b) * channels + c] = static_cast<T>(from[c * points + p]);
    }
  }
}

}  // namespace

torch::Tensor to_tensor(const FieldBatch& fields, std::int64_t first, std::int64_t count,
                        const torch::TensorOptions& options) {
  torch::Tensor tensor = torch::empty({fields.domain.points(), count, fields.channels}, options.device(torch::kCPU));
  if (tensor.scalar_type() == torch::kFloat32) {
    gather(fields, first, count, tensor.data_ptr<float>());
  } else {
    gather(fields, first, count, tensor.data_ptr<double>());
  }
  return tensor.to(options.device());
}

void from_tensor(const torch::Tensor& tensor, FieldBatch& fields, std::int64_t first) {
  const torch::Tensor ordered = tensor.detach().permute({1, 2, 0}).to(torch::kCPU, torch::kFloat64).contiguous();
  std::copy_n(ordered.data_ptr<double>(), ordered.numel(), fields.field(first).data());
}

}  // namespace opshap::operators
