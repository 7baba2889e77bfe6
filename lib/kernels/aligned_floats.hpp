#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace opshap::kernels {

/// Memory at multiples of 64 bytes, which no vector straddles; in huge pages when there is much of it, since streaming
/// through small ones waits for their addresses.
template <typename Value>
struct AlignedAllocator {
  using value_type = Value;
  AlignedAllocator() = default;
  template <typename Other>
  AlignedAllocator(const AlignedAllocator<Other>&) {}

  Value* allocate(std::size_t count) {
    constexpr std::size_t line = 64, huge_page = std::size_t{2} << 20;
    const std::size_t bytes = count * sizeof(Value), alignment = bytes >= huge_page ? huge_page : line;
    void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory == nullptr) throw std::bad_alloc();
    if (bytes >= huge_page) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without it all works the same
    return static_cast<Value*>(memory);
  }
  void deallocate(Value* memory, std::size_t) noexcept { std::free(memory); }
  bool operator==(const AlignedAllocator&) const = default;
};

/// Floats as the kernels are fastest with.
using AlignedFloats = std::vector<float, AlignedAllocator<float>>;

}  // namespace opshap::kernels
