#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain.hpp"
#include "core/scenario.hpp"
#include "data/dataset.hpp"
#include "pde/problem.hpp"

namespace opshap::data {

/// Fields of samples one after the other, each [C, points].
struct Pairs {
  std::vector<float> inputs, targets;
};

/// Pairs of fields that another program made: what an import reads.
struct ImportSource {
  /// The name that stands where other data sets have that of a problem: "pdebench_advection1d", "npy_waves". It has
  /// letters, digits, '_' and '-' alone, so that it can name a folder, and no problem of ours begins with the same
  /// word.
  std::string name;
  /// One line: the equation and its domain, as far as they are known.
  std::string equation;
  pde::Space input, output;
  /// How many pairs there are.
  std::int64_t samples = 0;
  /// Appends the fields first, .., first + count − 1, each [C, points]. Throws DataError for a file that is damaged.
  std::function<void(std::int64_t first, std::int64_t count, Pairs& pairs)> read;

  std::vector<std::string> files;
  /// What decides the pairs besides the files: {"time_index":30}.
  nlohmann::ordered_json options;
  /// What else is known of the pairs, as JSON: {"format","layout","parameters"{..},"target_time","notes"[..],..}. The
  /// notes are sentences about what to know of these pairs before they are used.
  nlohmann::ordered_json facts;
};

/// What is made of a source.
struct ImportRequest {
  LayoutRequest layout = {};
  /// The grid that the fields are interpolated to (core/field.hpp) before all else; nothing: their own.
  std::optional<Resolution> interpolate = {};
  /// Leaves out samples with a value that is not finite. They are not counted, and the file names them.
  bool skip_nonfinite = false;
};

/// Makes a data set file at `path` from the first samples of a source; with layout.samples = 0 from all of them.
///
/// The file is like one of generate() but for the solver: its root attribute `origin` is "imported", and `imported`
/// has the facts and the options of the source, and the name, size and xxh64 of each of its files. When the file is
/// already there for the same import, nothing is done. Throws DataError for a source that is damaged, has values that
/// are not finite, or has too few samples; InvalidArgument as resolved_layout(), and when `path` is another file;
/// EnvironmentError on a full disk; Stopped after a signal. After an error there is no file.
void import_dataset(ImportSource source, const ImportRequest& request, const std::filesystem::path& path);

/// The root attribute `origin` of a data set that was imported.
inline constexpr const char* imported_origin = "imported";

/// {"file","bytes","xxh64"} of a file that may be larger than the memory; "file" is its name without folders. Throws
/// DataError for one that cannot be read, Stopped after a signal.
nlohmann::ordered_json fingerprint(const std::filesystem::path& path);

/// What the names of imported flows on meshes begin with, where their equation's own follows: "cylinder_flow".
inline constexpr std::string_view imported_flows = "meshgraphnets_";

/// "PDEBench, layout tensor: a.hdf5", of the metadata of a data set; empty for one that was not imported.
std::string imported_from(const nlohmann::ordered_json& metadata);
/// What an import says of its pairs, sentence by sentence; nothing for a set of our generator.
std::vector<std::string> import_notes(const nlohmann::ordered_json& metadata);

/// Two arrays and what they do not say themselves.
struct NpyOptions {
  std::filesystem::path input, target;
  std::string name;  ///< of the set, behind "npy_"; empty: the name of the input's file
  /// Axes of the grid; 0 where the shapes tell.
  int dimension = 0;
  bool periodic = true;
  Centring centring = Centring::node;
  /// Length and beginning of each axis, x first; one number is for all axes. Empty: 1 and 0.
  std::vector<double> extent, origin;
};

/// Opens a pair of .npy files: arrays [N,C,n] or [N,n] in one dimension, [N,C,nx,ny] or [N,nx,ny] in two, of the same
/// N and the same grid, with any numbers of channels.
///
/// An array [N,a,b] is a plane when a = b, and has channels when a <= 8 and a < b; the other array of the pair or
/// `dimension` can say otherwise. Throws DataError as read_npy() and for arrays that are no pair; InvalidArgument for
/// options that do not fit, and for shapes that could mean either.
ImportSource open_npy(const NpyOptions& options);

}  // namespace opshap::data
