#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/hdf5.hpp"
#include "data/meshgraphnets.hpp"
#include "data/npy.hpp"
#include "data/tfrecord.hpp"
#include "support/mutations.hpp"
#include "support/run_folder.hpp"

namespace opshap {

/// An array of a trajectory as the files hold it.
struct Held {
  std::vector<std::int64_t> shape;
  std::variant<std::vector<float>, std::vector<std::int64_t>> values;

  std::int64_t size() const { return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies{}); }
};
using Arrays = std::map<std::string, Held>;

/// [T, N, width] of channels of frames [T, C, N]; [N, T, width] with the nodes first.
inline Held dynamic_array(const pde::Trajectory& flow, std::size_t first, std::size_t width, bool nodes_first) {
  const auto nodes = static_cast<std::size_t>(flow.nodes()), frames = flow.times.size();
  std::vector<float> values(frames * nodes * width);
  for (std::size_t frame = 0; frame < frames; ++frame) {
    for (std::size_t node = 0; node < nodes; ++node) {
      for (std::size_t channel = 0; channel < width; ++channel) {
        const std::size_t row = nodes_first ? node * frames + frame : frame * nodes + node;
        values[row * width + channel] = flow.frame(static_cast<std::int64_t>(frame))[(first + channel) * nodes + node];
      }
    }
  }
  const auto times = static_cast<std::int64_t>(frames), points = flow.nodes();
  return {{nodes_first ? points : times, nodes_first ? times : points, static_cast<std::int64_t>(width)}, values};
}

/// An array that every frame has.
template <typename Number>
Held repeated(const std::vector<Number>& once, std::int64_t width, std::int64_t copies) {
  std::vector<Number> values;
  for (std::int64_t copy = 0; copy < copies; ++copy) values.insert(values.end(), once.begin(), once.end());
  return {{copies, static_cast<std::int64_t>(once.size()) / width, width}, values};
}

/// The arrays of a flow: with what does not change in so many copies, and with nodes as the first axis or times.
inline Arrays arrays_of(const pde::Trajectory& flow, std::int64_t copies, bool nodes_first = false) {
  const Mesh& mesh = flow.domain.as_mesh();
  std::vector<std::int64_t> types;
  for (const pde::NodeType type : flow.node_types) types.push_back(static_cast<std::int64_t>(type));
  const std::vector<float> points(mesh.points.begin(), mesh.points.end());
  const auto channels = flow.frame_size() / static_cast<std::size_t>(flow.nodes());
  Arrays arrays = {{"mesh_pos", repeated(points, 2, copies)},
                   {"cells", repeated(mesh.cells, 3, copies)},
                   {"node_type", repeated(types, 1, copies)},
                   {"velocity", dynamic_array(flow, 0, 2, nodes_first)}};
  if (channels == 4) arrays["density"] = dynamic_array(flow, 2, 1, nodes_first);
  if (channels >= 3) arrays["pressure"] = dynamic_array(flow, channels - 1, 1, nodes_first);
  return arrays;
}

inline data::NpyArray as_npy(const Held& held) {
  if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&held.values))
    return {held.shape, data::Dtype::int64, *whole};
  const auto& reals = std::get<std::vector<float>>(held.values);
  return {held.shape, data::Dtype::float32, std::vector<double>(reals.begin(), reals.end())};
}

inline std::string npz_bytes(const Arrays& arrays) {
  std::vector<std::pair<std::string, data::NpyArray>> members;
  for (const auto& [name, held] : arrays) members.emplace_back(name, as_npy(held));
  return data::format_npz(members);
}

inline std::string h5_bytes(const std::map<std::string, Arrays>& groups) {
  std::vector<data::Column> columns;
  for (const auto& [group, arrays] : groups) {
    for (const auto& [name, held] : arrays) {
      data::Column column{message("/", group, "/", name), held.shape, {}};
      if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&held.values))
        column.values = std::vector<std::uint32_t>(whole->begin(), whole->end());
      else
        column.values = std::get<std::vector<float>>(held.values);
      columns.push_back(std::move(column));
    }
  }
  return data::hdf5_bytes(columns, "{}");
}

/// Another name for an array.
inline Arrays renamed(Arrays arrays, const std::string& from, const std::string& to) {
  auto node = arrays.extract(from);
  node.key() = to;
  arrays.insert(std::move(node));
  return arrays;
}

/// A record as the release has it: every array one value of bytes.
inline std::string record_of(const Arrays& arrays) {
  std::vector<std::pair<std::string, std::string>> features;
  for (const auto& [name, held] : arrays) {
    std::string bytes;
    const auto append = [&](auto number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof number); };
    if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&held.values))
      for (const std::int64_t number : *whole) append(static_cast<std::int32_t>(number));
    else
      for (const float number : std::get<std::vector<float>>(held.values)) append(number);
    features.emplace_back(name, bytes);
  }
  return data::format_example(features);
}

inline std::string framed(const std::string& record) {
  return data::record_head(record) + record + data::record_tail(record);
}

/// All trajectories of a part.
inline std::vector<pde::Trajectory> all_of(const data::MeshgraphnetsFolder& folder, data::Split part,
                                           const data::KeptFrames& keep = {}) {
  data::TrajectoryStream stream = folder.read(part, keep);
  std::vector<pde::Trajectory> found;
  while (auto trajectory = stream.next()) found.push_back(*std::move(trajectory));
  return found;
}

/// Tests with folders of flows, in memory where the system has a folder there, and with the project's own small data
/// set in the release's format.
class FlowFolder : public RunFolder {
 protected:
  FlowFolder() {
    if (::access("/dev/shm", W_OK) == 0) folder_ = fs::path("/dev/shm") / folder_.filename();
  }
  static fs::path fixture() { return fs::path(OPSHAP_SOURCE_DIR) / "reference_data/meshgraphnets/cylinder_flow"; }
  static std::string train() { return read_file(fixture() / "train.tfrecord"); }

  /// A folder of the fixture's meta.json, with one text in it replaced, and these records as its part `train`.
  fs::path with_records(const std::string& bytes, const std::string& from = "", const std::string& to = "") const {
    std::string meta = read_file(fixture() / "meta.json");
    if (!from.empty()) {
      const std::size_t at = meta.find(from);
      EXPECT_NE(std::string::npos, at) << from;
      meta.replace(at, from.size(), to);
    }
    fs::remove_all(folder_ / "changed");
    fs::create_directories(folder_ / "changed");
    put(folder_ / "changed/meta.json", meta);
    put(folder_ / "changed/train.tfrecord", bytes);
    return folder_ / "changed";
  }
  static void read_train(const fs::path& folder) { all_of(data::MeshgraphnetsFolder(folder), data::Split::train); }
};

}  // namespace opshap
