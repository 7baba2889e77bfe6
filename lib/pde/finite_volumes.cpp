#include "pde/finite_volumes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.hpp"

namespace opshap::pde {

namespace {

using NodePair = std::pair<std::int64_t, std::int64_t>;

/// Of the steps that are certainly stable, 3 in units of 2 V / Σ |λ| for a scheme of first order.
constexpr double courant = 2.4;

/// An edge as one of its triangles sees it.
struct Side {
  std::int64_t low, high;               ///< the ends of the edge, low < high
  double normal_x = 0, normal_y = 0;    ///< of the volumes' common border in this triangle, from low to high
  double outward_x = 0, outward_y = 0;  ///< of the edge itself, out of this triangle
};

/// Half the determinant that says which way a, b, c turn.
double signed_area(const Mesh& mesh, std::int64_t a, std::int64_t b, std::int64_t c) {
  const double x = mesh.coordinate(a, 0), y = mesh.coordinate(a, 1);
  return ((mesh.coordinate(b, 0) - x) * (mesh.coordinate(c, 1) - y) -
          (mesh.coordinate(c, 0) - x) * (mesh.coordinate(b, 1) - y)) /
         2;
}

/// The sides of all triangles, sorted by their ends.
std::vector<Side> sides_of(const Mesh& mesh) {
  std::vector<Side> sides;
  sides.reserve(mesh.cells.size());
  for (std::size_t cell = 0; cell < mesh.cells.size(); cell += 3) {
    std::array<std::int64_t, 3> corner = {mesh.cells[cell], mesh.cells[cell + 1], mesh.cells[cell + 2]};
    const double area = signed_area(mesh, corner[0], corner[1], corner[2]);
    require(area != 0, "finite volumes: triangle=", cell / 3, " (has no area). Give another mesh.");
    if (area < 0) std::swap(corner[1], corner[2]);
    double middle_x = 0, middle_y = 0;
    for (const std::int64_t node : corner) {
      middle_x += mesh.coordinate(node, 0) / 3;
      middle_y += mesh.coordinate(node, 1) / 3;
    }
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int64_t a = corner[k], b = corner[(k + 1) % 3];
      // From the edge's midpoint to the centroid, turned by a right angle: from a to b.
      const double x = middle_x - (mesh.coordinate(a, 0) + mesh.coordinate(b, 0)) / 2,
                   y = middle_y - (mesh.coordinate(a, 1) + mesh.coordinate(b, 1)) / 2;
      const double sense = a < b ? 1 : -1;
      sides.push_back({std::min(a, b), std::max(a, b), sense * y, -sense * x,
                       mesh.coordinate(b, 1) - mesh.coordinate(a, 1), mesh.coordinate(a, 0) - mesh.coordinate(b, 0)});
    }
  }
  std::ranges::stable_sort(sides, {}, [](const Side& side) { return NodePair(side.low, side.high); });
  return sides;
}

/// What flows through a border with this normal in a unit of time and length: density, momenta, energy.
inline std::array<double, 4> hllc(const Gas& left, const Gas& right, double nx, double ny) {
  const double from = left.velocity_x * nx + left.velocity_y * ny, to = right.velocity_x * nx + right.velocity_y * ny;
  const double volume_left = 1 / left.density, volume_right = 1 / right.density;
  const double square_left = heat_ratio * left.pressure * volume_left,
               square_right = heat_ratio * right.pressure * volume_right;
  const double root_left = std::sqrt(left.density), root_right = std::sqrt(right.density);
  const double share = 1 / (root_left + root_right), jump = to - from;
  const double middle = (root_left * from + root_right * to) * share;
  const double spread = std::sqrt((root_left * square_left + root_right * square_right) * share +
                                  0.5 * root_left * root_right * share * share * jump * jump);
  const double least = from - std::sqrt(square_left), most = to + std::sqrt(square_right);
  const double slow = least < middle - spread ? least : middle - spread,
               fast = most > middle + spread ? most : middle + spread;
  const double inflow_left = left.density * (slow - from), inflow_right = right.density * (fast - to);
  const double contact =
      (right.pressure - left.pressure + inflow_left * from - inflow_right * to) / (inflow_left - inflow_right);
  // The side of the contact that the border lies on; a wave that runs away from the border changes nothing there.
  const bool on_left = contact >= 0;
  const double wave_left = slow < 0 ? slow : 0, wave_right = fast > 0 ? fast : 0;
  const double density = on_left ? left.density : right.density, u = on_left ? left.velocity_x : right.velocity_x,
               v = on_left ? left.velocity_y : right.velocity_y, pressure = on_left ? left.pressure : right.pressure,
               through = on_left ? from : to, wave = on_left ? wave_left : wave_right;
  const double energy = pressure / (heat_ratio - 1) + density * (u * u + v * v) / 2;
  const double swept = density * (wave - through), change = contact - through, shared = pressure + swept * change;
  // A contact that rests lets nothing through, also where the wave rests beside it.
  const double passing = contact == 0 ? 0 : contact / (wave - contact);
  const double mass = swept * passing;
  return {mass, mass * (u + change * nx) + shared * nx, mass * (v + change * ny) + shared * ny,
          (energy * (wave - through) - pressure * through + shared * contact) * passing + shared * contact};
}

/// A mean of two differences that leans to the smaller one, and nearly vanishes where they have different signs. Below
/// √ε, where differences are those of a smooth flow, it is nearly the plain mean, so that steady flows become steady.
inline double van_albada(double a, double b) {
  constexpr double epsilon = 1e-6;
  return (a * (b * b + epsilon) + b * (a * a + epsilon)) / (a * a + b * b + 2 * epsilon);
}

bool is_gas(double density, double pressure) {
  return density > 0 && pressure > 0 && std::isfinite(density) && std::isfinite(pressure);
}

void require_gas(const Gas& gas) {
  require(is_gas(gas.density, gas.pressure) && std::isfinite(gas.velocity_x) && std::isfinite(gas.velocity_y),
          "gas: density=", gas.density, ", velocity=(", gas.velocity_x, ", ", gas.velocity_y,
          "), pressure=", gas.pressure,
          " (density and pressure are positive in a gas, and all is finite). Give another state.");
}

std::array<double, 4> conserved(const Gas& gas) {
  return {gas.density, gas.density * gas.velocity_x, gas.density * gas.velocity_y,
          gas.pressure / (heat_ratio - 1) +
              gas.density * (gas.velocity_x * gas.velocity_x + gas.velocity_y * gas.velocity_y) / 2};
}

}  // namespace

double mach_number(const Gas& gas) {
  return std::sqrt((gas.velocity_x * gas.velocity_x + gas.velocity_y * gas.velocity_y) * gas.density /
                   (heat_ratio * gas.pressure));
}

DualMesh DualMesh::of(const Mesh& mesh, const std::function<bool(double, double)>& is_wall) {
  require(mesh.dimension == 2 && !mesh.cells.empty(), "finite volumes: mesh=", mesh.describe(),
          " (has no triangles). Give a triangulation.");
  DualMesh dual;
  dual.nodes = mesh.size();
  dual.volume.assign(static_cast<std::size_t>(dual.nodes), 0);
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell) {
    const std::size_t first = cell - cell % 3;
    dual.volume[static_cast<std::size_t>(mesh.cells[cell])] +=
        std::abs(signed_area(mesh, mesh.cells[first], mesh.cells[first + 1], mesh.cells[first + 2])) / 3;
  }
  const std::vector<Side> sides = sides_of(mesh);
  for (std::size_t k = 0; k < sides.size();) {
    const Side& side = sides[k];
    const bool shared = k + 1 < sides.size() && sides[k + 1].low == side.low && sides[k + 1].high == side.high;
    double x = side.normal_x, y = side.normal_y;
    if (shared) {
      x += sides[k + 1].normal_x;
      y += sides[k + 1].normal_y;
      require(side.outward_x * sides[k + 1].outward_x + side.outward_y * sides[k + 1].outward_y < 0 &&
                  (k + 2 >= sides.size() || sides[k + 2].low != side.low || sides[k + 2].high != side.high),
              "finite volumes: edge=", side.low, "-", side.high,
              " (belongs to more than two triangles, or to two on one side of it). Give a mesh without overlaps.");
    } else {
      const double length = std::hypot(side.outward_x, side.outward_y);
      const double middle_x = (mesh.coordinate(side.low, 0) + mesh.coordinate(side.high, 0)) / 2,
                   middle_y = (mesh.coordinate(side.low, 1) + mesh.coordinate(side.high, 1)) / 2;
      std::vector<Half>& halves = is_wall(middle_x, middle_y) ? dual.wall : dual.far_field;
      const auto low = static_cast<std::int32_t>(side.low), high = static_cast<std::int32_t>(side.high);
      for (const auto& [node, other] : {std::pair(low, high), std::pair(high, low)})
        halves.push_back({node, other, side.outward_x / length, side.outward_y / length, length / 2});
    }
    const double face = std::hypot(x, y);
    dual.left.push_back(static_cast<std::int32_t>(side.low));
    dual.right.push_back(static_cast<std::int32_t>(side.high));
    dual.across_x.push_back(mesh.coordinate(side.high, 0) - mesh.coordinate(side.low, 0));
    dual.across_y.push_back(mesh.coordinate(side.high, 1) - mesh.coordinate(side.low, 1));
    dual.normal_x.push_back(x / face);
    dual.normal_y.push_back(y / face);
    dual.face.push_back(face);
    k += shared ? 2 : 1;
  }
  dual.find_gradient_weights();
  return dual;
}

void DualMesh::find_gradient_weights() {
  const auto count = static_cast<std::size_t>(nodes);
  first.assign(count + 1, 0);
  for (const std::vector<std::int32_t>* ends : {&left, &right}) {
    for (const std::int32_t node : *ends) ++first[static_cast<std::size_t>(node) + 1];
  }
  for (std::size_t i = 0; i < count; ++i) first[i + 1] += first[i];
  std::vector<std::int64_t> place(first.begin(), first.end() - 1);
  neighbour.assign(2 * left.size(), 0);
  weight_x.assign(neighbour.size(), 0);
  weight_y = weight_x;
  for (std::size_t e = 0; e < left.size(); ++e) {
    const double weight = 1 / (across_x[e] * across_x[e] + across_y[e] * across_y[e]);
    for (const double sense : {1.0, -1.0}) {
      const auto k = static_cast<std::size_t>(place[static_cast<std::size_t>(sense > 0 ? left[e] : right[e])]++);
      neighbour[k] = sense > 0 ? right[e] : left[e];
      weight_x[k] = sense * weight * across_x[e];
      weight_y[k] = sense * weight * across_y[e];
    }
  }
  // The normal equations of each node, whose right-hand sides the weights are so far.
  std::vector<std::array<double, 3>> moments(count, {0, 0, 0});
  for (std::size_t e = 0; e < left.size(); ++e) {
    const double square = across_x[e] * across_x[e] + across_y[e] * across_y[e];
    for (const std::int32_t node : {left[e], right[e]}) {
      auto& [xx, xy, yy] = moments[static_cast<std::size_t>(node)];
      xx += across_x[e] * across_x[e] / square;
      xy += across_x[e] * across_y[e] / square;
      yy += across_y[e] * across_y[e] / square;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto [xx, xy, yy] = moments[i];
    const double determinant = xx * yy - xy * xy;
    // xx + yy is the number of neighbours; rounding alone makes about 1e-16 of a line.
    require(determinant > 1e-12, "finite volumes: node=", i,
            " (its neighbours lie on one line). Give a mesh whose angles are larger.");
    for (auto k = static_cast<std::size_t>(first[i]); k < static_cast<std::size_t>(first[i + 1]); ++k) {
      const double x = weight_x[k], y = weight_y[k];
      weight_x[k] = (yy * x - xy * y) / determinant;
      weight_y[k] = (xx * y - xy * x) / determinant;
    }
  }
}

GasFlow::GasFlow(std::shared_ptr<const DualMesh> mesh, Limiter limiter) : mesh_(std::move(mesh)), limiter_(limiter) {
  const auto nodes = static_cast<std::size_t>(mesh_->nodes);
  conserved_.assign(4 * nodes, 0);
  before_ = primitive_ = gain_ = conserved_;
  gradient_.assign(8 * nodes, 0);
  pace_.assign(nodes, 0);
  sound_ = pace_;
  flux_.assign(4 * mesh_->left.size(), 0);
  fill({1, 0, 0, 1 / heat_ratio});
}

void GasFlow::fill(const Gas& gas) {
  for (std::int64_t node = 0; node < mesh_->nodes; ++node) set(node, gas);
  surround(std::vector<Gas>(mesh_->far_field.size(), gas));
}

Gas GasFlow::at(std::int64_t node) const {
  const double* state = &primitive_[4 * static_cast<std::size_t>(node)];
  return {state[0], state[1], state[2], state[3]};
}

void GasFlow::set(std::int64_t node, const Gas& gas) {
  require_gas(gas);
  std::ranges::copy(conserved(gas), conserved_.begin() + 4 * node);
  std::ranges::copy(std::array{gas.density, gas.velocity_x, gas.velocity_y, gas.pressure},
                    primitive_.begin() + 4 * node);
}

void GasFlow::surround(const std::vector<Gas>& outside) {
  require(outside.size() == mesh_->far_field.size(), "finite volumes: outside=", outside.size(), " (there are ",
          mesh_->far_field.size(), " half edges of the far field). Give one gas for each.");
  for (const Gas& gas : outside) require_gas(gas);
  outside_ = outside;
}

void GasFlow::find_primitives() {
  const double* state = conserved_.data();
  double* found = primitive_.data();
#pragma GCC ivdep
  for (std::int64_t i = 0; i < mesh_->nodes; ++i) {
    const double volume = 1 / state[4 * i], u = state[4 * i + 1] * volume, v = state[4 * i + 2] * volume;
    found[4 * i] = state[4 * i];
    found[4 * i + 1] = u;
    found[4 * i + 2] = v;
    found[4 * i + 3] = (heat_ratio - 1) * (state[4 * i + 3] - (state[4 * i + 1] * u + state[4 * i + 2] * v) / 2);
  }
}

void GasFlow::find_gradients() {
  const DualMesh& mesh = *mesh_;
  for (std::int64_t i = 0; i < mesh.nodes; ++i) {
    const auto node = static_cast<std::size_t>(i);
    const double* here = &primitive_[4 * node];
    double x[4] = {}, y[4] = {};
    for (auto k = static_cast<std::size_t>(mesh.first[node]); k < static_cast<std::size_t>(mesh.first[node + 1]); ++k) {
      const double* there = &primitive_[4 * static_cast<std::size_t>(mesh.neighbour[k])];
      for (int q = 0; q < 4; ++q) {
        const double difference = there[q] - here[q];
        x[q] += mesh.weight_x[k] * difference;
        y[q] += mesh.weight_y[k] * difference;
      }
    }
    std::copy_n(x, 4, &gradient_[8 * node]);
    std::copy_n(y, 4, &gradient_[8 * node + 4]);
  }
}

template <bool Limited>
void GasFlow::find_edge_fluxes() {
  const DualMesh& mesh = *mesh_;
  const std::size_t edges = mesh.left.size();
  const double *state = primitive_.data(), *slope = gradient_.data();
  const std::int32_t *left = mesh.left.data(), *right = mesh.right.data();
  const double *dx = mesh.across_x.data(), *dy = mesh.across_y.data(), *nx = mesh.normal_x.data(),
               *ny = mesh.normal_y.data(), *face = mesh.face.data();
  double *mass = flux_.data(), *push_x = mass + edges, *push_y = push_x + edges, *energy = push_y + edges;
  // Edges do not overlap: several are computed at a time.
#pragma GCC ivdep
  for (std::size_t e = 0; e < edges; ++e) {
    const std::size_t i = static_cast<std::size_t>(left[e]), j = static_cast<std::size_t>(right[e]);
    double from[4], to[4];
#pragma GCC unroll 4
    for (std::size_t q = 0; q < 4; ++q) {
      const double a = state[4 * i + q], b = state[4 * j + q], difference = b - a;
      const double along_a = slope[8 * i + q] * dx[e] + slope[8 * i + 4 + q] * dy[e],
                   along_b = slope[8 * j + q] * dx[e] + slope[8 * j + 4 + q] * dy[e];
      if constexpr (Limited) {
        from[q] = a + van_albada(2 * along_a - difference, difference) / 2;
        to[q] = b - van_albada(2 * along_b - difference, difference) / 2;
      } else {
        from[q] = a + along_a / 2;
        to[q] = b - along_b / 2;
      }
    }
    const bool works = (from[0] > 0) & (from[3] > 0) & (to[0] > 0) & (to[3] > 0);
#pragma GCC unroll 4
    for (std::size_t q = 0; q < 4; ++q) {
      from[q] = works ? from[q] : state[4 * i + q];
      to[q] = works ? to[q] : state[4 * j + q];
    }
    const std::array<double, 4> flux =
        hllc({from[0], from[1], from[2], from[3]}, {to[0], to[1], to[2], to[3]}, nx[e], ny[e]);
    mass[e] = flux[0] * face[e];
    push_x[e] = flux[1] * face[e];
    push_y[e] = flux[2] * face[e];
    energy[e] = flux[3] * face[e];
  }
}

double GasFlow::find_gains() {
  const DualMesh& mesh = *mesh_;
  find_gradients();
  limiter_ == Limiter::van_albada ? find_edge_fluxes<true>() : find_edge_fluxes<false>();
  std::ranges::fill(gain_, 0.0);
  const std::size_t edges = mesh.left.size();
  for (std::size_t e = 0; e < edges; ++e) {
    double *from = &gain_[4 * static_cast<std::size_t>(mesh.left[e])],
           *to = &gain_[4 * static_cast<std::size_t>(mesh.right[e])];
    for (std::size_t q = 0; q < 4; ++q) {
      from[q] -= flux_[q * edges + e];
      to[q] += flux_[q * edges + e];
    }
  }
  for (const DualMesh::Half& half : mesh.wall) {
    double* gain = &gain_[4 * static_cast<std::size_t>(half.node)];
    const double push = pressure_on(half) * half.face;
    gain[1] -= push * half.normal_x;
    gain[2] -= push * half.normal_y;
  }
  double leaving = 0;
  for (std::size_t k = 0; k < mesh.far_field.size(); ++k) {
    const DualMesh::Half& half = mesh.far_field[k];
    const double* here = &primitive_[4 * static_cast<std::size_t>(half.node)];
    const std::array<double, 4> flux =
        hllc({here[0], here[1], here[2], here[3]}, outside_[k], half.normal_x, half.normal_y);
    double* gain = &gain_[4 * static_cast<std::size_t>(half.node)];
    for (std::size_t q = 0; q < 4; ++q) gain[q] -= flux[q] * half.face;
    leaving += flux[0] * half.face;
  }
  return leaving;
}

/// The weights with which the sum over edges and half edges is the exact force of a pressure that is linear in the
/// plane (Barth, "Aspects of unstructured grids", VKI lecture series 1994-05).
double GasFlow::pressure_on(const DualMesh::Half& half) const {
  return (5 * primitive_[4 * static_cast<std::size_t>(half.node) + 3] +
          primitive_[4 * static_cast<std::size_t>(half.other) + 3]) /
         6;
}

double GasFlow::find_paces() {
  const DualMesh& mesh = *mesh_;
  std::ranges::fill(pace_, 0.0);
  for (std::size_t i = 0; i < sound_.size(); ++i)
    sound_[i] = std::sqrt(heat_ratio * primitive_[4 * i + 3] / primitive_[4 * i]);
  const auto through = [&](std::size_t i, double nx, double ny) {
    return std::abs(primitive_[4 * i + 1] * nx + primitive_[4 * i + 2] * ny) + sound_[i];
  };
  for (std::size_t e = 0; e < mesh.left.size(); ++e) {
    const auto i = static_cast<std::size_t>(mesh.left[e]), j = static_cast<std::size_t>(mesh.right[e]);
    const double speed = mesh.face[e] * std::max(through(i, mesh.normal_x[e], mesh.normal_y[e]),
                                                 through(j, mesh.normal_x[e], mesh.normal_y[e]));
    pace_[i] += speed;
    pace_[j] += speed;
  }
  for (const auto* halves : {&mesh.wall, &mesh.far_field}) {
    for (const DualMesh::Half& half : *halves) {
      const auto i = static_cast<std::size_t>(half.node);
      pace_[i] += half.face * through(i, half.normal_x, half.normal_y);
    }
  }
  double step = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < pace_.size(); ++i) {
    pace_[i] = courant * 2 / pace_[i];
    step = std::min(step, pace_[i] * mesh.volume[i]);
  }
  return step;
}

double GasFlow::advance(double most) {
  const double step = std::min(find_paces(), most);
  for (std::size_t i = 0; i < pace_.size(); ++i) pace_[i] = step / mesh_->volume[i];
  mass_gone_ += step * stages();
  return step;
}

void GasFlow::relax() {
  find_paces();
  stages();
}

double GasFlow::stages() {
  constexpr int count = 4;
  before_ = conserved_;
  double leaving = 0;
  for (int stage = 1; stage <= count; ++stage) {
    leaving += find_gains() / count;
    const double old = stage < count ? 0 : 1.0 / count, now = 1 - old;
    for (std::size_t i = 0; i < pace_.size(); ++i) {
      const double pace = pace_[i] / (count - 1);
      for (std::size_t k = 4 * i; k < 4 * i + 4; ++k)
        conserved_[k] = old * before_[k] + now * (conserved_[k] + pace * gain_[k]);
    }
    find_primitives();
  }
  for (std::size_t i = 0; i < pace_.size(); ++i) {
    const double density = primitive_[4 * i], pressure = primitive_[4 * i + 3];
    require<NumericalError>(is_gas(density, pressure), "gas: node=", i, ", density=", density, ", pressure=", pressure,
                            " (both are positive and finite in a gas). Give a slower flow or a finer mesh.");
  }
  return leaving;
}

double GasFlow::mass() const {
  double sum = 0;
  for (std::size_t i = 0; i < mesh_->volume.size(); ++i) sum += mesh_->volume[i] * conserved_[4 * i];
  return sum;
}

std::array<double, 2> GasFlow::force_on_walls() const {
  std::array<double, 2> force = {0, 0};
  for (const DualMesh::Half& half : mesh_->wall) {
    const double push = pressure_on(half) * half.face;
    force[0] += push * half.normal_x;
    force[1] += push * half.normal_y;
  }
  return force;
}

}  // namespace opshap::pde
