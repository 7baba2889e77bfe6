#include "data/meshgraphnets_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "core/names.hpp"
#include "data/meshgraphnets.hpp"
#include "data/tfrecord.hpp"

namespace opshap::data {

namespace fs = std::filesystem;

namespace {

/// Numbers of the type that the format has, as bytes.
template <typename Stored, typename Numbers>
std::string bytes_as(const Numbers& numbers) {
  std::string bytes;
  bytes.reserve(std::size(numbers) * sizeof(Stored));
  for (const auto& number : numbers) {
    const auto stored = static_cast<Stored>(number);
    bytes.append(reinterpret_cast<const char*>(&stored), sizeof stored);
  }
  return bytes;
}

/// Without the last digits, which are the rounding of a difference.
double rounded_step(double step) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.12g", step);
  return number_of<double>(digits).value_or(step);
}

std::size_t width_of(const std::string& array) { return array == "velocity" ? 2 : 1; }

}  // namespace

MeshgraphnetsWriter::MeshgraphnetsWriter(const fs::path& folder, std::string simulator,
                                         const std::vector<std::string>& channels)
    : folder_(folder), dynamic_({"velocity"}) {
  std::vector<std::string> expected = {"velocity_x", "velocity_y"};
  for (const char* name : {"density", "pressure"}) {
    if (std::ranges::find(channels, name) == channels.end()) continue;
    expected.emplace_back(name);
    dynamic_.emplace_back(name);
  }
  require(channels == expected, "meshgraphnets: channels=", joined(channels),
          " (the format has velocity_x, velocity_y, density, pressure, the last two if there are some). Give these.");
  require(!is_there(folder / "meta.json"), "meshgraphnets: folder=", folder.string(),
          " (has a data set already: meta.json). Choose another folder, or remove it.");
  meta_.simulator = std::move(simulator);
  make_folder(folder);
  for (const Split part : all_parts)
    files_.push_back(std::make_unique<NewFile>(folder / (meshgraphnets_name(part) + ".tfrecord")));
}

void MeshgraphnetsWriter::take_times(const std::vector<double>& times) {
  require(times.size() >= 2, "meshgraphnets: frames=", times.size(),
          " (the time step is between two). Give more frames.");
  meta_.frames = std::ssize(times);
  meta_.start = times.front();
  meta_.time_step = rounded_step((times.back() - times.front()) / static_cast<double>(times.size() - 1));
  const double largest = std::max(std::abs(times.front()), std::abs(times.back()));
  for (std::size_t frame = 0; frame < times.size(); ++frame) {
    const double expected = meta_.start + static_cast<double>(frame) * meta_.time_step;
    const bool equal = meta_.time_step > 0 && std::abs(times[frame] - expected) <= 1e-9 * largest;
    require(equal, "meshgraphnets: frame=", frame, ", time=", times[frame],
            " (frames of the format are equally spaced: ", expected, " is expected). Give such times.");
  }
  for (const std::string name : {"cells", "mesh_pos", "node_type"}) {
    const std::int64_t width = name == "cells" ? 3 : name == "mesh_pos" ? 2 : 1;
    meta_.fields[name] = {.shape = {1, -1, width}, .dtype = name == "mesh_pos" ? Dtype::float32 : Dtype::int32};
  }
  for (const std::string& name : dynamic_)
    meta_.fields[name] = {.dynamic = true, .shape = {meta_.frames, -1, static_cast<std::int64_t>(width_of(name))}};
  times_ = times;
}

void MeshgraphnetsWriter::add(Split part, const pde::Trajectory& trajectory) {
  if (times_.empty()) take_times(trajectory.times);
  require(trajectory.times == times_,
          "meshgraphnets: times (are others than those of the first trajectory, and the "
          "format has one list of them). Give the same.");
  const Mesh& mesh = trajectory.domain.as_mesh();
  const auto nodes = static_cast<std::size_t>(mesh.size());
  require(mesh.dimension == 2 && !mesh.cells.empty() && trajectory.node_types.size() == nodes,
          "meshgraphnets: domain=", mesh.describe(), ", node types=", trajectory.node_types.size(),
          " (the format has triangles, and a type for each node). Give such a mesh.");
  const std::size_t channels = dynamic_.size() + 1;
  require(trajectory.frames.size() == times_.size() * channels * nodes,
          "meshgraphnets: numbers=", trajectory.frames.size(), " (", times_.size(), " frames of ", channels,
          " channels and ", nodes, " nodes have others). Give all frames.");
  const bool finite = std::ranges::all_of(trajectory.frames, [](float value) { return std::isfinite(value); });
  require<NumericalError>(finite, "meshgraphnets: frames (hold a value that is not finite). Use a smaller time step.");
  const std::vector<float> points(mesh.points.begin(), mesh.points.end());
  try {
    Mesh::of_cells(2, {points.begin(), points.end()}, mesh.cells);
  } catch (const InvalidArgument& error) {
    throw NumericalError(message("meshgraphnets: positions (are rounded to float32, and then: ", error.what(),
                                 "). Use a coarser mesh."));
  }
  std::vector<std::pair<std::string, std::string>> features = {
      {"cells", bytes_as<std::int32_t>(mesh.cells)},
      {"mesh_pos", bytes_as<float>(points)},
      {"node_type", bytes_as<std::int32_t>(trajectory.node_types)}};
  std::size_t channel = 0;
  for (const std::string& name : dynamic_) {
    features.emplace_back(name, bytes_as<float>(trajectory.nodes_first(channel, width_of(name))));
    channel += width_of(name);
  }
  const std::string record = format_example(features);
  NewFile& file = *files_.at(static_cast<std::size_t>(part));
  file.append(record_head(record));
  file.append(record);
  file.append(record_tail(record));
}

void MeshgraphnetsWriter::finish() {
  require(!times_.empty(), "meshgraphnets: folder=", folder_.string(),
          " (no trajectory was given, so there are no times). Give some.");
  for (const auto& file : files_) file->finish();
  write_file(folder_ / "meta.json", format_meshgraphnets_meta(meta_));
}

}  // namespace opshap::data
