#include <cmath>

#include "pde/fields.hpp"
#include "pde/fourier.hpp"
#include "pde/problem.hpp"

namespace opshap::pde {

namespace {

class Advection1d final : public MadeOfParameters<Advection1d, Evolution> {
 public:
  using MadeOfParameters::MadeOfParameters;

  std::string_view name() const override { return "advection1d"; }
  std::string_view summary() const override { return "u_t + beta u_x = 0, periodic on [0, 1]"; }
  std::string_view scheme() const override { return "each Fourier mode times its phase, exact for the grid's modes"; }

  Space input() const override { return {{{"u", "1"}}, Domain::unit({1024})}; }
  std::vector<Invariant> invariants() const override {
    return {{"mean_drift", 1e-13, "Report this: no setting can break the law."},
            {"energy_drift", 1e-13, "Give a field without waves as short as two cells."}};
  }
  double target_time() const override { return 0.3; }
  /// Every constant stays. The inputs are waves about 0.
  Rest rest() const override { return {.state = {0}, .reason = {}}; }
  Sample draw(const Rng& root, std::uint64_t sample) const override { return mixed_1d(input().domain, root, sample); }
  Solution solve(const FieldBatch& initial, double time) const override;
  std::vector<PairLaw> pair_laws(const FieldBatch& initial, const FieldBatch& later) const override;
};

Solution Advection1d::solve(const FieldBatch& initial, double time) const {
  require_one_field(name(), initial, input());
  require_time(name(), time);
  require_periodic(name(), initial);
  Solution solution{initial, 0, {0, 0}};
  if (time == 0) return solution;

  // Whole rounds change nothing, and a shift of less than one round loses no digits in the phases.
  const double extent = initial.domain.axes()[0].extent, shift = std::fmod(number("beta") * time, extent);
  const Wavenumbers wavenumbers(initial.domain);
  solution.output.values = filtered(initial.domain, initial.values, wavenumbers,
                                    [&](std::size_t k) { return std::polar(1.0, -wavenumbers.x[k] * shift); });
  const double scale = std::max(largest(initial.values), 1e-300), energy = mean_square(initial.values);
  solution.departures = {std::abs(mean(solution.output.values) - mean(initial.values)) / scale,
                         std::abs(mean_square(solution.output.values) - energy) / std::max(energy, 1e-300)};
  return solution;
}

std::vector<PairLaw> Advection1d::pair_laws(const FieldBatch& initial, const FieldBatch& later) const {
  const double scale = std::max(largest(initial.values), 1e-300), energy = mean_square(initial.values);
  // float32 rounds a number by up to 2^-24 of itself, hence a mean by 2^-24 of the largest value and a mean square by
  // twice that of itself.
  const double rounding = std::ldexp(1.0, -24);
  return {
      {"mean_kept", std::abs(mean(later.values) - mean(initial.values)) / scale, rounding + 1e-13},
      {"energy_kept", std::abs(mean_square(later.values) - energy) / std::max(energy, 1e-300), 2 * rounding + 1e-13}};
}

}  // namespace

std::unique_ptr<Problem> advection1d() {
  return std::make_unique<Advection1d>(std::vector<Parameter>{{"beta", 1, "speed"}});
}

}  // namespace opshap::pde
