#include "data/trajectory_arrays.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/mesh_overlap.hpp"
#include "data/npy.hpp"

namespace opshap::data {

namespace {

using Shape = std::vector<std::int64_t>;

[[noreturn]] void refuse_array(const TrajectoryArrays& arrays, const std::string& array, const std::string& why) {
  throw DataError(
      message("meshgraphnets: file=", arrays.place(), ", field=", array, " (", why, "). Get the file again."));
}

Shape shape_of(const TrajectoryArrays& arrays, const std::string& array) {
  const auto shape = arrays.shape(array);
  if (!shape) refuse_array(arrays, array, "is not there");
  const bool empty = std::ranges::any_of(*shape, [](std::int64_t size) { return size < 1; });
  if (empty) refuse_array(arrays, array, "has no entries: its shape is " + shape_text(*shape));
  return *shape;
}

/// An array that changes with time, and what its last axis holds.
struct Dynamic {
  std::string array;
  std::vector<std::string> channels;
};

std::vector<Dynamic> dynamic_arrays(const TrajectoryArrays& arrays) {
  if (!arrays.shape("velocity") && arrays.shape("uvp")) return {{"uvp", {"velocity_x", "velocity_y", "pressure"}}};
  std::vector<Dynamic> found = {{"velocity", {"velocity_x", "velocity_y"}}};
  for (const char* name : {"density", "pressure"}) {
    if (arrays.shape(name)) found.push_back({name, {name}});
  }
  return found;
}

/// The number of frames, and the axis that counts them.
struct TimeAxis {
  std::size_t axis = 0;
  std::int64_t frames = 0;
};

TimeAxis time_axis(const TrajectoryArrays& arrays, const Dynamic& dynamic, std::int64_t nodes) {
  const Shape shape = shape_of(arrays, dynamic.array);
  const auto width = static_cast<std::int64_t>(dynamic.channels.size());
  const bool plain = shape.size() == 2 && width == 1;
  const bool fits = plain || (shape.size() == 3 && shape[2] == width);
  const bool first = fits && shape[1] == nodes, second = fits && shape[0] == nodes;
  if (!first && !second) {
    refuse_array(arrays, dynamic.array,
                 message("has the shape ", shape_text(shape), "; it needs one of times, ", nodes, " nodes and ", width,
                         width == 1 ? " number" : " numbers"));
  }
  if (first && second)
    refuse_array(arrays, dynamic.array, "has as many frames as nodes: which axis is time is not known");
  return {first ? std::size_t{0} : std::size_t{1}, first ? shape[0] : shape[1]};
}

/// An array that does not change with time, [entries, width]. Where each frame has it, the frames are compared.
template <typename Number>
std::vector<Number> read_static(const TrajectoryArrays& arrays, const std::string& array, std::int64_t width,
                                std::int64_t frames, std::optional<std::int64_t> entries = {}) {
  const Shape shape = shape_of(arrays, array);
  // [n, width] and [copies, n, width]; of single numbers also [n] and [copies, n].
  const bool has_width = !shape.empty() && shape.back() == width && shape.size() >= 2 &&
                         (width > 1 || shape.size() == 3 || shape[0] == entries);
  const std::size_t axes = shape.size() - (has_width ? 1 : 0);
  const bool has_copies = axes == 2;
  const bool fits = (has_width || width == 1) && (axes == 1 || axes == 2) &&
                    (!entries || shape[axes - 1] == *entries) && (!has_copies || shape[0] == 1 || shape[0] == frames);
  if (!fits) {
    const std::string wanted = entries ? message(*entries) : "n";
    refuse_array(arrays, array,
                 message("has the shape ", shape_text(shape), "; it needs [", wanted, ",", width,
                         "], or that behind 1 or ", frames, " copies"));
  }
  std::vector<Number> first;
  if (!has_copies) {
    arrays.read(array, {.axis = 0, .first = 0, .count = shape[0]}, first);
    return first;
  }
  arrays.read(array, {.axis = 0, .first = 0, .count = 1}, first);
  const std::int64_t at_once = std::max<std::int64_t>(1, (1 << 20) / static_cast<std::int64_t>(first.size()));
  std::vector<Number> copies;
  for (std::int64_t frame = 1; frame < shape[0]; frame += at_once) {
    copies.clear();
    arrays.read(array, {.axis = 0, .first = frame, .count = std::min(at_once, shape[0] - frame)}, copies);
    for (std::size_t copy = 0; copy < copies.size(); copy += first.size()) {
      if (!std::equal(first.begin(), first.end(), copies.begin() + static_cast<std::ptrdiff_t>(copy))) {
        refuse_array(arrays, array,
                     message("is another one in frame ", frame + static_cast<std::int64_t>(copy / first.size()),
                             ", and meshes do not change here"));
      }
    }
  }
  return first;
}

std::vector<pde::NodeType> node_types_of(const TrajectoryArrays& arrays, std::int64_t nodes, std::int64_t frames) {
  std::vector<pde::NodeType> types;
  for (const std::int64_t number : read_static<std::int64_t>(arrays, "node_type", 1, frames, nodes)) {
    if (number < 0 || number > static_cast<std::int64_t>(pde::NodeType::wall))
      refuse_array(arrays, "node_type", message("has the number ", number, "; node types are 0 to 6"));
    types.push_back(static_cast<pde::NodeType>(number));
  }
  return types;
}

std::vector<std::int64_t> frames_to_keep(const KeptFrames& keep, std::int64_t trajectory, std::int64_t frames) {
  std::vector<std::int64_t> kept;
  if (keep) {
    kept = keep(trajectory, frames);
  } else {
    for (std::int64_t frame = 0; frame < frames; ++frame) kept.push_back(frame);
  }
  std::int64_t before = -1;
  for (const std::int64_t frame : kept) {
    require(frame > before && frame < frames, "meshgraphnets: trajectory=", trajectory, ", frame=", frame,
            " (frames to keep ascend from 0 to ", frames - 1, "). Ask for frames that are there.");
    before = frame;
  }
  return kept;
}

}  // namespace

std::vector<std::string> channels_of(const TrajectoryArrays& arrays) {
  std::vector<std::string> channels;
  for (const Dynamic& dynamic : dynamic_arrays(arrays)) {
    shape_of(arrays, dynamic.array);
    channels.insert(channels.end(), dynamic.channels.begin(), dynamic.channels.end());
  }
  return channels;
}

Domain TrajectoryAssembler::domain_of(const TrajectoryArrays& arrays, std::vector<double> points,
                                      std::vector<std::int64_t> cells) {
  if (last_.points() > 0 && last_.as_mesh().points == points && last_.as_mesh().cells == cells) return last_;
  try {
    Mesh mesh = Mesh::of_cells(2, std::move(points), std::move(cells));
    const auto overlap = overlapping_triangles(mesh);
    if (overlap) {
      refuse_array(arrays, "cells", message("triangles ", overlap->first, " and ", overlap->second, " overlap"));
    }
    last_ = Domain::mesh(std::move(mesh));
  } catch (const InvalidArgument& error) {
    throw DataError(message("meshgraphnets: file=", arrays.place(), ": ", error.what()));
  }
  return last_;
}

pde::Trajectory TrajectoryAssembler::assemble(const TrajectoryArrays& arrays, std::int64_t trajectory,
                                              const KeptFrames& keep) {
  const std::string positions = arrays.shape("mesh_pos") || !arrays.shape("pos") ? "mesh_pos" : "pos";
  const Shape of_positions = shape_of(arrays, positions);
  if (of_positions.size() < 2) refuse_array(arrays, positions, "has the shape " + shape_text(of_positions));
  const std::int64_t nodes = of_positions[of_positions.size() - 2];
  const std::vector<Dynamic> dynamics = dynamic_arrays(arrays);
  std::vector<TimeAxis> times;
  for (const Dynamic& dynamic : dynamics) {
    times.push_back(time_axis(arrays, dynamic, nodes));
    if (times.back().frames != times.front().frames)
      refuse_array(
          arrays, dynamic.array,
          message("has ", times.back().frames, " frames, and ", dynamics.front().array, " has ", times.front().frames));
  }
  const std::int64_t frames = times.front().frames;
  const std::vector<std::string> channels = channels_of(arrays);
  require<DataError>(channels == channels_, "meshgraphnets: file=", arrays.place(), ", channels=", joined(channels),
                     " (the first trajectory has ", joined(channels_), "). Get the file again.");

  pde::Trajectory made;
  const std::vector<float> points = read_static<float>(arrays, positions, 2, frames, nodes);
  made.domain =
      domain_of(arrays, {points.begin(), points.end()}, read_static<std::int64_t>(arrays, "cells", 3, frames));
  made.node_types = node_types_of(arrays, nodes, frames);
  const std::vector<std::int64_t> kept = frames_to_keep(keep, trajectory, frames);
  const auto size = static_cast<std::size_t>(nodes);
  made.frames.reserve(kept.size() * channels.size() * size);
  std::vector<float> values;  // of one frame, [N, width]
  for (const std::int64_t frame : kept) {
    made.times.push_back(start_ + static_cast<double>(frame) * time_step_);
    for (std::size_t i = 0; i < dynamics.size(); ++i) {
      values.clear();
      arrays.read(dynamics[i].array, {.axis = times[i].axis, .first = frame, .count = 1}, values);
      const bool finite = std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
      if (!finite)
        refuse_array(arrays, dynamics[i].array, message("holds a value that is not finite, in frame ", frame));
      const std::size_t width = dynamics[i].channels.size();
      for (std::size_t channel = 0; channel < width; ++channel) {
        for (std::size_t node = 0; node < size; ++node) made.frames.push_back(values[node * width + channel]);
      }
    }
  }
  return made;
}

}  // namespace opshap::data
