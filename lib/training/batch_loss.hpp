#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "operators/network.hpp"

namespace opshap::training {

/// The part of a batch's loss that comes from its fields first..first+count-1: a scalar tensor. The loss is the sum of
/// its parts.
using LossPart = std::function<torch::Tensor(std::int64_t first, std::int64_t count)>;

/// The loss of a batch of fields on this domain, computed in chunks that fit into caches, on all threads.
double batch_loss(const operators::Network& network, std::int64_t batch, const Domain& domain, const LossPart& part);

/// The same, and its gradient is added to that of the parameters. Chunks and the order of their sum depend on batch and
/// domain alone, so the bits do not depend on the number of threads.
double batch_loss_and_gradient(operators::Network& network, std::int64_t batch, const Domain& domain,
                               const LossPart& part);

}  // namespace opshap::training
