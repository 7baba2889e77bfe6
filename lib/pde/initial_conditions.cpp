#include "pde/initial_conditions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.hpp"

namespace opshap::pde {

namespace {

constexpr double unused = std::numeric_limits<double>::quiet_NaN();
constexpr int most_modes = 20;
constexpr int most_bumps = 4;
constexpr double turn = 2 * std::numbers::pi;

}  // namespace

Sample mixed_1d(const Domain& domain, const Rng& root, std::uint64_t sample) {
  require(domain.is_grid() && domain.dimension() == 1 && domain.axes()[0] == Axis::ring(domain.shape()[0]),
          "mixed_1d: domain=", domain.describe(), " (these fields have period 1). Use the periodic unit interval.");
  const auto stream = [&](Purpose purpose) { return root.stream(static_cast<std::uint32_t>(purpose), sample); };
  Rng families = stream(Purpose::family), amplitudes = stream(Purpose::amplitudes), phases = stream(Purpose::phases),
      geometry = stream(Purpose::geometry);

  const auto family = static_cast<Family1d>(families.below(4));
  double amplitude = unused, wavenumber = unused, phase = unused;
  std::vector<double> cosines(most_modes, unused), sines(most_modes, unused);
  std::vector<double> centres(most_bumps, unused), widths(most_bumps, unused), heights(most_bumps, unused);

  FieldBatch field = FieldBatch::zeros(domain, 1, 1);
  const auto add = [&](auto&& function) {
    for (int j = 0; j < domain.shape()[0]; ++j)
      field.values[static_cast<std::size_t>(j)] += function(domain.coordinate(0, j));
  };
  switch (family) {
    case Family1d::series:
    case Family1d::low_modes: {
      const int modes = family == Family1d::series ? most_modes : 3;
      const double decay = family == Family1d::series ? 1.5 : 0;
      amplitude = amplitudes.uniform(0.5, 1);
      for (int k = 1; k <= modes; ++k) {
        const auto at = static_cast<std::size_t>(k - 1);
        const double weight = std::pow(k, -decay);
        cosines[at] = weight * amplitudes.normal();
        sines[at] = weight * amplitudes.normal();
        add([&](double x) { return cosines[at] * std::cos(turn * k * x) + sines[at] * std::sin(turn * k * x); });
      }
      double largest = 0;
      for (const double value : field.values) largest = std::max(largest, std::abs(value));
      // The numbers recorded are those of the rescaled field.
      for (std::vector<double>* numbers : {&field.values, &cosines, &sines}) {
        for (double& number : *numbers) number *= amplitude / largest;
      }
      break;
    }
    case Family1d::single_mode:
      amplitude = amplitudes.uniform(0.5, 1);
      wavenumber = static_cast<double>(1 + geometry.below(8));
      phase = phases.uniform(0, turn);
      add([&](double x) { return amplitude * std::sin(turn * wavenumber * x + phase); });
      break;
    case Family1d::bumps: {
      const auto bumps = static_cast<std::size_t>(1 + geometry.below(most_bumps));
      for (std::size_t i = 0; i < bumps; ++i) {
        centres[i] = geometry.uniform();
        widths[i] = geometry.uniform(0.03, 0.1);
        heights[i] = amplitudes.uniform(0.5, 1);
        if (amplitudes.below(2) == 0) heights[i] = -heights[i];
        add([&](double x) {
          const double distance = std::abs(x - centres[i]);
          return heights[i] * std::exp(-std::pow(std::min(distance, 1 - distance) / widths[i], 2) / 2);
        });
      }
      break;
    }
  }
  return {std::move(field),
          {{"family", {static_cast<double>(family)}},
           {"amplitude", {amplitude}},
           {"wavenumber", {wavenumber}},
           {"phase", {phase}},
           {"cosine_coefficients", std::move(cosines)},
           {"sine_coefficients", std::move(sines)},
           {"bump_centres", std::move(centres)},
           {"bump_widths", std::move(widths)},
           {"bump_heights", std::move(heights)}}};
}

}  // namespace opshap::pde
