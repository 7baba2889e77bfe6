#include "data/trajectory_file.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"

namespace opshap::data {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t axes_of_plane = 2, corners = 3;

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

std::vector<std::int32_t> narrow(const std::vector<std::int64_t>& numbers) { return {numbers.begin(), numbers.end()}; }

/// The bytes behind a sample's checksum and the content's hash, of one mesh.
template <typename Add>
void add_mesh(const Domain& domain, const std::vector<pde::NodeType>& types, const Add& add) {
  const Mesh& mesh = domain.as_mesh();
  add(bytes_of(mesh.points));
  const std::vector<std::int32_t> cells = narrow(mesh.cells);
  add(bytes_of(cells));
  add(bytes_of(types));
}

/// A part of /u0 or /target: the rows of one sample.
std::span<const float> rows_of(const TrajectoryTable& table, const std::vector<float>& values, int channels,
                               std::int64_t sample) {
  const auto at = static_cast<std::size_t>(sample);
  const std::int64_t first = table.value_splits[at], last = table.value_splits[at + 1];
  return std::span(values).subspan(static_cast<std::size_t>(first * channels),
                                   static_cast<std::size_t>((last - first) * channels));
}

template <typename T>
std::vector<T> taken(const Hdf5Contents& file, const std::string& path, std::int64_t row_size) {
  Column column = file.column(path);
  auto* values = std::get_if<std::vector<T>>(&column.values);
  require<DataError>(values != nullptr && column.row_size() == row_size, "data set: file=", file.name(),
                     ", column=", path, " (has another type or another number of columns). Generate it again.");
  return std::move(*values);
}

/// Throws DataError unless the numbers begin at 0, do not fall and end at `rows`.
void require_splits(const Hdf5Contents& file, const char* path, const std::vector<std::int64_t>& splits,
                    std::size_t count, std::size_t rows) {
  const bool good = splits.size() == count + 1 && splits.front() == 0 && std::ranges::is_sorted(splits) &&
                    splits.back() == static_cast<std::int64_t>(rows);
  require<DataError>(good, "data set: file=", file.name(), ", column=", path,
                     " (does not divide the rows). Generate it again.");
}

Domain mesh_of(const Hdf5Contents& file, std::size_t number, std::span<const double> points,
               std::span<const std::int32_t> cells) try {
  return Domain::mesh(Mesh::of_cells(axes_of_plane, {points.begin(), points.end()}, {cells.begin(), cells.end()}));
} catch (const InvalidArgument& error) {
  throw DataError(
      message("data set: file=", file.name(), ", mesh=", number, " (", error.what(), "). Generate it again."));
}

}  // namespace

void TrajectoryTable::add(const pde::Trajectories& of, const pde::Trajectory& flow,
                          std::span<const FrameWindow> windows, Split part) {
  const std::int32_t place = place_of(flow.domain, flow.node_types);
  const auto nodes = static_cast<std::size_t>(flow.nodes());
  in_channels = out_channels = static_cast<int>(of.channels().size());
  const auto add_frame = [&](std::int64_t frame, std::vector<float>& to) {
    const std::vector<float> field = of.observed(flow.frame(frame));
    for (std::size_t node = 0; node < nodes; ++node)
      for (std::size_t at = node; at < field.size(); at += nodes) to.push_back(field[at]);
  };
  const auto index = static_cast<std::int32_t>(trajectories());
  for (const FrameWindow& window : windows) {
    mesh.push_back(place);
    trajectory.push_back(index);
    t0.push_back(flow.times[static_cast<std::size_t>(window.input)]);
    split.push_back(part);
    value_splits.push_back(value_splits.back() + flow.nodes());
    add_frame(window.input, u0);
    add_frame(window.target, target);
  }
}

std::int32_t TrajectoryTable::place_of(const Domain& domain, const std::vector<pde::NodeType>& types) {
  std::size_t at = 0;
  while (at < meshes.size() && !(meshes[at] == domain && node_types[at] == types)) ++at;
  if (at == meshes.size()) {
    meshes.push_back(domain);
    node_types.push_back(types);
  }
  return static_cast<std::int32_t>(at);
}

void TrajectoryTable::append(const TrajectoryTable& more) {
  std::vector<std::int32_t> place;
  for (std::size_t number = 0; number < more.meshes.size(); ++number)
    place.push_back(place_of(more.meshes[number], more.node_types[number]));
  const auto before = static_cast<std::int32_t>(trajectories());
  const std::int64_t nodes = value_splits.back();
  for (std::size_t sample = 0; sample < more.mesh.size(); ++sample) {
    mesh.push_back(place[static_cast<std::size_t>(more.mesh[sample])]);
    trajectory.push_back(before + more.trajectory[sample]);
    value_splits.push_back(nodes + more.value_splits[sample + 1]);
  }
  const auto add_all = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  add_all(t0, more.t0);
  add_all(split, more.split);
  add_all(u0, more.u0);
  add_all(target, more.target);
  in_channels = more.in_channels;
  out_channels = more.out_channels;
  if (numbers.empty()) {
    numbers = more.numbers;
    return;
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i].append(more.numbers[i]);
}

std::vector<std::uint32_t> TrajectoryTable::checksums() const {
  std::vector<std::uint32_t> found;
  for (std::int64_t sample = 0; sample < samples(); ++sample) {
    const auto number = static_cast<std::size_t>(mesh[static_cast<std::size_t>(sample)]);
    std::vector<std::byte> bytes;
    const auto add = [&bytes](std::span<const std::byte> more) { bytes.insert(bytes.end(), more.begin(), more.end()); };
    add_mesh(meshes[number], node_types[number], add);
    add(std::as_bytes(rows_of(*this, u0, in_channels, sample)));
    add(std::as_bytes(rows_of(*this, target, out_channels, sample)));
    found.push_back(crc32c(bytes));
  }
  return found;
}

std::string TrajectoryTable::content_hash() const {
  Xxh64 hash;
  const auto add = [&hash](std::span<const std::byte> more) { hash.add(more); };
  for (std::size_t number = 0; number < meshes.size(); ++number) add_mesh(meshes[number], node_types[number], add);
  add(bytes_of(mesh));
  add(bytes_of(t0));
  add(bytes_of(u0));
  add(bytes_of(target));
  return hash.digits();
}

std::vector<double> TrajectoryTable::input_mean() const {
  std::vector<double> means(static_cast<std::size_t>(in_channels), 0);
  double training = 0;
  for (std::int64_t sample = 0; sample < samples(); ++sample) {
    const auto at = static_cast<std::size_t>(sample);
    if (split[at] != Split::train) continue;
    ++training;
    const Domain& domain = meshes[static_cast<std::size_t>(mesh[at])];
    const std::span<const float> rows = rows_of(*this, u0, in_channels, sample);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto node = static_cast<std::int64_t>(i / means.size());
      means[i % means.size()] += domain.volume(node) / domain.volume() * static_cast<double>(rows[i]);
    }
  }
  if (training == 0) return {};
  for (double& mean : means) mean /= training;
  return means;
}

std::vector<Column> TrajectoryTable::columns() const {
  std::vector<double> points;
  std::vector<std::int32_t> cells;
  std::vector<std::uint8_t> types, parts;
  std::vector<std::int64_t> point_splits = {0}, cell_splits = {0};
  for (std::size_t number = 0; number < meshes.size(); ++number) {
    const Mesh& of = meshes[number].as_mesh();
    points.insert(points.end(), of.points.begin(), of.points.end());
    cells.insert(cells.end(), of.cells.begin(), of.cells.end());
    for (const pde::NodeType type : node_types[number]) types.push_back(static_cast<std::uint8_t>(type));
    point_splits.push_back(static_cast<std::int64_t>(points.size()) / axes_of_plane);
    cell_splits.push_back(static_cast<std::int64_t>(cells.size()) / corners);
  }
  for (const Split part : split) parts.push_back(static_cast<std::uint8_t>(part));
  const auto rows = [](const auto& values) { return static_cast<std::int64_t>(values.size()); };
  std::vector<Column> all = {{"/u0", {rows(u0) / in_channels, in_channels}, u0},
                             {"/target", {rows(target) / out_channels, out_channels}, target},
                             {"/mesh/points", {rows(points) / axes_of_plane, axes_of_plane}, points},
                             {"/mesh/point_splits", {rows(point_splits)}, point_splits},
                             {"/mesh/node_type", {rows(types)}, types},
                             {"/mesh/cells", {rows(cells) / corners, corners}, cells},
                             {"/mesh/cell_splits", {rows(cell_splits)}, cell_splits},
                             {"/sample/mesh", {rows(mesh)}, mesh},
                             {"/sample/trajectory", {rows(trajectory)}, trajectory},
                             {"/sample/t0", {rows(t0)}, t0},
                             {"/sample/split", {rows(parts)}, parts},
                             {"/sample/crc32c", {rows(mesh)}, checksums()},
                             {"/sample/value_splits", {rows(value_splits)}, value_splits}};
  all.insert(all.end(), numbers.begin(), numbers.end());
  return all;
}

TrajectoryTable TrajectoryTable::of(const Hdf5Contents& file) {
  TrajectoryTable table;
  const auto points = taken<double>(file, "/mesh/points", axes_of_plane);
  const auto point_splits = taken<std::int64_t>(file, "/mesh/point_splits", 1);
  const auto types = taken<std::uint8_t>(file, "/mesh/node_type", 1);
  const auto cells = taken<std::int32_t>(file, "/mesh/cells", corners);
  const auto cell_splits = taken<std::int64_t>(file, "/mesh/cell_splits", 1);
  const std::size_t count = point_splits.empty() ? 0 : point_splits.size() - 1;
  require_splits(file, "/mesh/point_splits", point_splits, count, points.size() / axes_of_plane);
  require_splits(file, "/mesh/cell_splits", cell_splits, count, cells.size() / corners);
  require_splits(file, "/mesh/point_splits", point_splits, count, types.size());
  for (std::size_t number = 0; number < count; ++number) {
    const auto part = [number](const auto& values, const std::vector<std::int64_t>& splits, std::int64_t width) {
      return std::span(values).subspan(static_cast<std::size_t>(splits[number] * width),
                                       static_cast<std::size_t>((splits[number + 1] - splits[number]) * width));
    };
    table.meshes.push_back(
        mesh_of(file, number, part(points, point_splits, axes_of_plane), part(cells, cell_splits, corners)));
    table.node_types.emplace_back();
    for (const std::uint8_t type : part(types, point_splits, 1)) {
      require<DataError>(type <= static_cast<std::uint8_t>(pde::NodeType::wall), "data set: file=", file.name(),
                         ", node_type=", static_cast<int>(type), " (0 to 6 are known). Generate it again.");
      table.node_types.back().push_back(static_cast<pde::NodeType>(type));
    }
  }
  table.mesh = taken<std::int32_t>(file, "/sample/mesh", 1);
  table.trajectory = taken<std::int32_t>(file, "/sample/trajectory", 1);
  table.t0 = taken<double>(file, "/sample/t0", 1);
  table.value_splits = taken<std::int64_t>(file, "/sample/value_splits", 1);
  const auto parts = taken<std::uint8_t>(file, "/sample/split", 1);
  const Column u0 = file.column("/u0"), target = file.column("/target");
  table.in_channels = static_cast<int>(u0.row_size());
  table.out_channels = static_cast<int>(target.row_size());
  table.u0 = taken<float>(file, "/u0", table.in_channels);
  table.target = taken<float>(file, "/target", table.out_channels);
  const std::size_t samples = table.mesh.size();
  require<DataError>(table.trajectory.size() == samples && table.t0.size() == samples && parts.size() == samples,
                     "data set: file=", file.name(), ", samples=", samples,
                     " (its columns have other sizes). Generate it again.");
  require_splits(file, "/sample/value_splits", table.value_splits, samples,
                 table.u0.size() / static_cast<std::size_t>(table.in_channels));
  require_splits(file, "/sample/value_splits", table.value_splits, samples,
                 table.target.size() / static_cast<std::size_t>(table.out_channels));
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const std::int32_t number = table.mesh[sample], before = sample == 0 ? 0 : table.trajectory[sample - 1];
    const bool good = number >= 0 && static_cast<std::size_t>(number) < count && parts[sample] <= 2 &&
                      (table.trajectory[sample] == before || (sample > 0 && table.trajectory[sample] == before + 1)) &&
                      table.value_splits[sample + 1] - table.value_splits[sample] ==
                          table.meshes[static_cast<std::size_t>(number)].points();
    require<DataError>(good, "data set: file=", file.name(), ", sample=", sample,
                       " (its mesh, trajectory, split or number of values cannot be). Generate it again.");
    table.split.push_back(static_cast<Split>(parts[sample]));
  }
  for (const std::string& name : file.columns())
    if (name.starts_with("/params/") || name.starts_with("/qc/")) table.numbers.push_back(file.column(name));
  return table;
}

std::vector<std::int64_t> window_starts(std::string_view who, std::int64_t frames, std::int64_t lead,
                                        std::int64_t windows, Split part, Rng stream) {
  const std::int64_t possible = frames - lead;
  require(possible >= 1, who, ": lead=", lead, " frames (a trajectory has ", frames,
          ", so no window ends in it). Give a smaller one.");
  require(windows >= 1 && windows <= possible, who, ": windows=", windows, " (a window can begin at ", possible,
          " frames of a trajectory). Give 1 to ", possible, ".");
  std::vector<std::int64_t> starts;
  for (std::int64_t window = 0; window < windows; ++window) {
    const std::int64_t first = window * possible / windows, end = (window + 1) * possible / windows;
    const auto drawn = first + static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(end - first)));
    const bool middle = part == Split::test && window == windows / 2;
    starts.push_back(middle ? std::clamp(possible / 2, first, end - 1) : drawn);
  }
  return starts;
}

std::string in_words(const std::optional<pde::Box>& frame) {
  if (!frame) return "all";
  return message("[", frame->low[0], ",", frame->high[0], "] x [", frame->low[1], ",", frame->high[1], "]");
}

Split part_of(const Json& request, std::int64_t item) {
  const auto train = request.at("train").get<std::int64_t>();
  if (item < train) return Split::train;
  return item < train + request.at("validation").get<std::int64_t>() ? Split::validation : Split::test;
}

std::string trajectory_bytes(const TrajectoryTable& table, const Json& facts) {
  Json metadata = {{"schema_version", TrajectoryTable::schema_version}};
  metadata.update(facts);
  metadata["input_mean"] = table.input_mean();
  metadata["content_xxh64"] = table.content_hash();
  return hdf5_bytes(table.columns(), metadata.dump());
}

namespace {

SampleFields fields_of(const TrajectoryTable& table, const std::vector<float>& values, int channels) {
  SampleFields fields(table.meshes, table.mesh, channels);
  for (std::int64_t sample = 0; sample < table.samples(); ++sample) {
    const std::span<const float> rows = rows_of(table, values, channels, sample);
    const std::span<double> field = fields.field(sample);
    const std::size_t width = static_cast<std::size_t>(channels), nodes = rows.size() / width;
    for (std::size_t i = 0; i < rows.size(); ++i) field[i % width * nodes + i / width] = static_cast<double>(rows[i]);
  }
  return fields;
}

}  // namespace

Dataset read_trajectories(const Hdf5Contents& file, const Json& metadata) {
  const TrajectoryTable table = TrajectoryTable::of(file);
  const auto expected = taken<std::uint32_t>(file, "/sample/crc32c", 1), found = table.checksums();
  require<DataError>(expected.size() == found.size(), "data set: file=", file.name(), ", column=/sample/crc32c (has ",
                     expected.size(), " rows for ", found.size(), " samples). Generate it again.");
  const auto [stored, computed] = std::ranges::mismatch(expected, found);
  require<DataError>(stored == expected.end(), "data set: file=", file.name(), ", sample=", stored - expected.begin(),
                     " (does not match its checksum). Generate it again.");
  Dataset set{.pde = metadata.at("pde").get<std::string>(),
              .inputs = fields_of(table, table.u0, table.in_channels),
              .targets = fields_of(table, table.target, table.out_channels),
              .input_channels = channels_from_json(metadata.at("input").at("channels"), file.name()),
              .target_channels = channels_from_json(metadata.at("output").at("channels"), file.name()),
              .input_mean = table.input_mean(),
              .split = table.split,
              .resolution_slot = std::vector<std::uint8_t>(table.mesh.size(), 0),
              .resolutions = {Resolution::own()},
              .windows = metadata.at("windows").get<int>(),
              .node_types = table.node_types,
              .content_hash = table.content_hash()};
  if (metadata.contains("parameters")) set.parameters = metadata["parameters"].dump();
  require<DataError>(std::ssize(set.input_channels) == table.in_channels &&
                         std::ssize(set.target_channels) == table.out_channels && set.windows >= 1 &&
                         table.samples() == table.trajectories() * set.windows,
                     "data set: file=", file.name(), ", samples=", table.samples(),
                     " (channels or windows are not those of the metadata). Generate it again.");
  const auto finite = [](float value) { return std::isfinite(value); };
  require<DataError>(std::ranges::all_of(table.u0, finite) && std::ranges::all_of(table.target, finite),
                     "data set: file=", file.name(), " (holds values that are not finite). Generate it again.");
  require<DataError>(metadata.at("content_xxh64") == set.content_hash, "data set: file=", file.name(),
                     ", content_xxh64=", set.content_hash, " (should be ", metadata.at("content_xxh64").dump(),
                     "). Generate it again.");
  return set;
}

}  // namespace opshap::data
