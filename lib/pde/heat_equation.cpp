#include "pde/heat_equation.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "pde/fields.hpp"
#include "pde/fourier.hpp"
#include "pde/problem.hpp"

namespace opshap::pde {

std::vector<Invariant> HeatEquation::invariants() const {
  const std::string remedy = "Report this: no setting can break the law.";
  return {{"mean_drift", 1e-13, remedy},
          {"energy_growth", 1e-12, remedy},
          {"range_overshoot", 1e-12, "Give a field that the grid resolves."}};
}

Solution HeatEquation::solve(const FieldBatch& initial, double time) const {
  require_one_field(name(), initial, input());
  require_time(name(), time);
  require_periodic(name(), initial);
  Solution solution{initial, 0, {0, 0, 0}};
  if (time == 0) return solution;

  const Wavenumbers wavenumbers(initial.domain);
  const double kappa = number("kappa");
  solution.output.values = filtered(initial.domain, initial.values, wavenumbers,
                                    [&](std::size_t k) { return std::exp(-kappa * wavenumbers.square(k) * time); });
  const std::vector<double>& now = solution.output.values;
  const double scale = std::max(largest(initial.values), 1e-300);
  const Range before(initial.values), after(now);
  const double overshoot = std::max(after.high - before.high, before.low - after.low);
  solution.departures = {std::abs(mean(now) - mean(initial.values)) / scale,
                         std::max(0.0, mean_square(now) - mean_square(initial.values)) / (scale * scale),
                         std::max(0.0, overshoot - missed_extreme(initial.domain, initial.values)) / scale};
  return solution;
}

std::vector<PairLaw> HeatEquation::pair_laws(const FieldBatch& initial, const FieldBatch& later) const {
  std::vector<PairLaw> laws = spreading_laws(initial, later, 1e-12);
  std::vector<double> apart = solve(initial, target_time()).output.values;
  for (std::size_t p = 0; p < apart.size(); ++p) apart[p] -= later.values[p];
  // The output is the solution for the rounded input, rounded itself.
  laws.push_back(
      {"modes_decayed", largest(apart) / std::max(largest(initial.values), 1e-300), std::ldexp(1.0, -24) + 1e-12});
  return laws;
}

namespace {

class Heat1d final : public MadeOfParameters<Heat1d, HeatEquation> {
 public:
  explicit Heat1d(std::vector<Parameter> parameters) : MadeOfParameters(std::move(parameters)) {
    require_not_negative({"kappa"});
  }

  std::string_view name() const override { return "heat1d"; }
  std::string_view summary() const override { return "u_t = kappa u_xx, periodic on [0, 1]"; }
  Space input() const override { return {{{"u", "1"}}, Domain::unit({1024})}; }
  Sample draw(const Rng& root, std::uint64_t sample) const override { return mixed_1d(input().domain, root, sample); }
};

}  // namespace

std::unique_ptr<Problem> heat1d() {
  return std::make_unique<Heat1d>(std::vector<Parameter>{{"kappa", 0.01, "conductivity"}});
}

namespace {

constexpr int most_waves = 8;

/// Whole waves per axis of one Fourier mode, and its complex amplitude: the field has 2 Re(amplitude e^{2πi(kx + ly)}).
struct Wave {
  int k, l;
  std::complex<double> amplitude;
};

/// One of each pair of modes (k, l) and (−k, −l) with |k|, |l| <= 8. The amplitudes are 1/(1 + k² + l²) times a complex
/// standard normal number.
std::vector<Wave> every_mode(Rng& amplitudes) {
  std::vector<Wave> waves;
  for (int k = -most_waves; k <= most_waves; ++k) {
    for (int l = k > 0 ? 0 : 1; l <= most_waves; ++l) {
      const double real = amplitudes.normal(), imaginary = amplitudes.normal();
      waves.push_back({k, l, std::complex(real, imaginary) / static_cast<double>(1 + k * k + l * l)});
    }
  }
  return waves;
}

/// Eight modes (k, l) drawn alike from those of every_mode(), with standard normal amplitudes and phases of their own.
std::vector<Wave> eight_modes(Rng& geometry, Rng& amplitudes, Rng& phases) {
  std::vector<Wave> waves;
  while (waves.size() < 8) {
    const auto drawn = [&] { return static_cast<int>(geometry.below(2 * most_waves + 1)) - most_waves; };
    const int k = drawn(), l = drawn();
    if (l > 0 || (l == 0 && k > 0))
      waves.push_back({k, l, amplitudes.normal() * std::polar(1.0, phases.uniform(0, 2 * std::numbers::pi))});
  }
  return waves;
}

class Heat2d final : public MadeOfParameters<Heat2d, HeatEquation> {
 public:
  explicit Heat2d(std::vector<Parameter> parameters) : MadeOfParameters(std::move(parameters)) {
    require_not_negative({"kappa"});
  }

  std::string_view name() const override { return "heat2d"; }
  std::string_view summary() const override { return "u_t = kappa (u_xx + u_yy), periodic on [0, 1]^2"; }
  Space input() const override { return {{{"u", "1"}}, Domain::unit({128, 128})}; }
  Sample draw(const Rng& root, std::uint64_t sample) const override;
};

Sample Heat2d::draw(const Rng& root, std::uint64_t sample) const {
  const auto stream = [&](Purpose purpose) { return root.stream(static_cast<std::uint32_t>(purpose), sample); };
  Rng amplitudes = stream(Purpose::amplitudes), phases = stream(Purpose::phases), geometry = stream(Purpose::geometry);
  std::vector<Wave> waves =
      choice("ic") == "every_mode" ? every_mode(amplitudes) : eight_modes(geometry, amplitudes, phases);

  FieldBatch field = FieldBatch::zeros(input().domain, 1, 1);
  const int nx = field.domain.shape()[0], ny = field.domain.shape()[1];
  const RealFourier fourier(field.domain.shape());
  const auto modes = fourier.modes();
  const auto mode = [&](int k, int l) -> std::complex<double>& {
    return modes[static_cast<std::size_t>((k + nx) % nx * (ny / 2 + 1) + l)];
  };
  std::fill(modes.begin(), modes.end(), 0.0);
  for (const Wave& wave : waves) {
    mode(wave.k, wave.l) += wave.amplitude;
    if (wave.l == 0) mode(-wave.k, 0) += std::conj(wave.amplitude);
  }
  fourier.backward();
  // The largest absolute value is 1. The numbers recorded are those of the rescaled field.
  const double scale = 1 / largest(fourier.values());
  for (std::size_t p = 0; p < field.values.size(); ++p) field.values[p] = scale * fourier.values()[p];
  std::vector<Drawn> drawn = {{"waves_x", {}}, {"waves_y", {}}, {"cosine_coefficients", {}}, {"sine_coefficients", {}}};
  for (const Wave& wave : waves) {
    drawn[0].values.push_back(wave.k);
    drawn[1].values.push_back(wave.l);
    drawn[2].values.push_back(2 * scale * wave.amplitude.real());
    drawn[3].values.push_back(-2 * scale * wave.amplitude.imag());
  }
  return {std::move(field), std::move(drawn)};
}

}  // namespace

std::unique_ptr<Problem> heat2d() {
  return std::make_unique<Heat2d>(std::vector<Parameter>{
      {"kappa", 0.01, "conductivity"},
      {"ic", 0, "initial fields: all modes up to 8 waves per axis, or eight of them", {"every_mode", "eight_modes"}}});
}

}  // namespace opshap::pde
