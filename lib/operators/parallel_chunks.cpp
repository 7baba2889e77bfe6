#include "operators/parallel_chunks.hpp"

#include <algorithm>

#include "core/threads.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

namespace {

/// Restores the caller's setting. The worker threads end with parallel_for.
class OneThread {
 public:
  OneThread() { at::set_num_threads(1); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() { at::set_num_threads(before_); }

 private:
  int before_ = at::get_num_threads();
};

}  // namespace

void parallel_chunks(std::int64_t total, std::int64_t size,
                     const std::function<void(std::int64_t first, std::int64_t count)>& compute) {
  if (total <= 0) return;
  const OneThread one_thread;
  parallel_for(static_cast<std::size_t>((total + size - 1) / size), [&](std::size_t index) {
    if (at::get_num_threads() != 1) at::set_num_threads(1);
    const std::int64_t first = static_cast<std::int64_t>(index) * size;
    compute(first, std::min(size, total - first));
  });
}

}  // namespace opshap::operators
