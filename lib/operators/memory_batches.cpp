#include "operators/memory_batches.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string_view>

#include "core/error.hpp"

namespace opshap::operators {

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
                    const std::function<void(std::int64_t first, std::int64_t count)>& compute) {
  for (std::int64_t first = 0; first < total;) {
    const std::int64_t count = std::min(size.load(), total - first);
    try {
      compute(first, count);
      first += count;
    } catch (const c10::Error& error) {
      // LibTorch has no type of its own for this one on the CPU.
      if (std::string_view(error.what()).find("memory") == std::string_view::npos) throw;
      require<EnvironmentError>(count > 1, who,
                                ": batch=1 (there is not enough memory even for that). Use a coarser grid.");
      size = count / 2;
    }
  }
}

}  // namespace opshap::operators
