#include "data/mesh_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "data/npy.hpp"

namespace opshap::data {

namespace {

constexpr std::string_view header = "$MeshFormat";
constexpr int line_type = 1, triangle_type = 2, point_type = 15;

/// What Gmsh calls the elements of a type.
std::string element_name(std::int64_t type) {
  static const std::vector<std::pair<std::int64_t, const char*>> names = {{3, "4-node quadrangle"},
                                                                          {4, "4-node tetrahedron"},
                                                                          {5, "8-node hexahedron"},
                                                                          {6, "6-node prism"},
                                                                          {7, "5-node pyramid"},
                                                                          {8, "3-node second-order line"},
                                                                          {9, "6-node second-order triangle"},
                                                                          {10, "9-node second-order quadrangle"},
                                                                          {11, "10-node second-order tetrahedron"},
                                                                          {16, "8-node second-order quadrangle"},
                                                                          {21, "10-node third-order triangle"},
                                                                          {26, "4-node third-order line"}};
  const auto found = std::ranges::find(names, type, &std::pair<std::int64_t, const char*>::first);
  return found == names.end() ? "an element of another kind" : found->second;
}

/// The numbers of one section, one after the other.
class Section {
 public:
  Section(std::string_view text, std::string_view file, std::string_view section)
      : text_(text), file_(file), section_(section) {}

  std::string_view word() {
    const std::size_t begin = text_.find_first_not_of(blanks, at_);
    if (begin == std::string_view::npos) fail("ends too early");
    at_ = std::min(text_.find_first_of(blanks, begin), text_.size());
    return text_.substr(begin, at_ - begin);
  }
  std::int64_t integer() { return number<std::int64_t>("a whole number"); }
  double real() { return number<double>("a number"); }
  /// How many things follow: each takes at least two letters, so a damaged count cannot ask for more memory than the
  /// file has.
  std::int64_t count() {
    const std::int64_t value = integer();
    if (value < 0 || static_cast<std::uint64_t>(value) > text_.size() / 2) fail("counts more than it holds");
    return value;
  }
  void skip(std::int64_t words) {
    for (; words > 0; --words) word();
  }
  void expect_end() {
    if (text_.find_first_not_of(blanks, at_) != std::string_view::npos) fail("holds more than it counts");
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw DataError(message("gmsh: file=", file_, ", section=", section_, " (", why, "). Save the mesh again."));
  }

 private:
  static constexpr std::string_view blanks = " \t\r\n";

  template <typename Number>
  Number number(const char* kind) {
    const std::string_view text = word();
    const auto value = number_of<Number>(text);
    if (!value) fail(message("has '", text.substr(0, 20), "' in place of ", kind));
    return *value;
  }

  std::string_view text_, file_, section_;
  std::size_t at_ = 0;
};

/// The text between the lines $name and $Endname.
Section section(std::string_view text, std::string_view file, const std::string& name) {
  const auto line_of = [&](const std::string& words, std::size_t from) {
    for (std::size_t at = text.find(words, from); at != std::string_view::npos; at = text.find(words, at + 1)) {
      const std::size_t end = at + words.size();
      const bool alone = (at == 0 || text[at - 1] == '\n') &&
                         (end == text.size() || std::string_view(" \t\r\n").find(text[end]) != std::string_view::npos);
      if (alone) return at;
    }
    return std::string_view::npos;
  };
  const std::size_t begin = line_of("$" + name, 0);
  require<DataError>(begin != std::string_view::npos, "gmsh: file=", file, ", section=$", name,
                     " (is not there). Save the mesh again.");
  const std::size_t body = begin + name.size() + 1, end = line_of("$End" + name, body);
  require<DataError>(end != std::string_view::npos, "gmsh: file=", file, ", section=$", name,
                     " (has no end: the file was cut off). Save the mesh again.");
  require<DataError>(line_of("$" + name, body) == std::string_view::npos, "gmsh: file=", file, ", section=$", name,
                     " (comes twice). Save the mesh again.");
  return {text.substr(body, end - body), file, text.substr(begin, name.size() + 1)};
}

/// What a file says of a mesh.
struct Parts {
  int dimension = 2;
  std::vector<double> points;                           ///< [N, dimension]
  std::optional<std::vector<std::int64_t>> cells = {};  ///< [C, dimension + 1]
  std::optional<std::vector<double>> volumes = {};      ///< [N]
};

struct Node {
  std::int64_t tag = 0;
  std::array<double, 3> place = {};
};

/// Tags of the corners of lines and triangles, one element after the other.
struct Elements {
  std::vector<std::int64_t> lines, triangles;
  std::set<std::vector<std::int64_t>> seen;

  void add(Section& from, std::int64_t type) {
    std::vector<std::int64_t> corners(type == triangle_type ? 3 : type == line_type ? 2 : 1);
    for (std::int64_t& corner : corners) corner = from.integer();
    std::vector<std::int64_t> sorted = corners;
    std::ranges::sort(sorted);
    if (!seen.insert(std::move(sorted)).second) return;  // the same element in a further physical group
    if (type == line_type) lines.insert(lines.end(), corners.begin(), corners.end());
    if (type == triangle_type) triangles.insert(triangles.end(), corners.begin(), corners.end());
  }
};

void require_usable(std::int64_t type, std::string_view file) {
  require(type == line_type || type == triangle_type || type == point_type, "gmsh: file=", file,
          ", element type=", type, " (", element_name(type),
          "; meshes are made of 2-node lines and 3-node triangles). Mesh it in two dimensions, without recombination, "
          "in first order (Mesh.ElementOrder = 1).");
}

std::vector<Node> nodes_4(Section from) {
  const std::int64_t blocks = from.count(), nodes = from.count();
  from.skip(2);  // the smallest and the largest tag
  std::vector<Node> found;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t entity_dimension = from.integer();
    from.skip(1);  // the entity
    const bool parametric = from.integer() != 0;
    const std::int64_t count = from.count();
    const std::size_t first = found.size();
    for (std::int64_t i = 0; i < count; ++i) found.push_back({.tag = from.integer()});
    for (std::size_t i = first; i < found.size(); ++i) {
      for (double& coordinate : found[i].place) coordinate = from.real();
      if (parametric) from.skip(entity_dimension);
    }
  }
  from.expect_end();
  if (static_cast<std::int64_t>(found.size()) != nodes) from.fail("has another number of nodes than it says");
  return found;
}

std::vector<Node> nodes_2(Section from) {
  std::vector<Node> found(static_cast<std::size_t>(from.count()));
  for (Node& node : found) {
    node.tag = from.integer();
    for (double& coordinate : node.place) coordinate = from.real();
  }
  from.expect_end();
  return found;
}

Elements elements_4(Section from, std::string_view file) {
  const std::int64_t blocks = from.count();
  from.skip(3);  // all elements, the smallest and the largest tag
  Elements found;
  for (std::int64_t block = 0; block < blocks; ++block) {
    from.skip(2);  // the entity
    const std::int64_t type = from.integer();
    require_usable(type, file);
    const std::int64_t count = from.count();
    for (std::int64_t i = 0; i < count; ++i) {
      from.skip(1);  // the tag
      found.add(from, type);
    }
  }
  from.expect_end();
  return found;
}

Elements elements_2(Section from, std::string_view file) {
  const std::int64_t count = from.count();
  Elements found;
  for (std::int64_t i = 0; i < count; ++i) {
    from.skip(1);  // the tag
    const std::int64_t type = from.integer();
    require_usable(type, file);
    from.skip(from.count());  // physical group, entity, partitions
    found.add(from, type);
  }
  from.expect_end();
  return found;
}

/// The mesh of the nodes, with cells of the given corners (tags).
Parts mesh_of(const std::vector<Node>& nodes, const std::vector<std::int64_t>& tags, int dimension,
              std::string_view file) {
  const auto axes = static_cast<std::size_t>(dimension);
  // Rotations leave 1e-16 where 0 was meant.
  double extent = 0;
  for (const Node& node : nodes) {
    for (std::size_t axis = 0; axis < axes; ++axis)
      extent = std::max(extent, std::abs(node.place[axis] - nodes.front().place[axis]));
  }
  const double flat = 1e-9 * extent;
  std::unordered_map<std::int64_t, std::int64_t> number;
  std::vector<double> points;
  for (const Node& node : nodes) {
    const auto next = static_cast<std::int64_t>(number.size());
    require<DataError>(number.emplace(node.tag, next).second, "gmsh: file=", file, ", node=", node.tag,
                       " (comes twice). Save the mesh again.");
    points.insert(points.end(), node.place.begin(), node.place.begin() + dimension);
    for (std::size_t axis = axes; axis < 3; ++axis) {
      require(std::abs(node.place[axis] - nodes.front().place[axis]) <= flat, "gmsh: file=", file, ", node=", node.tag,
              " (lies at ", std::string_view("xyz").substr(axis, 1), " = ", node.place[axis], ", the first node at ",
              nodes.front().place[axis],
              "). Triangles must lie in a plane of constant z, lines on one of constant "
              "y and z. Turn the mesh.");
    }
  }
  std::vector<std::int64_t> corners;
  std::vector<bool> used(nodes.size(), false);
  for (const std::int64_t tag : tags) {
    const auto found = number.find(tag);
    require<DataError>(found != number.end(), "gmsh: file=", file, ", node=", tag,
                       " (is the corner of an element and not there). Save the mesh again.");
    corners.push_back(found->second);
    used[static_cast<std::size_t>(found->second)] = true;
  }
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    require(used[node], "gmsh: file=", file, ", node=", nodes[node].tag, " (is a corner of no ",
            dimension == 1 ? "line" : "triangle",
            ", so it owns no volume). Declare a physical group of the whole domain, and Gmsh saves only its nodes.");
  }
  return {.dimension = dimension, .points = std::move(points), .cells = std::move(corners)};
}

/// Reads the ASCII formats MSH 4.1 and 2.2 of Gmsh. The text starts with $MeshFormat.
///
/// Points are the file's nodes in its order; their tags may be any numbers. Triangles make a mesh in the plane, and
/// lines and points of its boundary are passed over. A file with lines alone makes a mesh on a line. MSH 2.2 repeats an
/// element for each of its physical groups; it counts once.
///
/// `name` is the file's, for messages. Throws DataError for a text that is no such file, and InvalidArgument for what
/// is valid but not read: binary files, other versions, elements that are no lines or triangles of first order (named),
/// a mesh that does not lie in a plane z = c, and a node of no element.
/// Source: the Gmsh reference manual, "MSH file format".
Parts parse_gmsh(std::string_view text, std::string_view name) {
  // Of a binary file the format's section is still text, but for the number behind its first line.
  Section format(text.substr(header.size(), 200), name, header);
  const std::string_view version = format.word();
  require(version == "4.1" || version == "2.2", "gmsh: file=", name, ", version=", version.substr(0, 20),
          " (4.1 and 2.2 are read). Save it with Mesh.MshFileVersion = 4.1.");
  const std::int64_t kind = format.integer();
  require(kind == 0, "gmsh: file=", name, ", file type=", kind,
          " (binary; text is read). Save it with Mesh.Binary = 0.");
  const bool of_4 = version == "4.1";
  const std::vector<Node> nodes = of_4 ? nodes_4(section(text, name, "Nodes")) : nodes_2(section(text, name, "Nodes"));
  const Elements elements =
      of_4 ? elements_4(section(text, name, "Elements"), name) : elements_2(section(text, name, "Elements"), name);
  if (!elements.triangles.empty()) return mesh_of(nodes, elements.triangles, 2, name);
  require(!elements.lines.empty(), "gmsh: file=", name,
          " (has neither triangles nor lines). Mesh its surface before you save it.");
  return mesh_of(nodes, elements.lines, 1, name);
}

Parts points_of(const NpyArray& array, const std::string& who) {
  const std::vector<double>& points = array.reals(who);
  require(array.shape.size() == 2 && array.shape[0] >= 1 && (array.shape[1] == 1 || array.shape[1] == 2), who,
          ": shape=", shape_text(array.shape),
          " (points lie on a line or in a plane). Give an array of shape [N,1] or [N,2].");
  return {.dimension = static_cast<int>(array.shape[1]), .points = points};
}

Parts parts_of(const NpzFile& file, const std::string& name) {
  const std::string there = joined(file.names());
  const char* const places = file.contains("mesh_pos") ? "mesh_pos" : "points";
  require<DataError>(file.contains(places), name, ": array=points (missing; the file has ",
                     there.empty() ? "no arrays" : there,
                     "). Save points [N,2], and cells or volumes if you have them.");
  Parts parts = points_of(file.array(places), message(name, ", ", places));
  if (file.contains("cells")) {
    const NpyArray array = file.array("cells");
    require(array.shape.size() == 2 && array.shape[1] == parts.dimension + 1, name,
            ", cells: shape=", shape_text(array.shape), " (cells are ", parts.dimension == 1 ? "edges" : "triangles",
            "). Give an array of shape [C,", parts.dimension + 1, "].");
    parts.cells = array.integers(name + ", cells");
  }
  if (file.contains("volumes")) {
    const NpyArray array = file.array("volumes");
    require(array.shape.size() == 1, name, ", volumes: shape=", shape_text(array.shape),
            " (each point has one volume). Give an array of shape [N].");
    parts.volumes = array.reals(name + ", volumes");
  }
  return parts;
}

Parts parts_of(std::string bytes, const std::string& name) {
  if (bytes.starts_with(header)) return parse_gmsh(bytes, name);
  if (bytes.starts_with("PK")) return parts_of(NpzFile(std::move(bytes), name), name);
  require<DataError>(bytes.starts_with("\x93NUMPY"), "mesh: file=", name,
                     " (is neither a .npy nor a .npz file nor a Gmsh mesh). Give one of these.");
  return points_of(parse_npy(std::as_bytes(std::span(bytes)), name), name);
}

}  // namespace

Mesh parse_mesh(std::string bytes, const std::string& name) {
  Parts parts = parts_of(std::move(bytes), name);
  try {
    if (parts.volumes)
      return Mesh::of_points(parts.dimension, std::move(parts.points), *std::move(parts.volumes),
                             std::move(parts.cells).value_or(std::vector<std::int64_t>{}));
    if (parts.cells) return Mesh::of_cells(parts.dimension, std::move(parts.points), *std::move(parts.cells));
    return point_cloud(parts.dimension, std::move(parts.points));
  } catch (const InvalidArgument& error) {
    throw DataError(message(name, ": ", error.what()));
  }
}

Mesh read_mesh(const std::filesystem::path& path) {
  return parse_mesh(read_file(path), path == "-" ? "standard input" : path.string());
}

}  // namespace opshap::data
