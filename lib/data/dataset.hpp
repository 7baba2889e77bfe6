#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain.hpp"
#include "core/scenario.hpp"
#include "data/hdf5.hpp"
#include "data/sample_fields.hpp"
#include "pde/problem.hpp"
#include "pde/trajectories.hpp"

namespace opshap::data {

/// Domains, spaces and parameters as JSON, as data sets and weights carry them. Numbers survive the way there and back
/// exactly.
///
/// A domain is a grid: {"shape","extents","centring","periodic","axes":[{"points","origin","extent","intervals",
/// "offset","centring","periodic"},..]}. The first four keys are those of files from before "axes": sizes, the first
/// axis's centring, and whether all axes are periodic. A space is {"channels":[{"name","unit"},..],"domain":{..}}.
/// Throws InvalidArgument for a mesh.
nlohmann::ordered_json to_json(const Domain& domain);
nlohmann::ordered_json to_json(const pde::Space& space);
/// [{"name","unit"},..].
nlohmann::ordered_json to_json(const std::vector<pde::Channel>& channels);
/// {"nu":0.01,"solver":"etdrk4"}, in the order of the parameters.
nlohmann::ordered_json to_json(const std::vector<pde::Parameter>& parameters);

/// Throw DataError, starting with `who`, for JSON that is not such a domain or space, or not such values.
Domain domain_from_json(const nlohmann::ordered_json& json, std::string_view who);
pde::Space space_from_json(const nlohmann::ordered_json& json, std::string_view who);
std::vector<pde::Channel> channels_from_json(const nlohmann::ordered_json& json, std::string_view who);
pde::ParameterValues parameters_from_json(const nlohmann::ordered_json& json, std::string_view who);
/// The problem of {"pde","parameters"}. Throws the same for the parameters.
std::unique_ptr<pde::Problem> problem_of(const nlohmann::ordered_json& json, std::string_view who);
/// The same for whatever equation that is.
std::unique_ptr<pde::Equation> equation_of(const nlohmann::ordered_json& json, std::string_view who);

/// How many samples a data set has, how they are divided into parts, and at which resolutions they are served.
struct LayoutRequest {
  std::int64_t samples = 0;
  /// Counts that add up to `samples`; all 0 to divide the samples by `division`.
  std::int64_t train = 0, validation = 0, test = 0;
  /// Of the slots; empty for halved_resolutions(): the native grid, and every second, fourth, .. point of it while
  /// `fewest_points` are left.
  std::vector<Resolution> resolutions;
  /// The proportions of the parts when no counts are given, and the fewest samples for testing. The defaults are the
  /// paper's sizes.
  struct Division {
    double train = 4220, validation = 750, test = 30;
    std::int64_t fewest_test = 4;
  } division;
  std::int64_t fewest_points = 16;
};

/// The request with nothing left open: {"samples","train","validation","test","resolutions"}. `who` starts the
/// messages. Throws InvalidArgument for counts that do not add up, too few samples for the parts, and resolutions that
/// no stride of the grid gets to.
nlohmann::ordered_json resolved_layout(std::string_view who, const LayoutRequest& request, const Domain& domain);

/// [samples, (C,) points...]: the shape of the fields of a space in a file.
std::vector<std::int64_t> field_shape(const pde::Space& space, std::int64_t samples);

/// Adds what a finished file has beside its samples: the coordinates, the split and the resolution slots of a resolved
/// layout.
void append_layout(std::vector<Column>& columns, const nlohmann::ordered_json& layout, const Domain& domain);

enum class Split : std::uint8_t { train = 0, validation = 1, test = 2 };
inline constexpr std::array all_parts = {Split::train, Split::validation, Split::test};

/// Input and target fields of one problem on its native domain, or of flows on meshes, sample by sample, in memory.
///
/// On disk, an HDF5 file (data/hdf5.hpp): /u0 and /target [samples, (C,) points...] float32; /x (and /y) float64, the
/// coordinates; /split and /resolution_slot uint8; /crc32c uint32, of the bytes of one sample's u0 and target;
/// /params/* float64, the numbers drawn for the inputs (NaN where a sample does not use one); /qc/* float64, what the
/// solver watched. Root attributes say how the set was made: `input` and `output` are the two spaces
/// (data/dataset.hpp), `input_mean` is the mean of each input channel over the training samples.
struct Dataset {
  static constexpr int schema_version = 1;

  std::string pde;               ///< registry name of the problem, or what import_dataset() calls a set from elsewhere
  std::string parameters = {};   ///< of the problem, as JSON; empty where nobody says
  SampleFields inputs, targets;  ///< on the domains that the file names
  std::vector<pde::Channel> input_channels = {}, target_channels = {};
  /// [C]: the mean of each input channel over domain and training samples. Empty without training samples.
  std::vector<double> input_mean = {};
  /// [samples]; contiguous: train, then validation, then test.
  std::vector<Split> split;
  /// [samples]; index modulo the number of resolutions: which one a sample is always served at.
  std::vector<std::uint8_t> resolution_slot;
  std::vector<Resolution> resolutions;  ///< of each slot
  /// So many samples, one after the other, are windows (t, t + lead) of one trajectory.
  int windows = 1;
  /// [domains] of trajectories: what each node is. Empty for a grid.
  std::vector<std::vector<pde::NodeType>> node_types = {};
  std::string content_hash;  ///< xxh64 over the samples in index order, 16 hexadecimal digits

  std::int64_t samples() const { return inputs.count(); }
  /// Indices of the samples of one part, ascending.
  std::vector<std::int64_t> indices(Split part) const;
  /// What an operator that learned them says that it learned: the name of the problem and its parameters.
  std::string problem() const;
  /// Those that a rule explains: of a trajectory the window in the middle, and none where the explained point is a node
  /// of a wall, on which a flow is what it is at all times.
  std::vector<std::int64_t> explained(Split part, const ScenarioRule& rule) const;
};

/// Reads a finished data set and checks its checksums. Throws DataError for a file that is missing, truncated, corrupt,
/// or of another schema version. Memory: four times the file at the peak. Not thread-safe, as the HDF5 library.
Dataset read_dataset(const std::filesystem::path& path);

/// The same samples, served in turn at other resolutions. Throws InvalidArgument unless strides of the grid get there.
Dataset served_at(Dataset data, const std::vector<Resolution>& resolutions);

/// The state at rest of the problem that the data are of, or why there is none.
pde::Rest rest_of(const Dataset& data);

/// The rule for inputs of this data set: the constants of a mean baseline are those of the training samples, and those
/// of a baseline at rest are rest_of(), unless the rule has some. The field of a node_mean is the mean of the training
/// samples at each point.
/// Throws InvalidArgument for a mean baseline where the data set has no training samples, for one of each node where
/// samples are on meshes of their own, and for one at rest where its problem has no such state.
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
