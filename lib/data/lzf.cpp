#include "data/lzf.hpp"

#include <hdf5.h>
#include <lzf.h>

#include "data/hdf5_handle.hpp"

namespace opshap::data {

namespace {

/// The library's interface of a filter: the bytes of the new buffer, or 0 for a failure, after which the old one stays.
std::size_t decompress(unsigned flags, std::size_t values, const unsigned* value, std::size_t bytes,
                       std::size_t* capacity, void** buffer) {
  if ((flags & H5Z_FLAG_REVERSE) == 0 || values < 3 || value[2] == 0) return 0;
  const unsigned size = value[2];
  void* chunk = H5allocate_memory(size, false);
  if (chunk == nullptr) return 0;
  if (lzf_decompress(*buffer, static_cast<unsigned>(bytes), chunk, size) != size) {
    H5free_memory(chunk);
    return 0;
  }
  H5free_memory(*buffer);
  *buffer = chunk;
  *capacity = size;
  return size;
}

}  // namespace

void register_lzf() {
  static constexpr H5Z_class2_t filter = {.version = H5Z_CLASS_T_VERS,
                                          .id = lzf_filter,
                                          .encoder_present = 0,
                                          .decoder_present = 1,
                                          .name = "lzf",
                                          .can_apply = nullptr,
                                          .set_local = nullptr,
                                          .filter = decompress};
  check(H5Zregister(&filter), "filter lzf");
}

}  // namespace opshap::data
