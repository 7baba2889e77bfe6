#pragma once

#include <cstddef>
#include <vector>

namespace opshap::kernels {

/// Memory at multiples of 64 bytes; in huge pages when there is much of it, since streaming through small ones waits
/// for their addresses.
void* aligned_memory(std::size_t bytes);
void free_aligned_memory(void* memory) noexcept;

template <typename Value>
struct AlignedAllocator {
  using value_type = Value;
  AlignedAllocator() = default;
  template <typename Other>
  AlignedAllocator(const AlignedAllocator<Other>&) {}
  Value* allocate(std::size_t count) { return static_cast<Value*>(aligned_memory(count * sizeof(Value))); }
  void deallocate(Value* memory, std::size_t) noexcept { free_aligned_memory(memory); }
  bool operator==(const AlignedAllocator&) const = default;
};

/// Floats as the kernels want them.
using AlignedFloats = std::vector<float, AlignedAllocator<float>>;

}  // namespace opshap::kernels
