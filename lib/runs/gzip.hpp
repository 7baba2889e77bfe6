#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opshap::runs {

/// What a packed file of rows may unpack to at most, in bytes: as much as is read from a pipe (core/file.hpp).
inline constexpr std::size_t most_unpacked_bytes = std::size_t{1} << 30;

/// The text as a gzip file (RFC 1952). The file holds neither a name nor a time, so that equal texts give equal bytes.
/// Throws EnvironmentError when there is no memory for it.
std::string gzip(std::string_view text);

/// The text of a gzip file, also of one that was put together from several. `who` starts the messages. Throws DataError
/// for bytes that are no gzip file, are cut short or are damaged, and for a text of more than `most` bytes.
std::string gunzip(std::string_view bytes, const std::string& who, std::size_t most = most_unpacked_bytes);

}  // namespace opshap::runs
