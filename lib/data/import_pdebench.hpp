#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "data/import.hpp"

namespace opshap::data {

/// What a PDEBench file leaves open.
struct PdebenchOptions {
  std::filesystem::path file;
  /// The time step that is the target; the input is step 0. Nothing: the step at the time that the paper takes for its
  /// problem of this kind, or at half of all times.
  std::optional<std::int64_t> time_index;
  /// "advection1d" or "burgers1d" for a file whose attributes do not say which of the two it holds. Empty: what they
  /// say.
  std::string problem;
};

/// import_dataset() of a file of PDEBench, in a process of its own: the HDF5 library crashes on some damaged files.
///
/// What it holds is found by its contents, never by its name:
///
/// - `tensor` [N,T,n]: advection (attribute beta) or Burgers (attribute Nu) in one dimension;
/// - `tensor` [N,1,n,n] and `nu` [N,n,n]: Darcy flow;
/// - groups "0000", "0001", .. with `data` [T,n,1] (diffusion-sorption), [T,n,n,1] (shallow water, radial dam break) or
///   [T,n,n,2] (diffusion-reaction), and `grid/t`, `grid/x`, `grid/y`.
///
/// Axes of one entry may be missing or added. Attributes and coordinates may be missing. The time coordinate may have
/// one entry more than there are times, as the published files have it. Coordinates are middles of cells, or nodes
/// with both ends where they begin and end with a domain that is not periodic.
///
/// Throws DataError for a file of another layout, which names those of PDEBench's flows and of the Well, for a crash
/// of the library, and as Hdf5Source; InvalidArgument for options that do not fit the file.
void import_pdebench(const PdebenchOptions& options, const ImportRequest& request, const std::filesystem::path& path);

}  // namespace opshap::data
