#pragma once

namespace opshap::data {

/// The number under which the HDF5 Group registered the filter LZF of h5py.
inline constexpr int lzf_filter = 32000;

/// Lets the HDF5 library decompress chunks of the filter LZF, by liblzf. It compresses none. May be called again.
///
/// The filter has three client values: its revision, the version of liblzf, and the bytes of a decompressed chunk. A
/// chunk that LZF would not make smaller is stored as it is. The library does not call the filter for such a chunk.
void register_lzf();

}  // namespace opshap::data
