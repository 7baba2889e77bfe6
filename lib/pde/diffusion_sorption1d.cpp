#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "pde/fields.hpp"
#include "pde/problem.hpp"
#include "pde/sundials.hpp"

namespace opshap::pde {

namespace {

constexpr int most_sorption_points = 1'000'000;

/// Freundlich's law: of a solute of concentration u, capacity·u^exponent is held by the ground.
struct Freundlich {
  double capacity, exponent;

  /// Below this, the ground's appetite is that at this concentration; it would have no bound.
  static constexpr double fewest = 1e-12;

  double held(double u) const { return capacity * std::pow(std::max(u, 0.0), exponent); }
  /// R(u) = 1 + d held/du, the factor by which the ground slows the solute down.
  double retardation(double u) const { return 1 + capacity * exponent * std::pow(std::max(u, fewest), exponent - 1); }
};

class DiffusionSorption1d final : public MadeOfParameters<DiffusionSorption1d, Evolution> {
 public:
  explicit DiffusionSorption1d(std::vector<Parameter> parameters) : MadeOfParameters(std::move(parameters)) {
    require_positive({"D", "k_f", "n_f", "rho_s", "phi", "rtol", "atol"});
    require_not_negative({"c_left"});
    grid_points(most_sorption_points);
  }

  std::string_view name() const override { return "diffusion_sorption1d"; }
  std::string_view summary() const override {
    return "u_t = D u_xx / R(u), R = 1 + (rho_s / phi) k_f n_f u^(n_f - 1), u(0) = c_left, u_x(1) = 0 on [0, 1]";
  }
  std::string_view scheme() const override {
    return "finite differences of second order on nodes, CVODE BDF with the exact Jacobian";
  }
  ParameterValues quick() const override { return {{"points", 128.0}}; }

  Space input() const override {
    return {{{"u", "1"}}, Domain::grid({Axis::nodes(grid_points(most_sorption_points))})};
  }
  std::vector<Invariant> invariants() const override {
    return {{"content_imbalance", 1e-4, "Use smaller tolerances."},
            {"range_left", 1e-6, "Use smaller tolerances."},
            {"rise_in_x", 1e-6, "Use smaller tolerances, or an initial field that falls."}};
  }
  double target_time() const override { return 250; }
  /// Ground in which the concentration is that of the inflow everywhere. Clean ground does not stay so.
  Rest rest() const override { return {.state = {number("c_left")}, .reason = {}}; }
  Sample draw(const Rng& root, std::uint64_t sample) const override;
  Solution solve(const FieldBatch& initial, double time) const override;
  std::vector<PairLaw> pair_laws(const FieldBatch& initial, const FieldBatch& later) const override;

 private:
  Freundlich ground() const { return {number("rho_s") / number("phi") * number("k_f"), number("n_f")}; }
};

/// exp(−x/λ), λ uniform on [0.03, 0.08). The paper says λ is about 0.05.
Sample DiffusionSorption1d::draw(const Rng& root, std::uint64_t sample) const {
  Rng geometry = root.stream(static_cast<std::uint32_t>(Purpose::geometry), sample);
  const double reach = geometry.uniform(0.03, 0.08);
  Sample made{FieldBatch::zeros(input().domain, 1, 1), {{"lambda", {reach}}}};
  for (std::size_t j = 0; j < made.input.values.size(); ++j)
    made.input.values[j] = std::exp(-made.input.domain.coordinate(0, static_cast<int>(j)) / reach);
  return made;
}

Solution DiffusionSorption1d::solve(const FieldBatch& initial, double time) const {
  require_one_field(name(), initial, input());
  require_time(name(), time);
  const Axis& axis = initial.domain.axes()[0];
  require(axis == Axis::nodes(axis.points, axis.extent, axis.origin), "diffusion_sorption1d: axis=", axis.describe(),
          " (the first point is the inflow and the last one the wall). Give a grid with both ends.");
  require(axis.points >= 3, "diffusion_sorption1d: N=", axis.points,
          " (a gradient needs points between the ends). Give at least 3 points.");
  for (std::size_t p = 0; p < initial.values.size(); ++p) {
    require<DataError>(initial.values[p] >= 0, "diffusion_sorption1d: point=", p, ", u=", initial.values[p],
                       " (a concentration is not negative). Correct the field.");
  }
  Solution solution{initial, 0, {0, 0, 0}};
  if (time == 0) return solution;

  const Freundlich ground = this->ground();
  const double width = axis.spacing(), diffusion = number("D"), inflow = number("c_left");
  const double over = diffusion / (width * width);
  const std::size_t last = initial.values.size() - 1;
  // y[0] is what has come in, y[j] the concentration at point j; that at the inflow is given.
  const auto bend = [&](std::span<const double> y, std::size_t j) {
    const double before = j == 1 ? inflow : y[j - 1], after = j == last ? y[j - 1] : y[j + 1];
    return over * (before - 2 * y[j] + after);
  };
  const Rate rate = [&](std::span<const double> y, std::span<double> change) {
    change[0] = diffusion * (inflow - y[1]) / width;
    for (std::size_t j = 1; j <= last; ++j) change[j] = bend(y, j) / ground.retardation(y[j]);
  };
  const TridiagonalJacobian jacobian = [&](std::span<const double> y, Tridiagonal& matrix) {
    matrix.diagonal[0] = 0;
    matrix.above[0] = -diffusion / width;
    for (std::size_t j = 1; j <= last; ++j) {
      const double slow = ground.retardation(y[j]);
      const double bent = y[j] > Freundlich::fewest ? (slow - 1) * (ground.exponent - 1) / y[j] : 0;
      matrix.below[j] = j == 1 ? 0 : (j == last ? 2 : 1) * over / slow;
      matrix.diagonal[j] = -2 * over / slow - bend(y, j) * bent / (slow * slow);
      matrix.above[j] = over / slow;
    }
  };
  // What is in the water and in the ground; the wall's point has half a cell.
  const auto content = [&](std::span<const double> y) {
    double sum = 0;
    for (std::size_t j = 1; j <= last; ++j) sum += (j == last ? 0.5 : 1) * width * (y[j] + ground.held(y[j]));
    return sum;
  };
  std::vector<double> y = initial.values;
  y[0] = 0;
  const double before = content(y);
  solution.steps = integrate_stiff(name(), y, time, {number("rtol"), number("atol")}, rate, jacobian);
  const double after = content(y), came = y[0];
  y[0] = inflow;
  const Range range(y);
  const double highest = std::max(inflow, largest(initial.values));
  double rise = 0;
  for (std::size_t j = 1; j <= last; ++j) rise = std::max(rise, y[j] - y[j - 1]);
  solution.departures = {std::abs(after - before - came) / std::max(after, 1e-300),
                         positive_part(-range.low) + positive_part(range.high - highest), positive_part(rise)};
  solution.output.values = std::move(y);
  return solution;
}

std::vector<PairLaw> DiffusionSorption1d::pair_laws(const FieldBatch& initial, const FieldBatch& later) const {
  // Fields that fall and bend upwards, as those of draw() do, rise everywhere as time goes on.
  const Range range(later.values);
  const double rounding = std::ldexp(std::max(1.0, largest(initial.values)), -24), highest = number("c_left");
  double fallen = 0, rise = 0;
  for (std::size_t j = 0; j < later.values.size(); ++j) {
    fallen = std::max(fallen, initial.values[j] - later.values[j]);
    if (j > 0) rise = std::max(rise, later.values[j] - later.values[j - 1]);
  }
  return {{"range_not_left", positive_part(-range.low) + positive_part(range.high - highest), rounding + 1e-6},
          {"not_fallen_in_time", fallen, rounding + 1e-6},
          {"not_rising_in_x", rise, rounding + 1e-6}};
}

}  // namespace

std::unique_ptr<Problem> diffusion_sorption1d() {
  return std::make_unique<DiffusionSorption1d>(
      std::vector<Parameter>{{"D", 5e-4, "diffusion"},
                             {"k_f", 3.5, "Freundlich's constant"},
                             {"n_f", 0.4, "Freundlich's exponent"},
                             {"rho_s", 1, "density of the ground"},
                             {"phi", 0.29, "porosity"},
                             {"c_left", 1, "concentration of the inflow"},
                             {"rtol", 1e-6, "relative tolerance of the integrator"},
                             {"atol", 1e-9, "absolute tolerance of the integrator"},
                             {"points", 1024, "points of the native grid"}});
}

}  // namespace opshap::pde
