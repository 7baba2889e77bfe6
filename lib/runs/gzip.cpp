#include "runs/gzip.hpp"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/error.hpp"

namespace opshap::runs {

namespace {

/// The largest window, and 16 to say that the format is gzip and not zlib's own.
constexpr int window_of_gzip = 15 + 16;

/// The bytes that zlib counts by an unsigned int: the rest of them follows in a later piece.
uInt piece_of(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

const Bytef* bytes_of(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

/// Ends the stream on scope exit.
struct Inflation {
  z_stream stream{};
  ~Inflation() { inflateEnd(&stream); }
};
struct Deflation {
  z_stream stream{};
  ~Deflation() { deflateEnd(&stream); }
};

}  // namespace

std::string gzip(std::string_view text) {
  constexpr int memory_level = 8;  // zlib's default
  Deflation deflation;
  z_stream& stream = deflation.stream;
  bool good =
      deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window_of_gzip, memory_level, Z_DEFAULT_STRATEGY) == Z_OK;
  gz_header header{};
  header.os = 255;  // unknown: the bytes do not tell where they were made
  good = good && deflateSetHeader(&stream, &header) == Z_OK;
  require<EnvironmentError>(good, "gzip: bytes=", text.size(), " (zlib has no memory for them). Free some.");
  std::string packed;
  std::array<Bytef, 1 << 16> block;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0 && !text.empty()) {
      stream.next_in = bytes_of(text);
      stream.avail_in = piece_of(text.size());
      text.remove_prefix(stream.avail_in);
    }
    stream.next_out = block.data();
    stream.avail_out = static_cast<uInt>(block.size());
    state = deflate(&stream, text.empty() ? Z_FINISH : Z_NO_FLUSH);
    packed.append(reinterpret_cast<const char*>(block.data()), block.size() - stream.avail_out);
  }
  return packed;
}

std::string gunzip(std::string_view bytes, const std::string& who, std::size_t most) {
  constexpr std::string_view advice = "Take a whole copy of it.";
  Inflation inflation;
  z_stream& stream = inflation.stream;
  require<EnvironmentError>(inflateInit2(&stream, window_of_gzip) == Z_OK, who,
                            " (zlib has no memory to unpack it). Free some.");
  std::string text;
  std::array<Bytef, 1 << 16> block;
  int state = Z_OK;
  for (;;) {
    if (stream.avail_in == 0) {
      stream.next_in = bytes_of(bytes);
      stream.avail_in = piece_of(bytes.size());
      bytes.remove_prefix(stream.avail_in);
    }
    if (state == Z_STREAM_END) {
      if (stream.avail_in == 0) return text;
      inflateReset(&stream);  // what follows is another file
    }
    stream.next_out = block.data();
    stream.avail_out = static_cast<uInt>(block.size());
    state = inflate(&stream, Z_NO_FLUSH);
    require<DataError>(state != Z_BUF_ERROR, who, " (is a gzip file that was cut short). ", advice);
    require<DataError>(state == Z_OK || state == Z_STREAM_END, who, " (is no gzip file, or is damaged: ",
                       stream.msg == nullptr ? "it asks for a dictionary" : stream.msg, "). ", advice);
    text.append(reinterpret_cast<const char*>(block.data()), block.size() - stream.avail_out);
    require<DataError>(text.size() <= most, who, " (unpacks to more than ", most,
                       " bytes, which no file of rows has). Unpack it by hand and look at it.");
  }
}

}  // namespace opshap::runs
