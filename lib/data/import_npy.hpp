#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/domain.hpp"
#include "data/import.hpp"

namespace opshap::data {

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
std::unique_ptr<ImportSource> open_npy(const NpyOptions& options);

}  // namespace opshap::data
