#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

struct zip;

namespace opshap::data {

enum class Dtype { float32, float64, int32, int64 };

/// A shape as messages write it: "[8,1,64]".
std::string shape_text(const std::vector<std::int64_t>& shape);

/// NumPy's name of a type: "float32".
std::string_view to_string(Dtype dtype);

/// An array of a .npy file: row-major values, held as double or std::int64_t; `dtype` says how they are stored.
struct NpyArray {
  std::vector<std::int64_t> shape;  ///< [] for a scalar
  Dtype dtype = Dtype::float64;
  std::variant<std::vector<double>, std::vector<std::int64_t>> values;

  std::int64_t size() const;
  /// Throws InvalidArgument when the array holds integers; `who` starts the message.
  const std::vector<double>& reals(std::string_view who) const;
  /// Throws InvalidArgument when the array holds floating-point numbers.
  const std::vector<std::int64_t>& integers(std::string_view who) const;
};

/// Parses the bytes of a .npy file, format versions 1 to 3 (NEP 1), with elements '<f2' (which becomes float32), '<f4',
/// '<f8', '<i4' or '<i8', in C or Fortran order.
///
/// Throws DataError for bytes that are no such file (every length is checked against what is there), InvalidArgument
/// for element types that are valid but not read. `name` is the file's, for messages.
NpyArray parse_npy(std::span<const std::byte> bytes, std::string_view name);

/// The bytes of a .npy file of version 1. Throws InvalidArgument when values and shape disagree or an integer does not
/// fit in int32.
std::string format_npy(const NpyArray& array);

/// "-" is standard input. Throws as read_file and parse_npy.
NpyArray read_npy(const std::filesystem::path& path);

/// "-" is standard output. Throws as format_npy and write_file.
void write_npy(const std::filesystem::path& path, const NpyArray& array);

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
