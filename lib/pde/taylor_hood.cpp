#include "pde/taylor_hood.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "core/error.hpp"

namespace opshap::pde {

namespace {

/// Both components of a vector: one register of the processor.
using Pair = Eigen::Array2d;
using Pairs = std::vector<Pair>;
using Triplets = std::vector<Eigen::Triplet<double>>;

Pair pair_of(const Point& point) { return {point[0], point[1]}; }

/// A sparse matrix by rows. Entries may be pairs.
template <typename Entry>
struct Rows {
  std::vector<std::size_t> begin;
  std::vector<int> column;
  std::vector<Entry> entry;

  Pair times(std::size_t row, const Pairs& vector) const {
    Pair sum = Pair::Zero();
    for (std::size_t k = begin[row]; k < begin[row + 1]; ++k)
      sum += entry[k] * vector[static_cast<std::size_t>(column[k])];
    return sum;
  }
};

using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;

Sparse sparse(std::size_t rows, std::size_t columns, const Triplets& entries) {
  Sparse matrix(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

Rows<double> rows_of(const Sparse& matrix) {
  Rows<double> rows;
  rows.begin.assign(matrix.outerIndexPtr(), matrix.outerIndexPtr() + matrix.rows() + 1);
  rows.column.assign(matrix.innerIndexPtr(), matrix.innerIndexPtr() + matrix.nonZeros());
  rows.entry.assign(matrix.valuePtr(), matrix.valuePtr() + matrix.nonZeros());
  return rows;
}

/// Two matrices with the same pattern as one of pairs.
Rows<Pair> rows_of(const Sparse& x, const Sparse& y) {
  Rows<Pair> rows;
  rows.begin.assign(x.outerIndexPtr(), x.outerIndexPtr() + x.rows() + 1);
  rows.column.assign(x.innerIndexPtr(), x.innerIndexPtr() + x.nonZeros());
  for (Eigen::Index k = 0; k < x.nonZeros(); ++k) rows.entry.emplace_back(x.valuePtr()[k], y.valuePtr()[k]);
  return rows;
}

/// The factors L D Lᵀ of a symmetric positive definite matrix, for right-hand sides of numbers or of pairs.
class Factors {
 public:
  /// `who` names the matrix in the message of a NumericalError.
  void compute(const char* who, const Sparse& matrix) {
    const Eigen::SparseMatrix<double> columns = matrix;
    if (!analysed_) solver_.analyzePattern(columns);
    analysed_ = true;
    solver_.factorize(columns);
    require<NumericalError>(solver_.info() == Eigen::Success, "taylor_hood: ", who,
                            " (has no factors). Give a smaller step, or another mesh.");
    const auto& lower = solver_.matrixL().nestedExpression();
    begin_.assign(lower.outerIndexPtr(), lower.outerIndexPtr() + lower.cols() + 1);
    row_.assign(lower.innerIndexPtr(), lower.innerIndexPtr() + lower.nonZeros());
    entry_.assign(lower.valuePtr(), lower.valuePtr() + lower.nonZeros());
    const auto size = static_cast<std::size_t>(lower.cols());
    inverse_diagonal_.resize(size);
    place_.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      inverse_diagonal_[i] = 1 / solver_.vectorD()[at];
      place_[i] = static_cast<std::size_t>(solver_.permutationP().indices()[at]);
    }
  }

  template <typename Value>
  void solve(std::vector<Value>& sides, std::vector<Value>& work) const {
    const std::size_t size = place_.size();
    work.resize(size);
    for (std::size_t i = 0; i < size; ++i) work[place_[i]] = sides[i];
    Value* x = work.data();
    for (std::size_t j = 0; j < size; ++j) {
      const Value own = x[j];
      for (int k = begin_[j]; k < begin_[j + 1]; ++k) x[row_[k]] -= entry_[k] * own;
    }
    for (std::size_t j = size; j-- > 0;) {
      Value own = x[j] * inverse_diagonal_[j];
      for (int k = begin_[j]; k < begin_[j + 1]; ++k) own -= entry_[k] * x[row_[k]];
      x[j] = own;
    }
    for (std::size_t i = 0; i < size; ++i) sides[i] = work[place_[i]];
  }

 private:
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver_;
  bool analysed_ = false;
  std::vector<int> begin_, row_;
  std::vector<double> entry_, inverse_diagonal_;
  std::vector<std::size_t> place_;  ///< where each unknown is in the order of elimination
};

/// The rule of seven points that is exact up to degree 5 (Radon 1948): barycentric coordinates and weights.
struct Quadrature {
  static constexpr std::size_t points = 7;
  std::array<std::array<double, 3>, points> at;
  std::array<double, points> weight;
  std::array<std::array<double, 6>, points> basis;  ///< of the quadratic functions, corners first

  Quadrature() {
    const double root = std::sqrt(15.0);
    at[0] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
    weight[0] = 0.225;
    for (std::size_t orbit = 0; orbit < 2; ++orbit) {
      const double sign = orbit == 0 ? -1 : 1, twice = (6 + sign * root) / 21, once = 1 - 2 * twice;
      for (std::size_t i = 0; i < 3; ++i) {
        at[1 + 3 * orbit + i] = {twice, twice, twice};
        at[1 + 3 * orbit + i][i] = once;
        weight[1 + 3 * orbit + i] = (155 + sign * root) / 1200;
      }
    }
    for (std::size_t q = 0; q < points; ++q) {
      for (std::size_t i = 0; i < 3; ++i) {
        basis[q][i] = at[q][i] * (2 * at[q][i] - 1);
        basis[q][3 + i] = 4 * at[q][i] * at[q][(i + 1) % 3];
      }
    }
  }
};
const Quadrature rule;

/// A triangle: its corners and the middles of the edges 01, 12, 20.
struct Element {
  std::array<std::size_t, 6> node;
  std::array<Pair, 3> slope;  ///< gradients of the barycentric coordinates
  double area;

  /// Gradient of a quadratic function at a point of the rule.
  Pair gradient(std::size_t function, std::size_t q) const {
    const auto& at = rule.at[q];
    if (function < 3) return (4 * at[function] - 1) * slope[function];
    const std::size_t a = function - 3, b = (a + 1) % 3;
    return 4 * (at[a] * slope[b] + at[b] * slope[a]);
  }
};

/// An edge of one triangle alone.
struct BoundaryEdge {
  std::array<std::size_t, 3> node;  ///< the ends and the middle
};

}  // namespace

class TaylorHood::Scheme {
 public:
  Scheme(const Mesh& mesh, FlowConditions given) : conditions(std::move(given)) {
    require(mesh.dimension == 2 && !mesh.cells.empty(), "taylor_hood: ", mesh.describe(),
            " (has no triangles). Give a mesh of triangles.");
    require(conditions.viscosity > 0 && std::isfinite(conditions.viscosity),
            "taylor_hood: viscosity=", conditions.viscosity, " (the scheme needs some). Give more than 0.");
    require(conditions.boundary != nullptr, "taylor_hood: boundary=nothing (the flow needs values there). Give them.");
    number_nodes(mesh);
    assemble();
  }

  void start(const VectorFunction& velocity, const ScalarFunction& pressure, double now, double new_step) {
    time = now;
    set_step_size(new_step);
    for (std::size_t i = 0; i < place.size(); ++i) {
      u[i] = pair_of(velocity(place[i][0], place[i][1], now));
      u_before[i] = pair_of(velocity(place[i][0], place[i][1], now - step));
      u_long_before[i] = pair_of(velocity(place[i][0], place[i][1], now - 2 * step));
    }
    for (std::size_t a = 0; a < vertices; ++a) {
      const auto p_at = [&](double when) { return pressure(place[a][0], place[a][1], when); };
      p[a] = p_at(now);
      phi[a] = p[a] - p_at(now - step);
      phi_before[a] = p_at(now - step) - p_at(now - 2 * step);
    }
    convect(u, convection);
    convect(u_before, convection_before);
  }

  void require_started() const {
    require(step > 0, "taylor_hood: step=0 (the flow has no state yet). Call start() first.");
  }

  void change_step(double new_step) {
    require_started();
    const double ratio = new_step / step;
    set_step_size(new_step);
    for (std::size_t i = 0; i < place.size(); ++i) {
      u_before[i] = u[i] + ratio * (u_before[i] - u[i]);
      u_long_before[i] = u[i] + ratio * (u_long_before[i] - u[i]);
    }
    for (std::size_t a = 0; a < vertices; ++a) {
      phi[a] *= ratio;
      phi_before[a] *= ratio;
    }
    convect(u_before, convection_before);
  }

  void advance() {
    require_started();
    time += step;
    const double inverse = 1 / (2 * step);
    for (std::size_t i = 0; i < place.size(); ++i) known_[i] = inverse * (4 * u[i] - u_before[i]);
    for (std::size_t a = 0; a < vertices; ++a) guess_[a] = p[a] + (4 * phi[a] - phi_before[a]) / 3;
    load(guess_, right_);
    std::swap(u_long_before, u_before);
    std::swap(u_before, u);
    for (const std::size_t node : given_nodes_)
      u[node] = pair_of(conditions.boundary(place[node][0], place[node][1], time));
    for (std::size_t i = 0; i < free_nodes_.size(); ++i) {
      const std::size_t node = free_nodes_[i];
      side_[i] = right_[node] + mass_rows_.times(node, known_) - 2 * convection[node] + convection_before[node];
      side_[i] -= coupling_.times(i, u);
    }
    momentum_.solve(side_, work_);
    for (std::size_t i = 0; i < free_nodes_.size(); ++i) u[free_nodes_[i]] = side_[i];
    correct_pressure();
    std::swap(convection_before, convection);
    convect(u, convection);
  }

  /// The integral of q ∇·u for each linear function q.
  std::vector<double> divergence() const {
    std::vector<double> all(vertices);
    for (std::size_t a = 0; a < vertices; ++a) all[a] = gradient_.times(a, u).sum();
    return all;
  }

  Point force_on(const BoundaryPart& part) const {
    std::vector<bool> counted(place.size());
    Pairs loads(place.size()), change(place.size());
    load(p, loads);
    for (std::size_t i = 0; i < place.size(); ++i)
      change[i] = (3 * u[i] - 4 * u_before[i] + u_long_before[i]) / (2 * step);
    Pair force = Pair::Zero();
    for (const BoundaryEdge& edge : sides) {
      const Point& middle = place[edge.node[2]];
      if (!part(middle[0], middle[1])) continue;
      for (const std::size_t node : edge.node) {
        if (counted[node]) continue;
        counted[node] = true;
        force += loads[node] - convection[node] - mass_rows_.times(node, change) -
                 conditions.viscosity * stiffness_rows_.times(node, u);
      }
    }
    return {force[0], force[1]};
  }

  /// Calls visit(place, weight, velocity, pressure) at all points of the rule.
  template <typename Visit>
  void integrate(const Visit& visit) const {
    for (const Element& element : elements) {
      for (std::size_t q = 0; q < Quadrature::points; ++q) {
        Point at{0, 0};
        double pressure = 0;
        Pair velocity = Pair::Zero();
        for (std::size_t i = 0; i < 6; ++i) velocity += rule.basis[q][i] * u[element.node[i]];
        for (std::size_t i = 0; i < 3; ++i) {
          pressure += rule.at[q][i] * p[element.node[i]];
          for (std::size_t axis = 0; axis < 2; ++axis) at[axis] += rule.at[q][i] * place[element.node[i]][axis];
        }
        visit(at, rule.weight[q] * element.area, velocity, pressure);
      }
    }
  }

  FlowConditions conditions;
  std::size_t vertices = 0;
  std::vector<Point> place;  ///< of the nodes: vertices first, then middles of edges
  std::vector<Element> elements;
  std::vector<BoundaryEdge> sides;
  std::vector<double> share;  ///< of the area, of each vertex: the lumped mass of pressures
  double time = 0, step = 0;
  bool has_outlet = false;
  Pairs u, u_before, u_long_before, convection, convection_before;
  std::vector<double> p, phi, phi_before;

 private:
  void number_nodes(const Mesh& mesh) {
    vertices = static_cast<std::size_t>(mesh.size());
    for (std::int64_t a = 0; a < mesh.size(); ++a) place.push_back({mesh.coordinate(a, 0), mesh.coordinate(a, 1)});
    struct Edge {
      std::size_t middle;
      int triangles;
    };
    std::map<std::pair<std::size_t, std::size_t>, Edge> edges;
    for (std::size_t cell = 0; cell < mesh.cells.size(); cell += 3) {
      Element element{};
      for (std::size_t i = 0; i < 3; ++i) element.node[i] = static_cast<std::size_t>(mesh.cells[cell + i]);
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t a = element.node[i], b = element.node[(i + 1) % 3];
        const auto [edge, fresh] = edges.try_emplace(std::minmax(a, b), Edge{place.size(), 0});
        if (fresh) place.push_back({(place[a][0] + place[b][0]) / 2, (place[a][1] + place[b][1]) / 2});
        ++edge->second.triangles;
        element.node[3 + i] = edge->second.middle;
      }
      const Point &a = place[element.node[0]], &b = place[element.node[1]], &c = place[element.node[2]];
      const double twice = cross(a, b, c);
      element.area = std::abs(twice) / 2;
      element.slope = {Pair(b[1] - c[1], c[0] - b[0]) / twice, Pair(c[1] - a[1], a[0] - c[0]) / twice,
                       Pair(a[1] - b[1], b[0] - a[0]) / twice};
      elements.push_back(element);
    }
    std::vector<bool> given(place.size());
    pressed_.assign(vertices, false);
    for (const auto& [ends, edge] : edges) {
      if (edge.triangles > 1) continue;
      const Point& middle = place[edge.middle];
      const bool outlet = conditions.outlet != nullptr && conditions.outlet(middle[0], middle[1]);
      sides.push_back({{ends.first, ends.second, edge.middle}});
      has_outlet = has_outlet || outlet;
      for (const std::size_t node : sides.back().node) {
        if (!outlet) given[node] = true;
        if (outlet && node < vertices) pressed_[node] = true;
      }
    }
    if (!has_outlet) pressed_[0] = true;
    for (std::size_t node = 0; node < place.size(); ++node) (given[node] ? given_nodes_ : free_nodes_).push_back(node);
    for (Pairs* pairs : {&u, &u_before, &u_long_before, &convection, &convection_before, &known_, &right_})
      pairs->assign(place.size(), Pair::Zero());
    side_.assign(free_nodes_.size(), Pair::Zero());
    for (std::vector<double>* numbers : {&p, &phi, &phi_before, &guess_, &share}) numbers->assign(vertices, 0);
  }

  void assemble() {
    Triplets masses, stiffnesses, x, y, poisson;
    const auto add = [](Triplets& to, std::size_t row, std::size_t column, double value) {
      to.emplace_back(static_cast<int>(row), static_cast<int>(column), value);
    };
    for (const Element& element : elements) {
      for (std::size_t i = 0; i < 6; ++i) {
        for (std::size_t j = 0; j < 6; ++j) {
          double mass_of = 0, stiffness_of = 0;
          for (std::size_t q = 0; q < Quadrature::points; ++q) {
            mass_of += rule.weight[q] * rule.basis[q][i] * rule.basis[q][j];
            stiffness_of += rule.weight[q] * (element.gradient(i, q) * element.gradient(j, q)).sum();
          }
          add(masses, element.node[i], element.node[j], element.area * mass_of);
          add(stiffnesses, element.node[i], element.node[j], element.area * stiffness_of);
        }
        for (std::size_t a = 0; a < 3; ++a) {
          Pair sum = Pair::Zero();
          for (std::size_t q = 0; q < Quadrature::points; ++q)
            sum += element.area * rule.weight[q] * rule.at[q][a] * element.gradient(i, q);
          add(x, element.node[a], element.node[i], sum[0]);
          add(y, element.node[a], element.node[i], sum[1]);
        }
      }
      for (std::size_t a = 0; a < 3; ++a) {
        share[element.node[a]] += element.area / 3;
        for (std::size_t b = 0; b < 3; ++b)
          add(poisson, element.node[a], element.node[b], element.area * (element.slope[a] * element.slope[b]).sum());
      }
    }
    const std::size_t nodes = place.size();
    mass_ = sparse(nodes, nodes, masses);
    stiffness_ = sparse(nodes, nodes, stiffnesses);
    mass_rows_ = rows_of(mass_);
    stiffness_rows_ = rows_of(stiffness_);
    gradient_ = rows_of(sparse(vertices, nodes, x), sparse(vertices, nodes, y));
    for (std::size_t a = 0; a < vertices; ++a) {
      if (!pressed_[a]) free_vertices_.push_back(a);
    }
    poisson_.compute("the equation of the pressure",
                     part(sparse(vertices, vertices, poisson), free_vertices_, free_vertices_));
  }

  /// The entries of a matrix in some rows and columns, numbered as in these lists.
  static Sparse part(const Sparse& whole, const std::vector<std::size_t>& rows,
                     const std::vector<std::size_t>& columns) {
    std::vector<int> number(static_cast<std::size_t>(whole.cols()), -1);
    for (std::size_t j = 0; j < columns.size(); ++j) number[columns[j]] = static_cast<int>(j);
    Triplets entries;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (Sparse::InnerIterator entry(whole, static_cast<Eigen::Index>(rows[i])); entry; ++entry) {
        const int column = number[static_cast<std::size_t>(entry.col())];
        if (column >= 0) entries.emplace_back(static_cast<int>(i), column, entry.value());
      }
    }
    return sparse(rows.size(), columns.size(), entries);
  }

  void set_step_size(double new_step) {
    require(new_step > 0 && std::isfinite(new_step), "taylor_hood: step=", new_step,
            " (time goes on by finite steps). Give more than 0.");
    if (new_step == step) return;
    step = new_step;
    const Sparse helmholtz = 3 / (2 * step) * mass_ + conditions.viscosity * stiffness_;
    momentum_.compute("the equation of the velocity", part(helmholtz, free_nodes_, free_nodes_));
    coupling_ = rows_of(part(helmholtz, free_nodes_, given_nodes_));
    for (int& column : coupling_.column) column = static_cast<int>(given_nodes_[static_cast<std::size_t>(column)]);
  }

  /// What pressure and force do to each node.
  void load(const std::vector<double>& pressure, Pairs& loads) const {
    std::fill(loads.begin(), loads.end(), Pair::Zero());
    for (std::size_t a = 0; a < vertices; ++a) {
      for (std::size_t k = gradient_.begin[a]; k < gradient_.begin[a + 1]; ++k)
        loads[static_cast<std::size_t>(gradient_.column[k])] += gradient_.entry[k] * pressure[a];
    }
    if (conditions.force == nullptr) return;
    for (const Element& element : elements) {
      for (std::size_t q = 0; q < Quadrature::points; ++q) {
        Point at{0, 0};
        for (std::size_t i = 0; i < 3; ++i) {
          for (std::size_t axis = 0; axis < 2; ++axis) at[axis] += rule.at[q][i] * place[element.node[i]][axis];
        }
        const Pair force = rule.weight[q] * element.area * pair_of(conditions.force(at[0], at[1], time));
        for (std::size_t i = 0; i < 6; ++i) loads[element.node[i]] += rule.basis[q][i] * force;
      }
    }
  }

  /// The integral of (w·∇)w times each quadratic function.
  void convect(const Pairs& w, Pairs& all) const {
    std::fill(all.begin(), all.end(), Pair::Zero());
    for (const Element& element : elements) {
      std::array<Pair, 6> v, sum;
      for (std::size_t i = 0; i < 6; ++i) {
        v[i] = w[element.node[i]];
        sum[i] = Pair::Zero();
      }
      // ∂w/∂λ₁ − ∂w/∂λ₀ and ∂w/∂λ₂ − ∂w/∂λ₀ are linear: their values at the corners.
      const std::array<Pair, 3> along_1{4 * v[3] - 3 * v[0] - v[1], 3 * v[1] + v[0] - 4 * v[3],
                                        v[0] - v[1] + 4 * (v[4] - v[5])};
      const std::array<Pair, 3> along_2{4 * v[5] - 3 * v[0] - v[2], v[0] - v[2] + 4 * (v[4] - v[3]),
                                        3 * v[2] + v[0] - 4 * v[5]};
      for (std::size_t q = 0; q < Quadrature::points; ++q) {
        const auto& basis = rule.basis[q];
        const auto& at = rule.at[q];
        Pair here = basis[0] * v[0];
        for (std::size_t i = 1; i < 6; ++i) here += basis[i] * v[i];
        const Pair change_1 = at[0] * along_1[0] + at[1] * along_1[1] + at[2] * along_1[2];
        const Pair change_2 = at[0] * along_2[0] + at[1] * along_2[1] + at[2] * along_2[2];
        const double weight = rule.weight[q] * element.area;
        const double to_1 = weight * (here * element.slope[1]).sum(), to_2 = weight * (here * element.slope[2]).sum();
        const Pair carried = to_1 * change_1 + to_2 * change_2;
        for (std::size_t i = 0; i < 6; ++i) sum[i] += basis[i] * carried;
      }
      for (std::size_t i = 0; i < 6; ++i) all[element.node[i]] += sum[i];
    }
  }

  void correct_pressure() {
    const std::vector<double> source = divergence();
    double mean = 0;
    if (!has_outlet) {  // what flows in and out through the interpolated boundary values
      double all = 0, area = 0;
      for (std::size_t a = 0; a < vertices; ++a) {
        all += source[a];
        area += share[a];
      }
      mean = all / area;
    }
    std::vector<double> correction(free_vertices_.size());
    for (std::size_t i = 0; i < free_vertices_.size(); ++i)
      correction[i] = -1.5 / step * (source[free_vertices_[i]] - mean * share[free_vertices_[i]]);
    poisson_.solve(correction, pressure_work_);
    std::swap(phi_before, phi);
    std::fill(phi.begin(), phi.end(), 0.0);
    for (std::size_t i = 0; i < free_vertices_.size(); ++i) phi[free_vertices_[i]] = correction[i];
    for (std::size_t a = 0; a < vertices; ++a) p[a] += phi[a] - conditions.viscosity * (source[a] / share[a] - mean);
  }

  std::vector<std::size_t> free_nodes_, given_nodes_, free_vertices_;
  std::vector<bool> pressed_;  ///< vertices whose pressure is given: those of outlets, or one
  Sparse mass_, stiffness_;
  Rows<double> mass_rows_, stiffness_rows_, coupling_;  ///< coupling_: of free nodes with given ones
  Rows<Pair> gradient_;                                 ///< [vertices, nodes]: the integral of ψ ∇φ
  Factors momentum_, poisson_;
  Pairs known_, right_, side_, work_;
  std::vector<double> guess_, pressure_work_;
};

TaylorHood::TaylorHood(const Mesh& mesh, FlowConditions conditions)
    : scheme_(std::make_unique<Scheme>(mesh, std::move(conditions))) {}
TaylorHood::~TaylorHood() = default;
TaylorHood::TaylorHood(TaylorHood&&) noexcept = default;
TaylorHood& TaylorHood::operator=(TaylorHood&&) noexcept = default;

void TaylorHood::start(const VectorFunction& velocity, const ScalarFunction& pressure, double time, double step) {
  scheme_->start(velocity, pressure, time, step);
}
void TaylorHood::start_at_rest(double time, double step) {
  start([](double, double, double) { return Point{0, 0}; }, [](double, double, double) { return 0.0; }, time, step);
}
void TaylorHood::set_step(double step) { scheme_->change_step(step); }
void TaylorHood::advance() { scheme_->advance(); }
double TaylorHood::time() const { return scheme_->time; }
double TaylorHood::step() const { return scheme_->step; }

std::vector<Point> TaylorHood::velocity() const {
  std::vector<Point> all;
  for (std::size_t a = 0; a < scheme_->vertices; ++a) all.push_back({scheme_->u[a][0], scheme_->u[a][1]});
  return all;
}

std::vector<double> TaylorHood::pressure() const { return scheme_->p; }

double TaylorHood::fastest() const {
  double most = 0;
  for (const Pair& u : scheme_->u) {
    const double square = (u * u).sum();
    if (!(square <= most)) most = square;  // also one that is not a number
    if (!std::isfinite(most)) break;
  }
  return std::sqrt(most);
}

double TaylorHood::divergence() const {
  double sum = 0;
  const std::vector<double> all = scheme_->divergence();
  for (std::size_t a = 0; a < all.size(); ++a) sum += all[a] * all[a] / scheme_->share[a];
  return std::sqrt(sum);
}

Point TaylorHood::force_on(const BoundaryPart& part) const { return scheme_->force_on(part); }

double TaylorHood::velocity_error(const VectorFunction& velocity) const {
  double sum = 0;
  scheme_->integrate([&](const Point& at, double weight, const Pair& has, double) {
    sum += weight * (has - pair_of(velocity(at[0], at[1], time()))).square().sum();
  });
  return std::sqrt(sum);
}

double TaylorHood::pressure_error(const ScalarFunction& pressure) const {
  double first = 0, second = 0, area = 0;
  scheme_->integrate([&](const Point& at, double weight, const Pair&, double has) {
    const double difference = has - pressure(at[0], at[1], time());
    first += weight * difference;
    second += weight * difference * difference;
    area += weight;
  });
  return std::sqrt(std::max(0.0, scheme_->has_outlet ? second : second - first * first / area));
}

}  // namespace opshap::pde
