#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/field.hpp"

namespace opshap {

enum class Split : std::uint8_t { train = 0, validation = 1, test = 2 };

/// Input and target fields of one PDE on its native grid, sample by sample, in memory.
struct Dataset {
  std::string pde;                            ///< registry name
  FieldBatch inputs, targets;                 ///< [samples, C, points]
  std::vector<Split> split;                   ///< [samples]; contiguous: train, then validation, then test
  std::vector<std::uint8_t> resolution_slot;  ///< [samples]; index modulo the number of resolutions: which one a sample is always served at
  std::string content_hash;                   ///< xxh64 over the samples in index order, 16 hexadecimal digits

  std::int64_t samples() const { return inputs.batch; }
  /// Indices of the samples of one part, ascending.
  std::vector<std::int64_t> indices(Split part) const;
};

/// Reads a finished data set and checks its checksums. Throws DataError for a file that is missing, truncated, corrupt, or of another schema version.
Dataset read_dataset(const std::filesystem::path& path);

}  // namespace opshap
