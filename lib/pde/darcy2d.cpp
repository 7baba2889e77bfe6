#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "core/error.hpp"
#include "pde/fields.hpp"
#include "pde/fourier.hpp"
#include "pde/problem.hpp"

namespace opshap::pde {

namespace {

constexpr double pi = std::numbers::pi;

/// A Gaussian field of mean 0 whose spectral density falls like |k|^-4, periodic on the unit square. The variance of
/// all its modes is 1: Σ |k|^-4 over the whole lattice is 4 ζ(2) β(2). The modes are drawn from the longest waves on,
/// so that a finer grid adds modes to the same field.
std::vector<double> periodic_field(int points, Rng& amplitudes) {
  constexpr double lattice_sum = 4 * (pi * pi / 6) * 0.91596559417721901505;
  const RealFourier fourier(std::vector<int>{points, points});
  const auto modes = fourier.modes();
  const auto mode = [&](int k, int l) -> std::complex<double>& {
    return modes[static_cast<std::size_t>((k + points) % points * (points / 2 + 1) + l)];
  };
  std::fill(modes.begin(), modes.end(), 0.0);
  for (int shell = 1; shell < (points + 1) / 2; ++shell) {
    for (int k = -shell; k <= shell; ++k) {
      // One of each pair (k, l) and (−k, −l), with the larger of |k| and |l| in this shell.
      for (int l = k > 0 ? 0 : 1; l <= shell; ++l) {
        if (std::max(std::abs(k), l) < shell) continue;
        const double real = amplitudes.normal(), imaginary = amplitudes.normal();
        const std::complex<double> amplitude =
            std::complex(real, imaginary) / (static_cast<double>(k * k + l * l) * std::sqrt(2 * lattice_sum));
        mode(k, l) = amplitude;
        if (l == 0) mode(-k, 0) = std::conj(amplitude);
      }
    }
  }
  fourier.backward();
  return {fourier.values().begin(), fourier.values().end()};
}

/// The Gaussian field behind the Darcy data of Li et al. (2021), drawn between walls: cosine modes with the amplitudes
/// 2 τ^(α−1) (π²|k|² + τ²)^(−α/2) (less by √2 for each index that is 0), α = 2, τ = 3, without the mean.
std::vector<double> field_of_the_fno_paper(int points, Rng& amplitudes) {
  constexpr double tau = 3;
  const auto n = static_cast<std::size_t>(points);
  std::vector<double> field(n * n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t l = 0; l < n; ++l) {
      const double normal = amplitudes.normal(), square = static_cast<double>(k * k + l * l);
      const double size =
          2 * tau / (pi * pi * square + tau * tau) * (k == 0 ? std::sqrt(0.5) : 1) * (l == 0 ? std::sqrt(0.5) : 1);
      if (k + l > 0) field[k * n + l] = size * normal;
    }
  }
  const Cosines cosines(points);
  for (std::size_t i = 0; i < n; ++i) cosines.backward(&field[i * n], 1);
  for (std::size_t j = 0; j < n; ++j) cosines.backward(&field[j], n);
  return field;
}

/// −div(a grad u) = f as linear equations for the cells: what flows out of each cell is what springs up in it.
///
/// Between two cells the permeability is the harmonic mean of theirs; the edge of the square, where u = 0, is half a
/// cell away from the outer ones.
class Stencil {
 public:
  Stencil(const Domain& domain, std::span<const double> permeability)
      : nx_(static_cast<std::size_t>(domain.shape()[0])),
        ny_(static_cast<std::size_t>(domain.shape()[1])),
        area_(domain.axes()[0].spacing() * domain.axes()[1].spacing()),
        right_(nx_ * ny_, 0),
        up_(right_),
        diagonal_(right_) {
    const double slope_x = domain.axes()[1].spacing() / domain.axes()[0].spacing(), slope_y = 1 / slope_x;
    for (std::size_t i = 0; i < nx_; ++i) {
      for (std::size_t j = 0; j < ny_; ++j) {
        const std::size_t p = i * ny_ + j;
        const double a = permeability[p];
        const auto between = [a](double b) { return 2 * a * b / (a + b); };
        if (i + 1 < nx_) right_[p] = slope_x * between(permeability[p + ny_]);
        if (j + 1 < ny_) up_[p] = slope_y * between(permeability[p + 1]);
        edge_.push_back(2 * a * (slope_x * ((i == 0) + (i + 1 == nx_)) + slope_y * ((j == 0) + (j + 1 == ny_))));
        diagonal_[p] += right_[p] + up_[p] + edge_[p];
        if (i + 1 < nx_) diagonal_[p + ny_] += right_[p];
        if (j + 1 < ny_) diagonal_[p + 1] += up_[p];
      }
    }
  }

  double area() const { return area_; }
  const std::vector<double>& diagonal() const { return diagonal_; }

  /// The lower half of the symmetric matrix.
  Eigen::SparseMatrix<double> matrix() const {
    const auto cells = static_cast<Eigen::Index>(diagonal_.size());
    Eigen::SparseMatrix<double> matrix(cells, cells);
    matrix.reserve(Eigen::VectorXi::Constant(cells, 3));
    for (std::size_t p = 0; p < diagonal_.size(); ++p) {
      const auto at = static_cast<Eigen::Index>(p);
      matrix.insert(at, at) = diagonal_[p];
      if (up_[p] > 0) matrix.insert(at + 1, at) = -up_[p];
      if (right_[p] > 0) matrix.insert(at + static_cast<Eigen::Index>(ny_), at) = -right_[p];
    }
    return matrix;
  }

  /// What flows out of each cell, per cell.
  std::vector<double> outflow(std::span<const double> u) const {
    std::vector<double> flow(u.size());
    for (std::size_t p = 0; p < u.size(); ++p) flow[p] = diagonal_[p] * u[p];
    for (std::size_t p = 0; p < u.size(); ++p) {
      if (right_[p] > 0) exchange(flow, u, p, p + ny_, right_[p]);
      if (up_[p] > 0) exchange(flow, u, p, p + 1, up_[p]);
    }
    return flow;
  }

  /// What flows over the edge of the square.
  double over_the_edge(std::span<const double> u) const {
    double flow = 0;
    for (std::size_t p = 0; p < u.size(); ++p) flow += edge_[p] * u[p];
    return flow;
  }

 private:
  static void exchange(std::vector<double>& flow, std::span<const double> u, std::size_t p, std::size_t q, double by) {
    flow[p] -= by * u[q];
    flow[q] -= by * u[p];
  }

  std::size_t nx_, ny_;
  double area_;
  std::vector<double> right_, up_, diagonal_, edge_;
};

/// The largest |u| of a cell and its four neighbours.
double largest_around(const FieldBatch& field, std::size_t p) {
  const auto ny = static_cast<std::size_t>(field.domain.shape()[1]);
  double most = std::abs(field.values[p]);
  const auto see = [&](std::size_t q) { most = std::max(most, std::abs(field.values[q])); };
  if (p >= ny) see(p - ny);
  if (p + ny < field.values.size()) see(p + ny);
  if (p % ny > 0) see(p - 1);
  if (p % ny + 1 < ny) see(p + 1);
  return most;
}

class Darcy2d final : public MadeOfParameters<Darcy2d, Problem> {
 public:
  explicit Darcy2d(std::vector<Parameter> parameters) : MadeOfParameters(std::move(parameters)) {
    require_not_negative({"sigma"});
    grid_points(4096);
  }

  std::string_view name() const override { return "darcy2d"; }
  std::string_view summary() const override { return "-div(a grad u) = f on [0, 1]^2, u = 0 on the boundary"; }
  std::string_view scheme() const override {
    return "finite volumes of five points, harmonic means of the permeability, sparse Cholesky factorisation";
  }
  ParameterValues quick() const override { return {{"points", 32.0}}; }

  Space input() const override { return {{{"a", "1"}}, native()}; }
  Space output() const override { return {{{"u", "1"}}, native()}; }
  std::vector<Invariant> invariants() const override {
    return {{"relative_residual", 1e-11, "Give a smoother field."},
            {"outflow_balance", 1e-10, "Give a smoother field."},
            {"wrong_sign", 0, "Report this: the scheme cannot break the law."}};
  }
  Rest rest() const override { return {.state = {}, .reason = "its input is a permeability, which does not evolve"}; }
  Sample draw(const Rng& root, std::uint64_t sample) const override;
  Solution solve(const FieldBatch& input) const override;
  std::vector<PairLaw> pair_laws(const FieldBatch& input, const FieldBatch& output) const override;

 private:
  Domain native() const {
    const int points = grid_points(4096);
    return Domain::grid({Axis::cells(points), Axis::cells(points)});
  }
  double forcing() const { return number("f"); }
};

Sample Darcy2d::draw(const Rng& root, std::uint64_t sample) const {
  Rng amplitudes = root.stream(static_cast<std::uint32_t>(Purpose::amplitudes), sample);
  Sample made{FieldBatch::zeros(native(), 1, 1), {}};
  const int points = made.input.domain.shape()[0];
  const std::vector<double> field =
      choice("field") == "periodic" ? periodic_field(points, amplitudes) : field_of_the_fno_paper(points, amplitudes);
  const double sigma = number("sigma");
  for (std::size_t p = 0; p < field.size(); ++p) made.input.values[p] = std::exp(sigma * field[p]);
  const double centre = mean(field);
  made.drawn = {{"log_permeability_mean", {sigma * centre}},
                {"log_permeability_spread", {sigma * std::sqrt(mean_square(field) - centre * centre)}}};
  return made;
}

Solution Darcy2d::solve(const FieldBatch& input) const {
  require_one_field(name(), input, this->input());
  for (const Axis& axis : input.domain.axes()) {
    require(axis == Axis::cells(axis.points, axis.extent, axis.origin), "darcy2d: axis=", axis.describe(),
            " (the boundary lies half a cell from the outer points). Give the middles of cells.");
  }
  for (std::size_t p = 0; p < input.values.size(); ++p) {
    require<DataError>(input.values[p] > 0, "darcy2d: point=", p, ", a=", input.values[p],
                       " (a permeability is positive). Correct the field.");
  }
  const Stencil stencil(input.domain, input.values);
  const auto cells = static_cast<Eigen::Index>(input.values.size());
  const double source = forcing() * stencil.area();
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factors(stencil.matrix());
  require<NumericalError>(factors.info() == Eigen::Success, "darcy2d: N=", cells,
                          " (the permeabilities are too far apart for a factorisation). Give a smoother field.");
  const Eigen::VectorXd u = factors.solve(Eigen::VectorXd::Constant(cells, source));

  Solution solution{{input.domain, 1, 1, {u.begin(), u.end()}}, 0, {}};
  const std::vector<double>& values = solution.output.values;
  std::vector<double> residual = stencil.outflow(values);
  for (double& flow : residual) flow -= source;
  const double size = std::max(std::abs(source), 1e-300);
  const Range range(values);
  solution.departures = {std::sqrt(mean_square(residual)) / size,
                         std::abs(stencil.over_the_edge(values) - source * static_cast<double>(cells)) /
                             (size * static_cast<double>(cells)),
                         positive_part(forcing() >= 0 ? -range.low : range.high)};
  return solution;
}

std::vector<PairLaw> Darcy2d::pair_laws(const FieldBatch& input, const FieldBatch& output) const {
  const Stencil stencil(input.domain, input.values);
  const double source = forcing() * stencil.area();
  const std::vector<double> flow = stencil.outflow(output.values);
  double worst = 0, rounding = 0;
  for (std::size_t p = 0; p < flow.size(); ++p) {
    const double apart = std::abs(flow[p] - source);
    worst = apart <= worst ? worst : apart;
    // A cell and its neighbours are each off by 2^-24 of themselves: at most twice the diagonal times the largest.
    rounding = std::max(rounding, 2 * std::ldexp(stencil.diagonal()[p] * largest_around(output, p), -24));
  }
  return {{"equation", worst, rounding + 1e-9 * std::abs(source)}};
}

}  // namespace

std::unique_ptr<Problem> darcy2d() {
  return std::make_unique<Darcy2d>(std::vector<Parameter>{
      {"f", 1, "source"},
      {"sigma", 1, "spread of the logarithm of the permeability, in units of its Gaussian field"},
      {"field",
       0,
       "Gaussian field behind the permeability: periodic with a spectral density of |k|^-4, or that of the first paper "
       "on Fourier neural operators",
       {"periodic", "fno_grf"}},
      {"points", 128, "points per axis of the native grid"}});
}

}  // namespace opshap::pde
