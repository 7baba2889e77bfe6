#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace opshap::data {

/// One tensor, row-major, little endian.
struct StoredTensor {
  std::vector<std::int64_t> shape;
  std::string dtype = "F32";  ///< "F32", "F64", "C64": pairs of float32 (re, im), or "I64": counters of a training
  std::vector<std::byte> bytes;
};

/// Tensors and metadata of a safetensors file: 8 bytes header length, a flat JSON header, the tensors' bytes. Nothing
/// in it is ever executed.
struct Safetensors {
  std::map<std::string, StoredTensor> tensors;
  std::map<std::string, std::string> metadata;  ///< without the checksum and without who wrote it
  bool own = false;  ///< whether the file that was read was written by serialise_safetensors()
};

/// Reads the bytes of a file; `who` is the name used in messages. Needs no more memory than a small multiple of the
/// bytes.
///
/// Files written by us carry a CRC-32C of header and data in the metadata, so that any flipped bit is noticed; files
/// without one are accepted. Tensors of half precision, F16 and BF16, become F32, which holds all of their numbers.
/// Throws DataError for anything that is not a complete, gapless file of F16, BF16, F32, F64, C64 and I64 tensors.
Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& who);
/// The bytes of a file with a checksum; the same content always gives the same bytes.
std::string serialise_safetensors(const Safetensors& content);

Safetensors read_safetensors(const std::filesystem::path& path);
/// In one step, as write_file.
void write_safetensors(const std::filesystem::path& path, const Safetensors& content);

}  // namespace opshap::data
