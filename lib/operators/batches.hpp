#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "operators/torch.hpp"

namespace opshap::operators {

/// Bytes that can still be had on a GPU; nothing for the CPU, or when the driver does not say.
std::optional<std::int64_t> free_memory(const torch::Device& device);

/// Calls compute(first, count) for begin..begin+total-1 in batches of at most `size`, one after the other. Where things
/// come in groups of `group`, from 0 on, a batch has whole groups or a part of one. A batch that runs out of memory is
/// begun again with half the size, which `size` then keeps. Throws EnvironmentError when there is no memory for a batch
/// of one; `who` starts the message.
void memory_batches(const char* who, std::int64_t total, std::atomic<std::int64_t>& size,
                    const std::function<void(std::int64_t first, std::int64_t count)>& compute, std::int64_t begin = 0,
                    std::int64_t group = 1);

/// Calls compute(first, count) for 0..total-1 cut into chunks of `size` (the last one may be smaller), on threads()
/// threads, each of which runs LibTorch without threads of its own. Results do not depend on the number of threads when
/// compute() writes only what belongs to its chunk.
void parallel_chunks(std::int64_t total, std::int64_t size,
                     const std::function<void(std::int64_t first, std::int64_t count)>& compute);

}  // namespace opshap::operators
