#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/npy.hpp"

struct zip;

namespace opshap::data {

/// The arrays of a .npz file (numpy.savez, numpy.savez_compressed): a ZIP archive with a .npy file for each. An array
/// is read when it is asked for, so others may be of kinds that parse_npy() does not read.
class NpzFile {
 public:
  /// Throws DataError for bytes that are no whole ZIP archive. `name` is the file's, for messages.
  NpzFile(std::string bytes, std::string name);

  /// Of the arrays, without ".npy", in the order of the file.
  std::vector<std::string> names() const;
  bool contains(const std::string& array) const;
  /// Throws DataError when the array is not there or damaged, InvalidArgument for a compression that NumPy does not
  /// write, and both as parse_npy().
  NpyArray array(const std::string& array) const;

 private:
  std::string bytes_, name_;
  std::unique_ptr<struct zip, void (*)(struct zip*)> archive_;
};

/// The bytes of a .npz file with these arrays, stored as numpy.savez stores them. Throws as format_npy().
std::string format_npz(const std::vector<std::pair<std::string, NpyArray>>& arrays);

}  // namespace opshap::data
