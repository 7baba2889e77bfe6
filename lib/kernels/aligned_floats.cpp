#include "kernels/aligned_floats.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace opshap::kernels {

void* aligned_memory(std::size_t bytes) {
  constexpr std::size_t line = 64, huge_page = std::size_t{2} << 20;
  const bool huge = bytes >= huge_page;
  const std::size_t alignment = huge ? huge_page : line;
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  if (huge) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without it all works the same
  return memory;
}

void free_aligned_memory(void* memory) noexcept { std::free(memory); }

}  // namespace opshap::kernels
