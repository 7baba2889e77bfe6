#pragma once

#include <cstdint>
#include <functional>

namespace opshap::operators {

/// Calls compute(first, count) for 0..total-1 cut into chunks of `size` (the last one may be smaller), on threads()
/// threads, each of which runs LibTorch without threads of its own. Results do not depend on the number of threads when
/// compute() writes only what belongs to its chunk.
void parallel_chunks(std::int64_t total, std::int64_t size,
                     const std::function<void(std::int64_t first, std::int64_t count)>& compute);

}  // namespace opshap::operators
