#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "operators/torch.hpp"

namespace opshap::operators {

/// Bytes that can still be had on a GPU; nothing for the CPU, or when the driver does not say.
std::optional<std::int64_t> free_memory(const torch::Device& device);

/// Calls compute(first, count) for 0..total-1 in batches of at most `size`, one after the other. A batch that runs out
/// of memory is begun again with half the size, which `size` then keeps. Throws EnvironmentError when there is no
/// memory for a batch of one; `who` starts the message.
void memory_batches(const char* who, std::int64_t total, std::atomic<std::int64_t>& size,
                    const std::function<void(std::int64_t first, std::int64_t count)>& compute);

}  // namespace opshap::operators
