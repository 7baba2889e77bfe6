#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/scenario.hpp"
#include "pde/problem.hpp"

namespace opshap::data {

enum class Split : std::uint8_t { train = 0, validation = 1, test = 2 };

/// Input and target fields of one problem on its native domain, sample by sample, in memory.
///
/// On disk, an HDF5 file (data/hdf5.hpp): /u0 and /target [samples, (C,) points...] float32; /x (and /y) float64, the
/// coordinates; /split and /resolution_slot uint8; /crc32c uint32, of the bytes of one sample's u0 and target;
/// /params/* float64, the numbers drawn for the inputs (NaN where a sample does not use one); /qc/* float64, what the
/// solver watched. Root attributes say how the set was made: `input` and `output` are the two spaces
/// (data/space_json.hpp), `input_mean` is the mean of each input channel over the training samples.
struct Dataset {
  static constexpr int schema_version = 1;

  std::string pde;              ///< registry name of the problem, or what import_dataset() calls a set from elsewhere
  std::string parameters = {};  ///< of the problem, as JSON; empty where nobody says
  /// [samples, C, points], on the domain that the file names.
  FieldBatch inputs, targets;
  std::vector<pde::Channel> input_channels = {}, target_channels = {};
  /// [C]: the mean of each input channel over domain and training samples. Empty without training samples.
  std::vector<double> input_mean = {};
  /// [samples]; contiguous: train, then validation, then test.
  std::vector<Split> split;
  /// [samples]; index modulo the number of resolutions: which one a sample is always served at.
  std::vector<std::uint8_t> resolution_slot;
  std::vector<Resolution> resolutions;  ///< of each slot
  std::string content_hash;             ///< xxh64 over the samples in index order, 16 hexadecimal digits

  std::int64_t samples() const { return inputs.batch; }
  /// Indices of the samples of one part, ascending.
  std::vector<std::int64_t> indices(Split part) const;
};

/// Reads a finished data set and checks its checksums. Throws DataError for a file that is missing, truncated, corrupt,
/// or of another schema version. Memory: four times the file at the peak. Not thread-safe, as the HDF5 library.
Dataset read_dataset(const std::filesystem::path& path);

/// The same samples, served in turn at other resolutions. Throws InvalidArgument unless strides of the grid get there.
Dataset served_at(Dataset data, const std::vector<Resolution>& resolutions);

/// The rule for inputs of this data set: a mean baseline without means gets those of the training samples.
/// Throws InvalidArgument for a mean baseline where the data set has no training samples.
ScenarioRule rule_for(ScenarioRule rule, const Dataset& data);

/// [C]: the mean of each channel over the domain, weighted by volume, and over the first `samples` of the fields [..,
/// C, points]. Empty for 0 samples.
std::vector<double> channel_means(const pde::Space& space, std::span<const float> fields, std::int64_t samples);

/// The JSON text that says how a data set was made: the file's root attribute `metadata`. Throws as read_dataset.
std::string read_dataset_metadata(const std::filesystem::path& path);

/// CRC-32C of the bytes of each sample's input followed by its target, [samples]. Both arrays are whole numbers of
/// fields; samples >= 1.
std::vector<std::uint32_t> sample_checksums(const std::vector<float>& inputs, const std::vector<float>& targets,
                                            std::int64_t samples);

/// xxh64 over input and target of each sample, in index order, as 16 hexadecimal digits.
std::string content_hash(const std::vector<float>& inputs, const std::vector<float>& targets, std::int64_t samples);

}  // namespace opshap::data
