#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.hpp"
#include "pde/fields.hpp"
#include "pde/fourier.hpp"
#include "pde/problem.hpp"
#include "pde/sundials.hpp"

namespace opshap::pde {

namespace {

using Modes = Etdrk4::Modes;

/// Beyond this share of the energy in the highest modes the grid cannot hold the solution: its error is of the order of
/// a percent.
constexpr double hopeless_tail = 1e-4;
constexpr double most_burgers_steps = 1e8;
constexpr double most_rounds = 1e6;
constexpr double rk45_relative = 1e-6, rk45_absolute = 1e-9;

/// The real and imaginary parts of all modes.
std::span<double> parts(Modes& modes) { return {reinterpret_cast<double*>(modes.data()), 2 * modes.size()}; }

/// The equation for a field w of zero mean, as a system for its Fourier modes k <= (N−1)/3: with only these the product
/// w² is free of aliasing.
class Stepper {
 public:
  Stepper(int points, double extent, double viscosity, double step)
      : points_(points),
        extent_(extent),
        viscosity_(viscosity),
        fourier_(points),
        modes_(static_cast<std::size_t>((points - 1) / 3 + 1)) {
    change_ = modes_;
    std::vector<double> rates;
    for (std::size_t k = 0; k < modes_.size(); ++k) {
      rates.push_back(rate(k));
      derivative_.push_back(-wavenumber(k) / 2 / points);
    }
    scheme_ = std::make_unique<Etdrk4>(rates, step);
  }

  /// Modes beyond the kept ones do not take part in products; they only decay.
  void start(std::span<const double> values) {
    std::copy(values.begin(), values.end(), fourier_.values().begin());
    fourier_.forward();
    const auto all = fourier_.modes();
    for (std::complex<double>& mode : all) mode /= points_;
    std::copy_n(all.begin(), modes_.size(), modes_.begin());
    modes_[0] = 0;
    beyond_.assign(all.begin() + static_cast<std::ptrdiff_t>(modes_.size()), all.end());
  }

  const Modes& modes() const { return modes_; }
  const Modes& beyond() const { return beyond_; }

  /// The range of the field now. Called once before each advance(), which needs what it computes.
  Range look() {
    to_grid(modes_);
    const Range range(fourier_.values());
    change(change_);
    return range;
  }

  void advance() {
    scheme_->advance(modes_, change_, [this](const Modes& in, Modes& out) {
      to_grid(in);
      change(out);
    });
  }

  /// From the start to `time` in steps of an explicit method of its own choice, whose size the viscosity of the finest
  /// waves bounds.
  std::int64_t integrate(double time, const Tolerances& tolerances) {
    const std::span<double> modes = parts(modes_), change_parts = parts(change_);
    std::vector<double> state(modes.begin(), modes.end());
    const std::int64_t steps = integrate_explicit("burgers1d", state, time, tolerances,
                                                  [&](std::span<const double> now, std::span<double> rates) {
                                                    std::ranges::copy(now, modes.begin());
                                                    to_grid(modes_);
                                                    change(change_);
                                                    for (std::size_t k = 0; k < modes_.size(); ++k)
                                                      change_[k] += rate(k) * modes_[k];
                                                    std::ranges::copy(change_parts, rates.begin());
                                                  });
    std::ranges::copy(state, modes.begin());
    return steps;
  }

  /// w(x − shift) at the end, `time` after the start.
  std::span<const double> finish(double time, double shift) {
    const auto all = fourier_.modes();
    std::copy(modes_.begin(), modes_.end(), all.begin());
    for (std::size_t i = 0; i < beyond_.size(); ++i)
      all[modes_.size() + i] = beyond_[i] * std::exp(rate(modes_.size() + i) * time);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const double angle = -wavenumber(k) * shift;
      // The highest mode of an even grid has no sine part there.
      all[k] *=
          2 * k == static_cast<std::size_t>(points_) ? std::complex<double>(std::cos(angle)) : std::polar(1.0, angle);
    }
    fourier_.backward();
    return fourier_.values();
  }

 private:
  double wavenumber(std::size_t k) const { return 2 * std::numbers::pi * static_cast<double>(k) / extent_; }
  double rate(std::size_t k) const { return -viscosity_ * wavenumber(k) * wavenumber(k); }

  void to_grid(const Modes& in) {
    const auto all = fourier_.modes();
    std::copy(in.begin(), in.end(), all.begin());
    std::fill(all.begin() + static_cast<std::ptrdiff_t>(in.size()), all.end(), 0.0);
    fourier_.backward();
  }

  /// −½ ∂x(w²) of the field on the grid, which it overwrites.
  void change(Modes& out) {
    for (double& value : fourier_.values()) value *= value;
    fourier_.forward();
    const auto all = fourier_.modes();
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = {-derivative_[k] * all[k].imag(), derivative_[k] * all[k].real()};
  }

  int points_;
  double extent_, viscosity_;
  RealFourier fourier_;
  Modes modes_, change_, beyond_;
  std::vector<double> derivative_;
  std::unique_ptr<Etdrk4> scheme_;
};

/// Σ|mode·scale|² over k >= first: with scale 1, half the mean square of the field's part in these modes.
double energy(const Modes& modes, std::size_t first, double scale) {
  double sum = 0;
  for (std::size_t k = first; k < modes.size(); ++k) sum += std::norm(modes[k] * scale);
  return sum;
}

/// An initial field as its mean and what is left.
struct Centred {
  explicit Centred(const std::vector<double>& values)
      : centre(mean(values)),
        fluctuation(shifted(values, -centre)),
        range(fluctuation),
        amplitude(std::max(range.high, -range.low)) {}

  static std::vector<double> shifted(std::vector<double> values, double by) {
    for (double& value : values) value += by;
    return values;
  }
  bool constant() const { return range.low == range.high; }

  double centre;
  std::vector<double> fluctuation;
  Range range;
  double amplitude;
};

/// What the laws of the equation say about the steps so far. Energies are relative to the start's.
class BurgersWatch {
 public:
  BurgersWatch(const Centred& initial, const Domain& domain, const Stepper& stepper)
      : initial_(initial),
        missed_(missed_extreme(domain, initial.fluctuation)),
        scale_(1 / std::max(initial.amplitude, 1e-300)),
        // The upper 12 % of the modes: from 301 on of the 341 of a grid of 1024 points.
        high_((stepper.modes().size() - 1) * 22 / 25 + 1) {
    const double beyond = energy(stepper.beyond(), 0, scale_);
    start_ = energy(stepper.modes(), 0, scale_) + beyond;
    tail_ = beyond / start_;
  }

  void see(const Stepper& stepper, const Range& range) {
    const double now = energy(stepper.modes(), 0, scale_) / start_;
    growth_ = std::max(growth_, now - energy_);
    energy_ = now;
    tail_ = std::max(tail_, energy(stepper.modes(), high_, scale_) / start_);
    overshoot_ = std::max({overshoot_, range.high - initial_.range.high, initial_.range.low - range.low});
  }

  bool blown_up() const { return !(energy_ <= 2); }
  double growth() const { return growth_; }
  double tail() const { return tail_; }
  double overshoot() const { return std::max(0.0, overshoot_ - missed_) / initial_.amplitude; }

 private:
  const Centred& initial_;
  double missed_, scale_;
  std::size_t high_;
  double start_ = 0, energy_ = 1, growth_ = 0, tail_ = 0, overshoot_ = 0;
};

class Burgers1d final : public MadeOfParameters<Burgers1d, Evolution> {
 public:
  explicit Burgers1d(std::vector<Parameter> parameters) : MadeOfParameters(std::move(parameters)) {
    require_not_negative({"nu"});
    require_positive({"dt"});
  }

  std::string_view name() const override { return "burgers1d"; }
  std::string_view summary() const override { return "u_t + u u_x = nu u_xx, periodic on [0, 1]"; }
  std::string_view scheme() const override {
    if (adaptive()) return "Fourier pseudo-spectral with 2/3 dealiasing in the frame of the mean, RK45 (ERKStep)";
    return "Fourier pseudo-spectral with 2/3 dealiasing in the frame of the mean, ETDRK4 in equal steps of at most dt "
           "/ max(1, max|u - mean|)";
  }

  Space input() const override { return {{{"u", "1"}}, Domain::unit({1024})}; }
  std::vector<Invariant> invariants() const override {
    return {{"mean_drift", 1e-13, "Use a smaller dt."},
            {"energy_growth", 1e-12, "Use a smaller dt."},
            {"range_overshoot", 1e-9, "Use a smaller dt or a larger nu."},
            {"spectral_tail", 1e-10, "Use a larger nu."}};
  }
  double target_time() const override { return 0.5; }
  /// Every constant stays. The inputs are waves about 0.
  Rest rest() const override { return {.state = {0}, .reason = {}}; }
  std::optional<TimeStepping> time_stepping() const override { return TimeStepping{"dt", 4}; }
  Sample draw(const Rng& root, std::uint64_t sample) const override { return mixed_1d(input().domain, root, sample); }
  Solution solve(const FieldBatch& initial, double time) const override;
  std::vector<PairLaw> pair_laws(const FieldBatch& initial, const FieldBatch& later) const override {
    return spreading_laws(initial, later, 1e-9);
  }

 private:
  double viscosity() const { return number("nu"); }
  double step() const { return number("dt"); }
  bool adaptive() const { return choice("solver") == "rk45"; }
};

Solution Burgers1d::solve(const FieldBatch& initial, double time) const {
  const Domain& domain = initial.domain;
  require_one_field("burgers1d", initial, input());
  const int points = domain.shape()[0];
  require(points >= 8, "burgers1d: N=", points,
          " (the 2/3 rule leaves too few Fourier modes). Give at least 8 points.");
  require_time("burgers1d", time);
  require_periodic("burgers1d", initial);

  const Centred start(initial.values);
  const double shift = start.centre * time;
  require(std::abs(shift) <= most_rounds * domain.axes()[0].extent, "burgers1d: mean=", start.centre, ", time=", time,
          " (the field would go round more than ", most_rounds,
          " times, and rounding would blur it). Give a shorter time.");
  const double wanted = std::max(1.0, time / step() * std::max(1.0, start.amplitude) * (1 - 1e-12));
  require(wanted <= most_burgers_steps && std::isfinite(start.amplitude), "burgers1d: time=", time, ", dt=", step(),
          ", max|u - mean|=", start.amplitude, " (needs ", wanted,
          " steps). Give a shorter time, a smaller field or a larger dt.");

  Solution solution{initial, 0, {0, 0, 0, 0}};
  if (time == 0 || start.constant()) return solution;
  solution.steps = static_cast<std::int64_t>(std::ceil(wanted));
  Stepper stepper(points, domain.axes()[0].extent, viscosity(), time / static_cast<double>(solution.steps));
  stepper.start(start.fluctuation);
  BurgersWatch watch(start, domain, stepper);
  const auto steps = adaptive() ? 1 : solution.steps;
  for (std::int64_t i = 0; i <= steps; ++i) {
    if (i > 0 && adaptive()) {
      solution.steps = stepper.integrate(time, {rk45_relative, rk45_absolute});
    } else if (i > 0) {
      stepper.advance();
    }
    watch.see(stepper, stepper.look());
    require<NumericalError>(
        !watch.blown_up(), "burgers1d: t=", time * static_cast<double>(i) / static_cast<double>(steps),
        " (the solution blows up: dt=", step(), " or N=", points, " is too coarse for nu=", viscosity(),
        " and max|u - mean|=", start.amplitude, "). Use a smaller dt, more points or a larger nu.");
  }
  require<NumericalError>(watch.tail() <= hopeless_tail, "burgers1d: N=", points, " (a share of ", watch.tail(),
                          " of the energy came into the highest modes: the grid cannot hold the solution, whose "
                          "shocks are 4 nu / jump wide). ",
                          "Use more points, a shorter time or a larger nu.");
  const auto values = stepper.finish(time, shift);
  solution.output.values = Centred::shifted({values.begin(), values.end()}, start.centre);
  const double drift = std::abs(mean(solution.output.values) - start.centre);
  solution.departures = {drift / std::max(start.amplitude, std::abs(start.centre)), watch.growth(), watch.overshoot(),
                         watch.tail()};
  return solution;
}

}  // namespace

std::unique_ptr<Problem> burgers1d() {
  return std::make_unique<Burgers1d>(std::vector<Parameter>{
      {"nu", 0.01, "viscosity"},
      {"dt", 5e-4, "largest time step for a field of amplitude 1"},
      {"solver",
       0,
       "exponential steps of dt, or the paper's adaptive explicit method (rtol 1e-6, atol 1e-9), "
       "some hundred times slower",
       {"etdrk4", "rk45"}}});
}

}  // namespace opshap::pde
