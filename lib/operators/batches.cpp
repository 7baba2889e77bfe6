#include "operators/batches.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string_view>

#include "core/error.hpp"
#include "core/threads.hpp"

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

std::optional<std::int64_t> free_memory(const torch::Device& device) {
  if (!device.is_cuda()) return std::nullopt;
  // LibTorch itself has no portable call for this, and without a GPU's LibTorch there is no CUDA runtime to link to: it
  // is here when LibTorch has loaded it.
  using MemGetInfo = int (*)(std::size_t * free, std::size_t * total);
  const auto get_info = reinterpret_cast<MemGetInfo>(dlsym(RTLD_DEFAULT, "cudaMemGetInfo"));
  if (get_info == nullptr) return std::nullopt;
  const c10::DeviceGuard of_device(device);
  std::size_t free = 0, total = 0;
  if (get_info(&free, &total) != 0) return std::nullopt;
  return static_cast<std::int64_t>(free);
}

void memory_batches(const char* who, std::int64_t total, std::atomic<std::int64_t>& size,
                    const std::function<void(std::int64_t first, std::int64_t count)>& compute, std::int64_t begin,
                    std::int64_t group) {
  for (std::int64_t first = begin; first < begin + total;) {
    std::int64_t count = std::min(size.load(), begin + total - first);
    const std::int64_t left = group - first % group;
    count = left < group || count < group ? std::min(count, left) : count - count % group;
    try {
      compute(first, count);
      first += count;
    } catch (const c10::Error& error) {
      // LibTorch has no type of its own for this one on the CPU. Its backtrace has the names of our functions.
      if (std::string_view(error.what_without_backtrace()).find("memory") == std::string_view::npos) throw;
      require<EnvironmentError>(count > 1, who,
                                ": batch=1 (there is not enough memory even for that). Use a coarser grid.");
      size = count / 2;
    }
  }
}

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
