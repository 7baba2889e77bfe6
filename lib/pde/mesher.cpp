#include "pde/mesher.hpp"

#include <algorithm>
#include <boost/polygon/voronoi.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/error.hpp"

namespace opshap::pde {

namespace {

constexpr std::size_t most_mesh_nodes = 500000;
constexpr double least_quality = 0.4;
/// Squares of such coordinates are finite.
constexpr double farthest_out = 1e100;
/// Of the domain's extent: an edge has a thousand points of the lattice of integers.
constexpr double shortest_edge = 1e-6;

/// Nodes are no nearer to each other than this times the wanted edge length, when they are placed.
constexpr double closest = 0.82;
/// Places tried around each node, at up to `farthest` times the edge length.
constexpr int tries = 24;
constexpr double farthest = 1.4;

constexpr int sweeps = 120;
/// Springs want to be longer than what fits, so that they all push (Persson & Strang: 1.2).
constexpr double pressure = 1.2;
constexpr double relaxation = 0.2;
/// The nodes have come to rest when none moves further in a sweep, in edge lengths.
constexpr double at_rest = 0.004;
/// The triangulation is renewed when a node has moved further since, in edge lengths.
constexpr double moved_far = 0.1;
/// A node stays further than this from a side of a polygon, in lengths of the side.
constexpr double clearance = 0.4;

using Triangle = std::array<std::size_t, 3>;

double signed_area(const Polygon& line) {
  double twice = 0;
  for (std::size_t i = 0; i < line.size(); ++i) twice += cross(line[0], line[i], line[(i + 1) % line.size()]);
  return twice / 2;
}

/// Whether c, on the line through a and b, is between them.
bool between(const Point& a, const Point& b, const Point& c) {
  return std::min(a[0], b[0]) <= c[0] && c[0] <= std::max(a[0], b[0]) && std::min(a[1], b[1]) <= c[1] &&
         c[1] <= std::max(a[1], b[1]);
}

bool meet(const Point& a, const Point& b, const Point& c, const Point& d) {
  const double c_side = cross(a, b, c), d_side = cross(a, b, d), a_side = cross(c, d, a), b_side = cross(c, d, b);
  if (((c_side > 0 && d_side < 0) || (c_side < 0 && d_side > 0)) &&
      ((a_side > 0 && b_side < 0) || (a_side < 0 && b_side > 0)))
    return true;
  return (c_side == 0 && between(a, b, c)) || (d_side == 0 && between(a, b, d)) || (a_side == 0 && between(c, d, a)) ||
         (b_side == 0 && between(c, d, b));
}

/// The boundary of a domain: points one after the other, and the sides between them, which have the domain on the left.
struct Boundary {
  std::vector<Point> points;
  std::vector<std::array<std::size_t, 2>> sides;
  std::int64_t holes = 0;
  Point low{}, high{};

  explicit Boundary(const std::vector<Polygon>& polygons) {
    require(!polygons.empty(), "mesher: polygons=0 (a domain has a boundary). Give one polygon, and one more a hole.");
    for (const Polygon& polygon : polygons) add(polygon);
    require_apart();
    for (std::size_t hole = 1; hole < polygons.size(); ++hole) {
      require(encloses(polygons[0], polygons[hole][0]), "mesher: hole=", hole,
              " (is not inside the first polygon). Give the outer polygon first.");
      for (std::size_t other = 1; other < polygons.size(); ++other)
        require(other == hole || !encloses(polygons[other], polygons[hole][0]), "mesher: hole=", hole,
                " (is inside of hole ", other, "). Leave it out.");
    }
    holes = static_cast<std::int64_t>(polygons.size()) - 1;
    low = high = points[0];
    for (const Point& point : points) {
      for (std::size_t axis = 0; axis < 2; ++axis) {
        low[axis] = std::min(low[axis], point[axis]);
        high[axis] = std::max(high[axis], point[axis]);
      }
    }
  }

 private:
  void add(const Polygon& polygon) {
    require(polygon.size() >= 3, "mesher: points=", polygon.size(),
            " (of a polygon: three are the fewest). Give more of them.");
    for (const Point& point : polygon)
      require(std::abs(point[0]) <= farthest_out && std::abs(point[1]) <= farthest_out, "mesher: point=(", point[0],
              ", ", point[1], ") (not finite, or beyond ", farthest_out, "). Give other coordinates.");
    const std::size_t first = points.size(), count = polygon.size();
    const bool forwards = (signed_area(polygon) > 0) == points.empty();
    for (std::size_t i = 0; i < count; ++i) {
      const Point &point = polygon[i], &next = polygon[(i + 1) % count];
      require(point != next, "mesher: point=(", point[0], ", ", point[1],
              ") (two neighbours of a polygon are there). Leave one out.");
      points.push_back(point);
      std::array<std::size_t, 2> side{first + i, first + (i + 1) % count};
      if (!forwards) std::swap(side[0], side[1]);
      sides.push_back(side);
    }
  }

  /// No two sides have a point in common, other than neighbours their corner.
  void require_apart() const {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const auto [a, b] = sides[i];
      for (std::size_t j = i + 1; j < sides.size(); ++j) {
        const auto [c, d] = sides[j];
        const bool neighbours = a == d || b == c || a == c || b == d;
        const bool touch = neighbours ? folds(sides[i], sides[j]) : meet(points[a], points[b], points[c], points[d]);
        require(!touch, "mesher: side=(", points[a][0], ", ", points[a][1], ") to (", points[b][0], ", ", points[b][1],
                ") (touches the one from (", points[c][0], ", ", points[c][1], ") to (", points[d][0], ", ",
                points[d][1], ")). Give polygons that touch neither themselves nor each other.");
      }
    }
  }

  /// Whether two sides with a common corner lie on each other.
  bool folds(const std::array<std::size_t, 2>& one, const std::array<std::size_t, 2>& other) const {
    const std::size_t corner = one[0] == other[0] || one[0] == other[1] ? one[0] : one[1];
    const Point &at = points[corner], &p = points[one[0] == corner ? one[1] : one[0]],
                &q = points[other[0] == corner ? other[1] : other[0]];
    const double along = (p[0] - at[0]) * (q[0] - at[0]) + (p[1] - at[1]) * (q[1] - at[1]);
    return cross(at, p, q) == 0 && along > 0;
  }
};

/// Delaunay triangulations of points in a box, on a lattice of integers.
class Triangulation {
 public:
  Triangulation(const Point& low, const Point& high) {
    const double extent = std::max(high[0] - low[0], high[1] - low[1]);
    origin_ = {(low[0] + high[0]) / 2, (low[1] + high[1]) / 2};
    scale_ = lattice / extent;
  }

  /// Triangles, anticlockwise. Points on one circle are joined in an arbitrary way.
  std::vector<Triangle> of(const std::vector<Point>& points) const {
    using namespace boost::polygon;
    voronoi_builder<std::int32_t> builder;
    for (const Point& point : points) builder.insert_point(on_lattice(point, 0), on_lattice(point, 1));
    voronoi_diagram<double> diagram;
    builder.construct(&diagram);
    std::vector<Triangle> triangles;
    triangles.reserve(2 * points.size());
    for (const auto& vertex : diagram.vertices()) {
      const auto* edge = vertex.incident_edge();
      const auto* const first = edge;
      const std::size_t hub = edge->cell()->source_index();
      edge = edge->rot_next();
      std::size_t before = edge->cell()->source_index();
      for (edge = edge->rot_next(); edge != first; edge = edge->rot_next()) {
        const std::size_t next = edge->cell()->source_index();
        triangles.push_back({hub, before, next});
        before = next;
      }
    }
    return triangles;
  }

 private:
  static constexpr double lattice = 1 << 30;

  std::int32_t on_lattice(const Point& point, std::size_t axis) const {
    return static_cast<std::int32_t>(std::lround((point[axis] - origin_[axis]) * scale_));
  }

  Point origin_;
  double scale_;
};

/// Nodes by place. Each is in a square as wide as its edge length, rounded up to a power of two.
class Neighbourhood {
 public:
  explicit Neighbourhood(const Point& origin) : origin_(origin) {}

  void insert(const Point& at, double length) {
    const int level = level_of(length);
    squares_[key(level, square(at[0] - origin_[0], level), square(at[1] - origin_[1], level))].push_back(at);
  }

  /// Whether a node is nearer than `radius`, which is below the edge length there. It looks at nodes whose edge length
  /// is that of the point to a factor of two.
  bool occupied(const Point& at, double length, double radius) const {
    const int own = level_of(length);
    const double from_x = at[0] - origin_[0], from_y = at[1] - origin_[1];
    for (int level = own - 1; level <= own + 1; ++level) {
      for (std::int64_t x = square(from_x - radius, level); x <= square(from_x + radius, level); ++x) {
        for (std::int64_t y = square(from_y - radius, level); y <= square(from_y + radius, level); ++y) {
          const auto found = squares_.find(key(level, x, y));
          if (found == squares_.end()) continue;
          for (const Point& place : found->second)
            if (squared_distance(at, place) < radius * radius) return true;
        }
      }
    }
    return false;
  }

 private:
  static int level_of(double length) { return std::ilogb(length) + 1; }
  static std::int64_t square(double coordinate, int level) {
    return static_cast<std::int64_t>(std::floor(std::ldexp(coordinate, -level)));
  }
  static std::uint64_t key(int level, std::int64_t x, std::int64_t y) {
    std::uint64_t mixed = static_cast<std::uint64_t>(x) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 29) ^ static_cast<std::uint64_t>(y)) * 0xbf58476d1ce4e5b9u;
    return (mixed ^ (mixed >> 32) ^ static_cast<std::uint64_t>(level)) * 0x94d049bb133111ebu;
  }

  Point origin_;
  std::unordered_map<std::uint64_t, std::vector<Point>> squares_;
};

/// What is inside of all sides, by the sides that a horizontal line crosses.
class Inside {
 public:
  explicit Inside(const Boundary& boundary)
      : boundary_(boundary), strips_(boundary.sides.size()), low_(boundary.low[1]) {
    per_height_ = static_cast<double>(strips_.size()) / (boundary.high[1] - boundary.low[1]);
    for (std::size_t side = 0; side < boundary.sides.size(); ++side) {
      const auto [a, b] = boundary.sides[side];
      const auto [from, to] = std::minmax({strip(boundary.points[a][1]), strip(boundary.points[b][1])});
      for (std::size_t i = from; i <= to; ++i) strips_[i].push_back(side);
    }
  }

  bool operator()(const Point& point) const {
    if (!(point[1] >= boundary_.low[1] && point[1] <= boundary_.high[1])) return false;
    bool inside = false;
    for (const std::size_t side : strips_[strip(point[1])]) {
      const Point &a = boundary_.points[boundary_.sides[side][0]], &b = boundary_.points[boundary_.sides[side][1]];
      if ((a[1] > point[1]) != (b[1] > point[1])) inside ^= (cross(a, b, point) > 0) == (b[1] > a[1]);
    }
    return inside;
  }

 private:
  std::size_t strip(double y) const {
    return std::min(strips_.size() - 1, static_cast<std::size_t>((y - low_) * per_height_));
  }

  const Boundary& boundary_;
  std::vector<std::vector<std::size_t>> strips_;
  double low_, per_height_;
};

/// Nodes inside the boundary, by an advancing front that starts at the boundary's points (Bridson 2007, "Fast Poisson
/// disk sampling in arbitrary dimensions", with a distance that varies).
std::vector<Point> placed(const Boundary& boundary, const EdgeLength& length, Rng& stream) {
  std::vector<Point> nodes = boundary.points;
  Neighbourhood neighbourhood(boundary.low);
  const Inside inside(boundary);
  const double least = shortest_edge * std::max(boundary.high[0] - boundary.low[0], boundary.high[1] - boundary.low[1]);
  const auto edge_at = [&](const Point& point) {
    const double edge = length_at(length, point);
    require(edge >= least, "mesher: edge length=", edge, " (below ", shortest_edge,
            " of the domain's extent). Give larger ones.");
    return edge;
  };
  for (const Point& node : nodes) neighbourhood.insert(node, edge_at(node));
  for (std::size_t front = 0; front < nodes.size(); ++front) {
    const Point from = nodes[front];
    const double reach = edge_at(from), turned = stream.uniform();
    for (int i = 0; i < tries; ++i) {
      const double angle = 2 * std::numbers::pi * (i + turned) / tries;
      const double far = reach * stream.uniform(closest, farthest);
      const Point place{from[0] + far * std::cos(angle), from[1] + far * std::sin(angle)};
      if (!inside(place)) continue;
      const double here = edge_at(place);
      if (neighbourhood.occupied(place, here, closest * here)) continue;
      require(nodes.size() < most_mesh_nodes, "mesher: nodes=", nodes.size(),
              " (and more: the edge lengths are too small for the domain). Give larger ones.");
      neighbourhood.insert(place, here);
      nodes.push_back(place);
    }
  }
  return nodes;
}

/// Pushes all nodes but the first `fixed` ones apart, until they are at rest.
class Springs {
 public:
  Springs(const Boundary& boundary, const EdgeLength& length, std::vector<Point>& nodes)
      : triangulation_(boundary.low, boundary.high), length_(length), nodes_(nodes), fixed_(boundary.points.size()) {
    next_.resize(fixed_);
    for (const auto& [a, b] : boundary.sides) next_[a] = b;
  }

  void relax() {
    double moved = 2 * moved_far;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      if (moved > moved_far) {
        renew();
        moved = 0;
      }
      const double furthest = push();
      if (furthest < at_rest) return;
      moved += furthest;
    }
  }

 private:
  struct Guarded {
    std::size_t node, from, to;  ///< the node of a triangle with this side of the boundary
  };

  /// Edges and edge lengths where the nodes are now.
  void renew() {
    edges_.clear();
    guarded_.clear();
    for (const auto& corners : triangulation_.of(nodes_)) {
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t a = corners[i], b = corners[(i + 1) % 3], c = corners[(i + 2) % 3];
        // An edge with a free end is in two triangles, once in each direction.
        if (a < b && b >= fixed_) edges_.push_back({a, b});
        if (a < fixed_ && b == next_[a] && c >= fixed_) guarded_.push_back({c, a, b});
      }
    }
    lengths_.resize(nodes_.size());
    for (std::size_t node = 0; node < nodes_.size(); ++node) lengths_[node] = length_at(length_, nodes_[node]);
  }

  /// One sweep. The furthest way of a node, in edge lengths.
  double push() {
    double squares = 0, wanted_squares = 0;
    for (const auto& [a, b] : edges_) {
      squares += squared_distance(nodes_[a], nodes_[b]);
      const double wanted = (lengths_[a] + lengths_[b]) / 2;
      wanted_squares += wanted * wanted;
    }
    const double longer = pressure * std::sqrt(squares / wanted_squares);
    forces_.assign(nodes_.size(), {0, 0});
    for (const auto& [a, b] : edges_) {
      const double has = std::sqrt(squared_distance(nodes_[a], nodes_[b]));
      const double push = longer * (lengths_[a] + lengths_[b]) / 2 / has - 1;
      if (push <= 0) continue;
      for (std::size_t axis = 0; axis < 2; ++axis) {
        const double force = push * (nodes_[b][axis] - nodes_[a][axis]);
        forces_[a][axis] -= force;
        forces_[b][axis] += force;
      }
    }
    before_ = nodes_;
    double furthest = 0;
    for (std::size_t node = fixed_; node < nodes_.size(); ++node) {
      for (std::size_t axis = 0; axis < 2; ++axis) nodes_[node][axis] += relaxation * forces_[node][axis];
    }
    for (const auto& [node, from, to] : guarded_) {
      const Point &a = nodes_[from], &b = nodes_[to];
      if (cross(a, b, nodes_[node]) < clearance * squared_distance(a, b)) nodes_[node] = before_[node];
    }
    for (std::size_t node = fixed_; node < nodes_.size(); ++node)
      furthest = std::max(furthest, std::sqrt(squared_distance(before_[node], nodes_[node])) / lengths_[node]);
    return furthest;
  }

  Triangulation triangulation_;
  const EdgeLength& length_;
  std::vector<Point>& nodes_;
  std::size_t fixed_;
  std::vector<std::size_t> next_;  ///< the end of the side that begins at each point of the boundary
  std::vector<std::array<std::size_t, 2>> edges_;
  std::vector<Guarded> guarded_;
  std::vector<double> lengths_;
  std::vector<Point> forces_, before_;
};

/// The triangles on the left of the sides, and all that are joined to them without crossing a side. Throws
/// NumericalError when a side is no edge.
std::vector<std::int64_t> filled(const Boundary& boundary, const std::vector<Point>& nodes) {
  const std::vector<Triangle> triangles = Triangulation(boundary.low, boundary.high).of(nodes);
  const auto key = [&](std::size_t a, std::size_t b) { return a * nodes.size() + b; };
  std::unordered_map<std::size_t, std::size_t> left_of;
  for (std::size_t triangle = 0; triangle < triangles.size(); ++triangle) {
    const auto& [a, b, c] = triangles[triangle];
    left_of[key(a, b)] = left_of[key(b, c)] = left_of[key(c, a)] = triangle;
  }
  std::vector<bool> reached(triangles.size());
  std::vector<std::size_t> open;
  const auto reach = [&](std::size_t a, std::size_t b) {
    const auto found = left_of.find(key(a, b));
    if (found == left_of.end()) return false;
    if (!reached[found->second]) open.push_back(found->second);
    reached[found->second] = true;
    return true;
  };
  std::unordered_set<std::size_t> sides;
  for (const auto& [a, b] : boundary.sides) {
    require<NumericalError>(reach(a, b), "mesher: side=(", nodes[a][0], ", ", nodes[a][1], ") to (", nodes[b][0], ", ",
                            nodes[b][1], ") (no triangle has it as an edge). Give the boundary points nearer to each ",
                            "other, or a shorter edge length there.");
    sides.insert(key(a, b));
  }
  while (!open.empty()) {
    const Triangle corners = triangles[open.back()];
    open.pop_back();
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t a = corners[i], b = corners[(i + 1) % 3];
      if (!sides.contains(key(a, b))) reach(b, a);
    }
  }
  std::vector<std::int64_t> cells;
  for (std::size_t triangle = 0; triangle < triangles.size(); ++triangle) {
    if (!reached[triangle]) continue;
    for (const std::size_t corner : triangles[triangle]) cells.push_back(static_cast<std::int64_t>(corner));
  }
  return cells;
}

Point corner(const Mesh& mesh, std::size_t place) {
  const std::int64_t node = mesh.cells[place];
  return {mesh.coordinate(node, 0), mesh.coordinate(node, 1)};
}

/// Nodes - edges + triangles.
std::int64_t euler_characteristic(const Mesh& mesh) {
  std::unordered_set<std::int64_t> edges;
  for (std::size_t first = 0; first < mesh.cells.size(); first += 3) {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto [a, b] = std::minmax(mesh.cells[first + i], mesh.cells[first + (i + 1) % 3]);
      edges.insert(a * mesh.size() + b);
    }
  }
  return mesh.size() - static_cast<std::int64_t>(edges.size()) + static_cast<std::int64_t>(mesh.cells.size() / 3);
}

}  // namespace

MeshQuality mesh_quality(const Mesh& mesh) {
  require(mesh.dimension == 2 && !mesh.cells.empty(), "mesher: ", mesh.describe(),
          " (only triangles have a quality). Give a mesh of triangles.");
  MeshQuality quality{.least = 1, .mean = 0, .smallest_angle = 60};
  for (std::size_t first = 0; first < mesh.cells.size(); first += 3) {
    double squares = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const Point at = corner(mesh, first + i), next = corner(mesh, first + (i + 1) % 3),
                  last = corner(mesh, first + (i + 2) % 3);
      squares += squared_distance(at, next);
      const double along = (next[0] - at[0]) * (last[0] - at[0]) + (next[1] - at[1]) * (last[1] - at[1]);
      const double angle = std::atan2(std::abs(cross(at, next, last)), along) * 180 / std::numbers::pi;
      quality.smallest_angle = std::min(quality.smallest_angle, angle);
    }
    const double twice = std::abs(cross(corner(mesh, first), corner(mesh, first + 1), corner(mesh, first + 2)));
    const double own = 2 * std::numbers::sqrt3 * twice / squares;
    quality.least = std::min(quality.least, own);
    quality.mean += own * 3 / static_cast<double>(mesh.cells.size());
  }
  return quality;
}

Mesh triangulated(const std::vector<Polygon>& polygons, const EdgeLength& length, Rng stream) {
  const Boundary boundary(polygons);
  std::vector<Point> nodes = placed(boundary, length, stream);
  Springs(boundary, length, nodes).relax();
  std::vector<std::int64_t> cells = filled(boundary, nodes);
  std::vector<double> points;
  for (const Point& node : nodes) points.insert(points.end(), node.begin(), node.end());
  const auto remedy =
      "Space the boundary points as the edge length has it, let it change more slowly, or try another "
      "stream.";
  Mesh mesh;
  try {
    mesh = Mesh::of_cells(2, std::move(points), std::move(cells));
  } catch (const InvalidArgument& failure) {
    throw NumericalError(message("mesher: no mesh (", failure.what(), "). ", remedy));
  }
  const double least = mesh_quality(mesh).least;
  require<NumericalError>(least >= least_quality, "mesher: quality=", least, " (of a triangle: below ", least_quality,
                          "). ", remedy);
  const std::int64_t characteristic = euler_characteristic(mesh);
  require<NumericalError>(characteristic == 1 - boundary.holes, "mesher: nodes - edges + triangles=", characteristic,
                          " (with ", boundary.holes, " holes it is ", 1 - boundary.holes, "). ", remedy);
  return mesh;
}

}  // namespace opshap::pde
