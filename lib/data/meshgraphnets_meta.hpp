#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/npy.hpp"

namespace opshap::data {

/// meta.json of a data set in the format of the MeshGraphNets release.
struct MeshgraphnetsMeta {
  /// How a record holds an array.
  struct Field {
    bool dynamic = false;             ///< whether every frame has it
    std::vector<std::int64_t> shape;  ///< three axes: frames (1 for what does not change), nodes or cells, numbers
    std::size_t open_axis = 1;        ///< the one of -1, whose size follows from the number of bytes
    Dtype dtype = Dtype::float32;
  };

  std::string simulator;    ///< "comsol", "su2"; empty where the file does not say
  double time_step = 0;     ///< seconds from frame to frame; 0 where the file does not say
  double start = 0;         ///< time of frame 0: an entry of ours, which other readers pass over
  std::int64_t frames = 0;  ///< trajectory_length; 0 where the file does not say
  std::map<std::string, Field> fields;

  /// The arrays that flows have: those of other names in a record are passed over.
  static const std::vector<std::string>& known_fields();
};

/// Reads meta.json. With `of_records` it must say how a record holds each array: `field_names`, `features` and
/// `trajectory_length`; otherwise what it says of them is passed over.
///
/// Throws DataError for a text that is no such file: a shape without -1 or with two, a length of a dynamic array that
/// is not trajectory_length, an unknown number type, and the type dynamic_varlen, which other data sets of the release
/// have.
MeshgraphnetsMeta parse_meshgraphnets_meta(std::string_view text, const std::string& name, bool of_records);

/// The text of meta.json, with the keys in the order of the release.
std::string format_meshgraphnets_meta(const MeshgraphnetsMeta& meta);

}  // namespace opshap::data
