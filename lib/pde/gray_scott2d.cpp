#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/field.hpp"
#include "pde/fields.hpp"
#include "pde/problem.hpp"
#include "pde/reaction_diffusion.hpp"

namespace opshap::pde {

namespace {

constexpr double most_gray_scott_steps = 1e8;
constexpr double side = 2.5;
constexpr int most_discs = 10;
constexpr double edge = 0.03;
/// Beyond this, no concentration is a rounded or a rippled one.
constexpr double blown_up = 10;

class GrayScott2d final : public MadeOfParameters<GrayScott2d, Evolution> {
 public:
  explicit GrayScott2d(std::vector<Parameter> parameters) : MadeOfParameters(std::move(parameters)) {
    require_positive({"dt", "time"});
    require_not_negative({"D_u", "D_v", "F", "k"});
    grid_points(4096);
  }

  std::string_view name() const override { return "gray_scott2d"; }
  std::string_view summary() const override {
    return "u_t = D_u (u_xx + u_yy) - u v^2 + F (1 - u), v_t = D_v (v_xx + v_yy) + u v^2 - (F + k) v, periodic on "
           "[0, 2.5]^2";
  }
  std::string_view scheme() const override {
    return resolved() ? "Fourier pseudo-spectral on a grid of twice the points, ETDRK4 in equal steps of at most dt"
                      : "Fourier pseudo-spectral with 2/3 dealiasing, ETDRK4 in equal steps of at most dt; not "
                        "converged in space on the paper's grid";
  }
  ParameterValues quick() const override { return {{"points", 64.0}, {"time", 50.0}}; }

  Space input() const override {
    const int points = grid_points(4096);
    return {{{"u", "1"}, {"v", "1"}}, Domain::grid({Axis::ring(points, side), Axis::ring(points, side)})};
  }
  std::vector<Invariant> invariants() const override {
    const std::string remedy = "Use a smaller dt.", ripples = "Use more points, or solver=resolved.";
    // The trapezoidal rule itself is off by some 1e-5 with dt = 1. The ripples are those of the paper's grid, whose
    // tail is recorded and refuses nothing.
    return {{"mass_imbalance", 1e-3, remedy},
            {"negative_part", 0.05, ripples},
            {"excess_of_u", 0.05, ripples},
            {"spectral_tail", 1, ripples}};
  }
  double target_time() const override { return number("time"); }
  /// Without v nothing reacts, and u is as much as is fed, whatever the rates are. The inputs are discs in this state.
  Rest rest() const override { return {.state = {1, 0}, .reason = {}}; }
  std::optional<TimeStepping> time_stepping() const override { return TimeStepping{"dt", 4}; }
  Sample draw(const Rng& root, std::uint64_t sample) const override;
  Solution solve(const FieldBatch& initial, double time) const override;
  std::vector<PairLaw> pair_laws(const FieldBatch& initial, const FieldBatch& later) const override;
  /// The paper does not say which of the two outputs is explained. v makes the pattern.
  ScenarioRule default_rule() const override { return {.channel = 1}; }

 private:
  bool resolved() const { return choice("solver") == "resolved"; }
};

/// (u, v) = (1, 0) with m discs of about (0.5, 0.25), m = 3..10, centres anywhere, radii 0.08 to 0.17, smooth edges.
/// The paper says "seeded patches" only.
Sample GrayScott2d::draw(const Rng& root, std::uint64_t sample) const {
  const auto stream = [&](Purpose purpose) { return root.stream(static_cast<std::uint32_t>(purpose), sample); };
  Rng families = stream(Purpose::family), geometry = stream(Purpose::geometry);
  const std::size_t discs = 3 + families.below(most_discs - 2);
  std::vector<double> x(most_discs, std::numeric_limits<double>::quiet_NaN()), y = x, radius = x;
  for (std::size_t i = 0; i < discs; ++i) {
    x[i] = geometry.uniform(0, side);
    y[i] = geometry.uniform(0, side);
    radius[i] = geometry.uniform(0.08, 0.17);
  }

  Sample made{FieldBatch::zeros(input().domain, 1, 2), {}};
  const Domain& domain = made.input.domain;
  const auto points = static_cast<std::size_t>(domain.points());
  for (std::size_t p = 0; p < points; ++p) {
    const std::vector<double> at = domain.position(static_cast<std::int64_t>(p));
    double outside = 1;
    for (std::size_t i = 0; i < discs; ++i) {
      const double away = std::hypot(std::remainder(at[0] - x[i], side), std::remainder(at[1] - y[i], side));
      outside *= (1 + std::tanh((away - radius[i]) / edge)) / 2;
    }
    made.input.values[p] = 1 - 0.5 * (1 - outside);
    made.input.values[points + p] = 0.25 * (1 - outside);
  }
  made.drawn = {{"discs", {static_cast<double>(discs)}},
                {"disc_x", std::move(x)},
                {"disc_y", std::move(y)},
                {"disc_radii", std::move(radius)}};
  return made;
}

/// What the laws of the equations say about the steps so far.
class GrayScottWatch {
 public:
  GrayScottWatch(double feed, double kill, double step) : feed_(feed), kill_(kill), step_(step) {}

  void see(std::span<const double> u, std::span<const double> v) {
    const double mean_u = mean(u), mean_v = mean(v);
    const double change = feed_ * (1 - mean_u) - (feed_ + kill_) * mean_v;
    if (seen_ == 0) {
      start_ = mean_u + mean_v;
    } else {
      balance_ += step_ * (change + change_) / 2;
    }
    change_ = change;
    now_ = mean_u + mean_v;
    ++seen_;
    const Range of_u(u), of_v(v);
    negative_ = std::max({negative_, -of_u.low, -of_v.low});
    excess_ = std::max(excess_, of_u.high - 1);
    finite_ = finite_ && std::isfinite(change) && std::max({of_u.high, of_v.high, -of_u.low, -of_v.low}) < blown_up;
  }

  bool finite() const { return finite_; }
  double negative() const { return negative_; }
  double excess() const { return excess_; }
  /// How far the mean of u + v is from what was fed and taken, by the trapezoidal rule over the steps.
  double imbalance() const { return std::abs(now_ - start_ - balance_); }

 private:
  double feed_, kill_, step_;
  double start_ = 0, now_ = 0, change_ = 0, balance_ = 0, negative_ = 0, excess_ = 0;
  int seen_ = 0;
  bool finite_ = true;
};

Solution GrayScott2d::solve(const FieldBatch& initial, double time) const {
  require_one_field(name(), initial, input());
  require_time(name(), time);
  require_periodic(name(), initial);
  for (const int points : initial.domain.shape()) {
    require(points >= 8, "gray_scott2d: N=", points,
            " (the 2/3 rule leaves too few Fourier modes). Give at least 8 points per axis.");
  }
  const double feed = number("F"), kill = number("k"), step = number("dt");
  const double wanted = std::max(1.0, time / step * (1 - 1e-12));
  require(wanted <= most_gray_scott_steps, "gray_scott2d: time=", time, ", dt=", step, " (needs ", wanted,
          " steps). Give a shorter time or a larger dt.");

  Solution solution{initial, 0, {0, 0, 0, 0}};
  if (time == 0) return solution;
  std::vector<int> shape = initial.domain.shape();
  if (resolved()) {
    for (int& points : shape) points *= 2;
  }
  const FieldBatch fine = resolved() ? interpolated(initial, shape) : initial;
  solution.steps = static_cast<std::int64_t>(std::ceil(wanted));
  const double even_step = time / static_cast<double>(solution.steps);
  ReactionDiffusion system(fine.domain,
                           {{.diffusion = number("D_u"), .growth = -feed, .reaction = -1, .supply = feed},
                            {.diffusion = number("D_v"), .growth = -feed - kill, .reaction = 1}},
                           resolved() ? Dealiasing::none : Dealiasing::two_thirds, even_step);
  system.start(fine.values);
  GrayScottWatch watch(feed, kill, even_step);
  for (std::int64_t i = 0; i < solution.steps; ++i) {
    bool at_start = true;
    system.advance([&](const std::vector<std::span<double>>& fields, std::span<double> reaction) {
      const double *u = fields[0].data(), *v = fields[1].data();
      if (at_start) watch.see(fields[0], fields[1]);
      at_start = false;
      for (std::size_t p = 0; p < reaction.size(); ++p) reaction[p] = u[p] * v[p] * v[p];
    });
    require<NumericalError>(watch.finite(), "gray_scott2d: t=", even_step * static_cast<double>(i), " (",
                            "the solution blows up: dt=", step, " is too large). Use a smaller dt.");
  }
  const std::vector<double> u(system.reacting(0).begin(), system.reacting(0).end());
  watch.see(u, system.reacting(1));
  require<NumericalError>(watch.finite(), "gray_scott2d: t=", time, " (the solution blows up: dt=", step,
                          " is too large). Use a smaller dt.");
  solution.departures = {watch.imbalance(), watch.negative(), watch.excess(), system.tail(1)};
  FieldBatch end{fine.domain, 1, 2, system.finish(time)};
  solution.output.values = resolved() ? strided(end, initial.domain.shape()).values : std::move(end.values);
  return solution;
}

std::vector<PairLaw> GrayScott2d::pair_laws(const FieldBatch&, const FieldBatch& later) const {
  const auto points = static_cast<std::size_t>(later.domain.points());
  const Range u(later.field(0).first(points)), v(later.field(0).last(points));
  const double rounding = std::ldexp(1.0, -24), ripples = invariants()[1].limit;
  return {{"not_negative", positive_part(-u.low) + positive_part(-v.low), rounding + ripples},
          {"not_more_than_fed", positive_part(u.high - 1), rounding + ripples}};
}

}  // namespace

std::unique_ptr<Problem> gray_scott2d() {
  return std::make_unique<GrayScott2d>(
      std::vector<Parameter>{{"D_u", 2e-5, "diffusion of u"},
                             {"D_v", 1e-5, "diffusion of v"},
                             {"F", 0.04, "feed rate"},
                             {"k", 0.06, "kill rate"},
                             {"dt", 1, "largest time step"},
                             {"time", 2500, "when the output is taken"},
                             {"points", 128, "points per axis of the native grid"},
                             {"solver",
                              0,
                              "on the paper's grid with its 2/3 rule, or on a grid of twice the points without one",
                              {"paper", "resolved"}}});
}

}  // namespace opshap::pde
