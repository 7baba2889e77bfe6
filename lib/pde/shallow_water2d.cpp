#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "pde/fields.hpp"
#include "pde/problem.hpp"

namespace opshap::pde {

namespace {

constexpr double most_shallow_water_steps = 1e7;
/// Below this depth water does not move.
constexpr double dry = 1e-8;
/// Cells beyond each wall, which mirror those before it.
constexpr std::size_t ghosts = 2;

/// Depth and momenta, or depth and velocities, of all cells.
using State = std::array<std::vector<double>, 3>;

double minmod(double a, double b) {
  const double size = std::min(std::abs(a), std::abs(b));
  return a * b > 0 ? (a > 0 ? size : -size) : 0;
}

/// Water on one side of a face: depth, the velocity through the face, and the velocity along it.
struct WaterSide {
  double depth, through, along;
};

/// The flux of depth, of the momentum through the face and of the momentum along it, by Harten, Lax and van Leer with
/// the wave speeds of Einfeldt's two-rarefaction estimate (Toro, "Shock-Capturing Methods for Free-Surface Shallow
/// Flows", 2001, section 10.4).
inline std::array<double, 3> hll(WaterSide left, WaterSide right, double gravity) {
  const double c_left = std::sqrt(gravity * left.depth), c_right = std::sqrt(gravity * right.depth);
  const double middle = (left.through + right.through) / 2 + c_left - c_right,
               c_middle = (c_left + c_right) / 2 + (left.through - right.through) / 4;
  const double slow_wave = std::min(left.through - c_left, middle - c_middle),
               fast_wave = std::max(right.through + c_right, middle + c_middle);
  // Where both waves run to one side, the flux is that of the other side's water.
  const double slow = slow_wave < 0 ? slow_wave : 0, fast = fast_wave > 0 ? fast_wave : 0;
  const double flow_left = left.depth * left.through, flow_right = right.depth * right.through;
  const double scale = 1 / (fast - slow + std::numeric_limits<double>::min()), jump = slow * fast;
  const double push_left = flow_left * left.through + gravity * left.depth * left.depth / 2,
               push_right = flow_right * right.through + gravity * right.depth * right.depth / 2;
  return {scale * (fast * flow_left - slow * flow_right + jump * (right.depth - left.depth)),
          scale * (fast * push_left - slow * push_right + jump * (flow_right - flow_left)),
          scale * (fast * flow_left * left.along - slow * flow_right * right.along +
                   jump * (right.depth * right.along - left.depth * left.along))};
}

/// Water between walls on a grid of cells: finite volumes with the third-order strong-stability-preserving Runge–Kutta
/// method of Shu and Osher.
class Basin {
 public:
  Basin(const Domain& domain, double gravity, bool muscl)
      : nx_(static_cast<std::size_t>(domain.shape()[0])),
        ny_(static_cast<std::size_t>(domain.shape()[1])),
        row_(ny_ + 2 * ghosts),
        dx_(domain.axes()[0].spacing()),
        dy_(domain.axes()[1].spacing()),
        gravity_(gravity),
        muscl_(muscl) {
    for (std::size_t q = 0; q < 3; ++q) {
      now_[q].assign(nx_ * ny_, 0);
      stage_[q] = change_[q] = now_[q];
      cells_[q].assign((nx_ + 2 * ghosts) * row_, 0);
      flux_[q].assign(std::max(ny_, row_) + 1, 0);
    }
  }

  State& state() { return now_; }

  /// The largest step, in units of a Courant number of 1: cell width over the fastest wave along either axis.
  double time_across_a_cell() const {
    double fastest = 0;
    for (std::size_t p = 0; p < now_[0].size(); ++p) {
      const double depth = now_[0][p], wave = std::sqrt(gravity_ * std::max(depth, 0.0));
      const double u = depth > dry ? std::abs(now_[1][p] / depth) : 0,
                   v = depth > dry ? std::abs(now_[2][p] / depth) : 0;
      fastest = std::max({fastest, (u + wave) / dx_, (v + wave) / dy_});
    }
    return 1 / fastest;
  }

  void advance(double step) {
    find_change(now_);
    blend(stage_, now_, 0, now_, 1, step);
    find_change(stage_);
    blend(stage_, now_, 0.75, stage_, 0.25, step);
    find_change(stage_);
    blend(now_, now_, 1.0 / 3, stage_, 2.0 / 3, step);
  }

  double mass() const { return mean(now_[0]); }
  /// Mean over the basin of potential and kinetic energy.
  double energy() const {
    double sum = 0;
    for (std::size_t p = 0; p < now_[0].size(); ++p) {
      const double depth = now_[0][p];
      sum += gravity_ * depth * depth / 2;
      if (depth > dry) sum += (now_[1][p] * now_[1][p] + now_[2][p] * now_[2][p]) / (2 * depth);
    }
    return sum / static_cast<double>(now_[0].size());
  }

 private:
  /// out = weight·old + share·(from + step·change).
  void blend(State& out, const State& old, double weight, const State& from, double share, double step) const {
    for (std::size_t q = 0; q < 3; ++q) {
      for (std::size_t p = 0; p < out[q].size(); ++p)
        out[q][p] = weight * old[q][p] + share * (from[q][p] + step * change_[q][p]);
    }
  }

  /// Depths and velocities with the mirrored cells beyond the walls, where the velocity towards the wall is opposite.
  void fill_cells(const State& state) {
    for (std::size_t i = 0; i < nx_; ++i) {
      double *depth = &cells_[0][(i + ghosts) * row_ + ghosts], *u = &cells_[1][(i + ghosts) * row_ + ghosts],
             *v = &cells_[2][(i + ghosts) * row_ + ghosts];
      const double *h = &state[0][i * ny_], *hu = &state[1][i * ny_], *hv = &state[2][i * ny_];
      for (std::size_t j = 0; j < ny_; ++j) {
        depth[j] = h[j];
        const double volume = h[j] > dry ? 1 / h[j] : 0;
        u[j] = hu[j] * volume;
        v[j] = hv[j] * volume;
      }
    }
    for (std::size_t q = 0; q < 3; ++q) {
      std::vector<double>& cells = cells_[q];
      const double across_y = q == 2 ? -1 : 1, across_x = q == 1 ? -1 : 1;
      for (std::size_t i = ghosts; i < nx_ + ghosts; ++i) {
        double* line = &cells[i * row_];
        for (std::size_t g = 0; g < ghosts; ++g) {
          line[ghosts - 1 - g] = across_y * line[ghosts + g];
          line[ghosts + ny_ + g] = across_y * line[ghosts + ny_ - 1 - g];
        }
      }
      for (std::size_t g = 0; g < ghosts; ++g) {
        for (std::size_t j = 0; j < row_; ++j) {
          cells[(ghosts - 1 - g) * row_ + j] = across_x * cells[(ghosts + g) * row_ + j];
          cells[(ghosts + nx_ + g) * row_ + j] = across_x * cells[(ghosts + nx_ - 1 - g) * row_ + j];
        }
      }
    }
  }

  /// The fluxes through `count` faces, each after the cell at `first` and its followers, whose neighbours through the
  /// face are `apart` numbers away. The quantities 1 and 2 of the flux are the momenta through and along the face.
  template <bool Muscl>
  void find_fluxes(std::size_t first, std::size_t apart, std::size_t count, std::size_t through, std::size_t along) {
    const double *h = cells_[0].data() + first, *u = cells_[through].data() + first, *v = cells_[along].data() + first;
    double *mass = flux_[0].data(), *push = flux_[1].data(), *drag = flux_[2].data();
    const double gravity = gravity_;
    // The fluxes do not overlap the cells: two faces and more are computed at a time.
#pragma GCC ivdep
    for (std::size_t j = 0; j < count; ++j) {
      const std::size_t k = j + apart;
      WaterSide left{h[j], u[j], v[j]}, right{h[k], u[k], v[k]};
      if constexpr (Muscl) {
        const std::size_t before = j - apart, after = k + apart;
        left.depth += minmod(h[j] - h[before], h[k] - h[j]) / 2;
        left.through += minmod(u[j] - u[before], u[k] - u[j]) / 2;
        left.along += minmod(v[j] - v[before], v[k] - v[j]) / 2;
        right.depth -= minmod(h[k] - h[j], h[after] - h[k]) / 2;
        right.through -= minmod(u[k] - u[j], u[after] - u[k]) / 2;
        right.along -= minmod(v[k] - v[j], v[after] - v[k]) / 2;
      }
      const std::array<double, 3> flux = hll(left, right, gravity);
      mass[j] = flux[0];
      push[j] = flux[1];
      drag[j] = flux[2];
    }
  }

  void find_fluxes(std::size_t first, std::size_t apart, std::size_t count, std::size_t through, std::size_t along) {
    return muscl_ ? find_fluxes<true>(first, apart, count, through, along)
                  : find_fluxes<false>(first, apart, count, through, along);
  }

  void find_change(const State& state) {
    fill_cells(state);
    for (std::size_t i = 0; i < nx_; ++i) {
      find_fluxes((i + ghosts) * row_ + ghosts - 1, 1, ny_ + 1, 2, 1);
      const std::array<const double*, 3> flux = {flux_[0].data(), flux_[2].data(), flux_[1].data()};
      for (std::size_t q = 0; q < 3; ++q) {
        double* change = &change_[q][i * ny_];
        for (std::size_t j = 0; j < ny_; ++j) change[j] = (flux[q][j] - flux[q][j + 1]) / dy_;
      }
    }
    for (std::size_t i = 0; i <= nx_; ++i) {
      find_fluxes((i + ghosts - 1) * row_ + ghosts, row_, ny_, 1, 2);
      for (std::size_t q = 0; q < 3; ++q) {
        const double* flux = flux_[q].data();
        if (i < nx_) {
          double* behind = &change_[q][i * ny_];
          for (std::size_t j = 0; j < ny_; ++j) behind[j] += flux[j] / dx_;
        }
        if (i > 0) {
          double* before = &change_[q][(i - 1) * ny_];
          for (std::size_t j = 0; j < ny_; ++j) before[j] -= flux[j] / dx_;
        }
      }
    }
  }

  std::size_t nx_, ny_, row_;
  double dx_, dy_, gravity_;
  bool muscl_;
  State now_, stage_, change_;
  State cells_;  ///< depth and velocities, with the cells beyond the walls
  State flux_;   ///< of one row of faces
};

class ShallowWater2d final : public MadeOfParameters<ShallowWater2d, Evolution> {
 public:
  explicit ShallowWater2d(std::vector<Parameter> parameters) : MadeOfParameters(std::move(parameters)) {
    require_positive({"g", "cfl"});
    grid_points(4096);
    const double cfl = number("cfl");
    require(cfl <= 0.5, "shallow_water2d: cfl=", cfl,
            " (an unsplit scheme in the plane is stable up to 0.5). Give 0.5 or less.");
  }

  std::string_view name() const override { return "shallow_water2d"; }
  std::string_view summary() const override {
    return "h_t + (hu)_x + (hv)_y = 0, momenta (hu, hv) with pressure g h^2 / 2, between walls on [0, 1]^2";
  }
  std::string_view scheme() const override {
    return muscl() ? "finite volumes of second order (minmod), HLL fluxes, SSP Runge-Kutta of order 3"
                   : "finite volumes of first order, HLL fluxes, SSP Runge-Kutta of order 3";
  }
  ParameterValues quick() const override { return {{"points", 32.0}}; }

  /// The depth: water starts at rest.
  Space input() const override {
    const int points = grid_points(4096);
    return {{{"h", "m"}}, Domain::grid({Axis::cells(points), Axis::cells(points)})};
  }
  Space state() const override { return {{{"h", "m"}, {"hu", "m^2/s"}, {"hv", "m^2/s"}}, input().domain}; }
  std::vector<Invariant> invariants() const override {
    return {{"mass_drift", 1e-13, "Report this: no setting can break the law."},
            {"energy_growth", 1e-12, "Use a smaller cfl."},
            {"dryness", 0, "Give deeper water."}};
  }
  double target_time() const override { return 0.25; }
  /// Water of any depth rests. The inputs are hills on water of depth 1.
  Rest rest() const override { return {.state = {1}, .reason = {}}; }
  Sample draw(const Rng& root, std::uint64_t sample) const override;
  Solution solve(const FieldBatch& initial, double time) const override;
  std::vector<PairLaw> pair_laws(const FieldBatch& initial, const FieldBatch& later) const override;

 private:
  double gravity() const { return number("g"); }
  bool muscl() const { return choice("order") == "muscl"; }
};

/// h = 1 + A exp(−|x − c|²/2s²), at rest; A uniform on [0.1, 0.5), s on [0.05, 0.1), c on [0.3, 0.7)². The paper says
/// "Gaussian bump" only.
Sample ShallowWater2d::draw(const Rng& root, std::uint64_t sample) const {
  const auto stream = [&](Purpose purpose) { return root.stream(static_cast<std::uint32_t>(purpose), sample); };
  Rng amplitudes = stream(Purpose::amplitudes), geometry = stream(Purpose::geometry);
  const double height = amplitudes.uniform(0.1, 0.5), width = geometry.uniform(0.05, 0.1);
  const double x = geometry.uniform(0.3, 0.7), y = geometry.uniform(0.3, 0.7);
  Sample made{FieldBatch::zeros(input().domain, 1, 1), {}};
  for (std::size_t p = 0; p < made.input.values.size(); ++p) {
    const std::vector<double> at = made.input.domain.position(static_cast<std::int64_t>(p));
    const double square = (at[0] - x) * (at[0] - x) + (at[1] - y) * (at[1] - y);
    made.input.values[p] = 1 + height * std::exp(-square / (2 * width * width));
  }
  made.drawn = {{"bump_height", {height}}, {"bump_width", {width}}, {"bump_centre", {x, y}}};
  return made;
}

Solution ShallowWater2d::solve(const FieldBatch& initial, double time) const {
  require_one_field(name(), initial, initial.channels == 3 ? state() : input());
  require_time(name(), time);
  for (const Axis& axis : initial.domain.axes()) {
    require(axis == Axis::cells(axis.points, axis.extent, axis.origin), "shallow_water2d: axis=", axis.describe(),
            " (its walls lie half a cell from the outer points). Give the middles of the cells between the walls.");
  }
  const auto points = static_cast<std::size_t>(initial.domain.points());
  for (std::size_t p = 0; p < points; ++p) {
    require<DataError>(initial.values[p] >= 0, "shallow_water2d: point=", p, ", h=", initial.values[p],
                       " (a depth is not negative). Correct the field.");
  }
  Solution solution{initial, 0, {0, 0, 0}};
  if (time == 0) return solution;

  Basin basin(initial.domain, gravity(), muscl());
  for (std::size_t q = 0; q < static_cast<std::size_t>(initial.channels); ++q)
    std::copy_n(initial.values.begin() + static_cast<std::ptrdiff_t>(q * points), points, basin.state()[q].begin());
  const double mass = basin.mass(), start = basin.energy(), cfl = number("cfl");
  double energy = start, growth = 0, lowest = std::numeric_limits<double>::infinity();
  for (double now = 0; now < time;) {
    const double free = cfl * basin.time_across_a_cell();
    require((time - now) / free <= most_shallow_water_steps, "shallow_water2d: t=", now, ", dt=", free, " (more than ",
            most_shallow_water_steps, " steps to the end). Give a shorter time or calmer water.");
    const bool last = free >= time - now;
    basin.advance(last ? time - now : free);
    now = last ? time : now + free;
    ++solution.steps;
    const double after = basin.energy();
    growth = std::max(growth, (after - energy) / std::max(start, 1e-300));
    energy = after;
    lowest = std::min(lowest, Range(basin.state()[0]).low);
    require<NumericalError>(std::isfinite(after) && lowest >= 0, "shallow_water2d: t=", now, ", smallest h=", lowest,
                            " (the water ran out of a cell). Use a smaller cfl.");
  }
  solution.output.values.clear();
  for (std::size_t q = 0; q < static_cast<std::size_t>(initial.channels); ++q)
    solution.output.values.insert(solution.output.values.end(), basin.state()[q].begin(), basin.state()[q].end());
  solution.departures = {std::abs(basin.mass() - mass) / std::max(mass, 1e-300), growth, positive_part(dry - lowest)};
  return solution;
}

std::vector<PairLaw> ShallowWater2d::pair_laws(const FieldBatch& initial, const FieldBatch& later) const {
  const auto points = static_cast<std::size_t>(initial.domain.points());
  const double before = mean(initial.field(0).first(points)), after = mean(later.field(0).first(points));
  return {{"mass_kept", std::abs(after - before) / std::max(std::abs(before), 1e-300), std::ldexp(1.0, -24) + 1e-13},
          {"depth_not_negative", positive_part(-Range(later.field(0).first(points)).low), 0}};
}

}  // namespace

std::unique_ptr<Problem> shallow_water2d() {
  return std::make_unique<ShallowWater2d>(std::vector<Parameter>{
      {"g", 9.81, "gravity"},
      {"cfl", 0.4, "Courant number: the step over the time in which the fastest wave crosses a cell"},
      {"order", 0, "of the scheme in space: the paper's first, or the second", {"first", "muscl"}},
      {"points", 128, "points per axis of the native grid"}});
}

}  // namespace opshap::pde
