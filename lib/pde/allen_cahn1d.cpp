#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.hpp"
#include "pde/fields.hpp"
#include "pde/problem.hpp"
#include "pde/reaction_diffusion.hpp"

namespace opshap::pde {

namespace {

constexpr double most_allen_cahn_steps = 1e8;
/// Of the kinks of an initial field. The paper's number.
constexpr double width = 0.05;
/// No two of the three drawn kinks are closer. The paper does not say it; the choice is ours.
constexpr double gap = 0.12;

class AllenCahn1d final : public MadeOfParameters<AllenCahn1d, Evolution> {
 public:
  explicit AllenCahn1d(std::vector<Parameter> parameters) : MadeOfParameters(std::move(parameters)) {
    require_not_negative({"eps"});
    require_positive({"dt"});
  }

  std::string_view name() const override { return "allen_cahn1d"; }
  std::string_view summary() const override { return "u_t = eps^2 u_xx + u - u^3, periodic on [0, 1]"; }
  std::string_view scheme() const override {
    return "Fourier pseudo-spectral with 2/3 dealiasing, ETDRK4 in equal steps of at most dt";
  }

  Space input() const override { return {{{"u", "1"}}, Domain::unit({1024})}; }
  std::vector<Invariant> invariants() const override {
    const std::string remedy = "Use a smaller dt.";
    // A field with a jump is not held by any grid: it rings there, and its energy is that of its waves.
    if (!closes())
      return {{"range_overshoot", 0.3, remedy}, {"energy_growth", 1e-2, remedy}, {"spectral_tail", 1, remedy}};
    return {{"range_overshoot", 1e-6, remedy},
            {"energy_growth", 1e-12, remedy},
            {"spectral_tail", 1e-10, "Use a larger eps."}};
  }
  double target_time() const override { return 0.25; }
  Rest rest() const override {
    return {.state = {}, .reason = "its inputs go between -1 and 1, which are both at rest, and 0 is not stable"};
  }
  std::optional<TimeStepping> time_stepping() const override { return TimeStepping{"dt", 4}; }
  Sample draw(const Rng& root, std::uint64_t sample) const override;
  Solution solve(const FieldBatch& initial, double time) const override;
  std::vector<PairLaw> pair_laws(const FieldBatch& initial, const FieldBatch& later) const override;

 private:
  double eps() const { return number("eps"); }
  double step() const { return number("dt"); }
  bool closes() const { return choice("ic.closure") == "fourth_kink"; }
};

/// Three positions in [0.1, 0.9] in ascending order, uniform among those with the gap between neighbours.
std::vector<double> kinks(Rng& geometry) {
  while (true) {
    std::vector<double> centres;
    for (int i = 0; i < 3; ++i) centres.push_back(geometry.uniform(0.1, 0.9));
    std::sort(centres.begin(), centres.end());
    if (centres[1] - centres[0] >= gap && centres[2] - centres[1] >= gap) return centres;
  }
}

Sample AllenCahn1d::draw(const Rng& root, std::uint64_t sample) const {
  const auto stream = [&](Purpose purpose) { return root.stream(static_cast<std::uint32_t>(purpose), sample); };
  Rng geometry = stream(Purpose::geometry), phases = stream(Purpose::phases);
  std::vector<double> centres = kinks(geometry);
  const double sign = phases.below(2) == 0 ? 1 : -1;
  centres.push_back(closes() ? std::fmod((centres[2] + 1 + centres[0]) / 2, 1.0)
                             : std::numeric_limits<double>::quiet_NaN());

  Sample made{FieldBatch::zeros(input().domain, 1, 1), {}};
  for (std::size_t j = 0; j < made.input.values.size(); ++j) {
    const double x = made.input.domain.coordinate(0, static_cast<int>(j));
    double value = sign;
    if (closes()) {
      // Each factor changes its sign once a round, so that four of them close smoothly.
      for (const double centre : centres)
        value *= std::tanh(std::sin(std::numbers::pi * (x - centre)) / (std::numbers::pi * width));
    } else {
      for (int i = 0; i < 3; ++i) value *= std::tanh((x - centres[static_cast<std::size_t>(i)]) / width);
    }
    made.input.values[j] = value;
  }
  made.drawn = {{"sign", {sign}}, {"kinks", std::move(centres)}};
  return made;
}

/// ∫ eps²/2 u_x² + (1 − u²)²/4 dx per unit of length, which the equation lowers.
double free_energy(double eps, double mean_square_gradient, std::span<const double> values) {
  double well = 0;
  for (const double u : values) well += (1 - u * u) * (1 - u * u) / 4;
  return eps * eps / 2 * mean_square_gradient + well / static_cast<double>(values.size());
}

Solution AllenCahn1d::solve(const FieldBatch& initial, double time) const {
  require_one_field(name(), initial, input());
  require_time(name(), time);
  if (closes()) require_periodic(name(), initial);
  const int points = initial.domain.shape()[0];
  require(points >= 8, "allen_cahn1d: N=", points,
          " (the 2/3 rule leaves too few Fourier modes). Give at least 8 points.");
  // The cube of a large field is a fast decay.
  const double bound = std::max(1.0, largest(initial.values));
  const double wanted = std::max(1.0, time / step() * bound * bound * (1 - 1e-12));
  require(wanted <= most_allen_cahn_steps, "allen_cahn1d: time=", time, ", dt=", step(), ", max|u|=", bound, " (needs ",
          wanted, " steps). Give a shorter time, a smaller field or a larger dt.");

  Solution solution{initial, 0, {0, 0, 0}};
  if (time == 0) return solution;
  solution.steps = static_cast<std::int64_t>(std::ceil(wanted));
  ReactionDiffusion system(initial.domain, {{.diffusion = eps() * eps(), .growth = 1, .reaction = -1}},
                           Dealiasing::two_thirds, time / static_cast<double>(solution.steps));
  system.start(initial.values);
  double overshoot = 0, growth = 0, tail = 0, energy = std::numeric_limits<double>::infinity();
  const auto see = [&](double now, std::span<const double> values) {
    const double size = largest(values), lower = free_energy(eps(), system.mean_square_gradient(0), values);
    require<NumericalError>(size <= 2 * bound && std::isfinite(lower), "allen_cahn1d: t=", now,
                            " (the solution blows up: dt=", step(), " or N=", points,
                            " is too coarse). Use a smaller dt or more points.");
    overshoot = std::max(overshoot, size - bound);
    growth = std::max(growth, lower - energy);
    tail = std::max(tail, system.tail(0));
    energy = lower;
  };
  for (std::int64_t i = 0; i < solution.steps; ++i) {
    bool at_start = true;
    system.advance([&](const std::vector<std::span<double>>& fields, std::span<double> cubes) {
      if (at_start) see(time * static_cast<double>(i) / static_cast<double>(solution.steps), fields[0]);
      at_start = false;
      for (std::size_t p = 0; p < cubes.size(); ++p) cubes[p] = fields[0][p] * fields[0][p] * fields[0][p];
    });
  }
  see(time, system.reacting(0));
  solution.output.values = system.finish(time);
  solution.departures = {overshoot, growth, tail};
  return solution;
}

std::vector<PairLaw> AllenCahn1d::pair_laws(const FieldBatch& initial, const FieldBatch& later) const {
  // A constant field between -1 and 1 follows u' = u - u^3, and a field between two constants stays between theirs.
  const double gain = std::exp(2 * target_time());
  const auto later_constant = [&](double u) { return u * std::sqrt(gain / (1 + u * u * (gain - 1))); };
  const Range before(initial.values), after(later.values);
  const double missed = std::sqrt(gain) * missed_extreme(initial.domain, initial.values);
  const double left = positive_part(after.high - later_constant(before.high) - missed) +
                      positive_part(later_constant(before.low) - missed - after.low);
  return {{"range_not_left", left, std::ldexp(std::max(1.0, largest(initial.values)), -24) + invariants()[0].limit}};
}

}  // namespace

std::unique_ptr<Problem> allen_cahn1d() {
  return std::make_unique<AllenCahn1d>(
      std::vector<Parameter>{{"eps", 0.1, "width of the fronts; its square is the diffusion"},
                             {"dt", 5e-3, "largest time step for a field between -1 and 1"},
                             {"ic.closure",
                              0,
                              "initial fields: with a fourth kink that closes them smoothly, or with the paper's three "
                              "and a jump where the interval closes",
                              {"fourth_kink", "seam_jump"}}});
}

}  // namespace opshap::pde
