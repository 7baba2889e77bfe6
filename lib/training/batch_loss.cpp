#include "training/batch_loss.hpp"

#include <algorithm>
#include <numeric>

#include "operators/parallel_chunks.hpp"

namespace opshap::training {

namespace {

/// At least four chunks, to have work for several threads; at most sixteen, since each has gradients of its own until
/// they are added up.
std::int64_t chunk_size(const operators::Network& network, std::int64_t batch, const Domain& domain) {
  if (!network.options().device().is_cpu()) return batch;
  const std::int64_t least = (batch + 15) / 16, most = (batch + 3) / 4;
  return std::clamp(operators::cached_batch(network, domain), least, most);
}

}  // namespace

double batch_loss(const operators::Network& network, std::int64_t batch, const Domain& domain, const LossPart& part) {
  const std::int64_t size = chunk_size(network, batch, domain);
  std::vector<double> losses(static_cast<std::size_t>((batch + size - 1) / size));
  operators::parallel_chunks(batch, size, [&](std::int64_t first, std::int64_t count) {
    const torch::NoGradGuard no_grad;
    losses[static_cast<std::size_t>(first / size)] = part(first, count).item<double>();
  });
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

double batch_loss_and_gradient(operators::Network& network, std::int64_t batch, const Domain& domain,
                               const LossPart& part) {
  std::vector<torch::Tensor> parameters;
  for (const operators::Parameter& parameter : network.parameters()) parameters.push_back(parameter.value);
  const std::int64_t size = chunk_size(network, batch, domain);
  const auto chunks = static_cast<std::size_t>((batch + size - 1) / size);
  std::vector<double> losses(chunks);
  std::vector<std::vector<torch::Tensor>> gradients(chunks);
  operators::parallel_chunks(batch, size, [&](std::int64_t first, std::int64_t count) {
    const auto chunk = static_cast<std::size_t>(first / size);
    const torch::Tensor loss = part(first, count);
    losses[chunk] = loss.item<double>();
    gradients[chunk] = torch::autograd::grad({loss}, parameters);
  });
  // Not by LibTorch's own threads: they would go on spinning while the next batch's chunks want the cores.
  operators::parallel_chunks(static_cast<std::int64_t>(parameters.size()), 1, [&](std::int64_t index, std::int64_t) {
    const torch::NoGradGuard no_grad;
    const auto number = static_cast<std::size_t>(index);
    torch::Tensor& sum = parameters[number].mutable_grad();
    if (!sum.defined()) sum = torch::zeros_like(parameters[number]);
    for (const auto& gradient : gradients) sum.add_(gradient[number]);
  });
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

}  // namespace opshap::training
