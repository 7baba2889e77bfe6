#include "pde/fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/error.hpp"

namespace opshap::pde {

Cosines::Cosines(int points) : points_(static_cast<std::size_t>(points)), table_(4 * points_) {
  for (std::size_t i = 0; i < table_.size(); ++i)
    table_[i] = std::cos(std::numbers::pi * static_cast<double>(i) / (2 * points));
}

template <typename Matrix>
void Cosines::apply(double* line, std::size_t stride, const Matrix& matrix) const {
  std::vector<double> result(points_, 0);
  for (std::size_t row = 0; row < points_; ++row) {
    for (std::size_t column = 0; column < points_; ++column) result[row] += matrix(row, column) * line[column * stride];
  }
  for (std::size_t row = 0; row < points_; ++row) line[row * stride] = result[row];
}

void Cosines::forward(double* line, std::size_t stride) const {
  apply(line, stride,
        [&](std::size_t k, std::size_t j) { return (k == 0 ? 1.0 : 2.0) / static_cast<double>(points_) * at(k, j); });
}

void Cosines::backward(double* line, std::size_t stride) const {
  apply(line, stride, [&](std::size_t j, std::size_t k) { return at(k, j); });
}

namespace {

/// Calls visit(line, stride) with the first number of each line of an axis, over all fields and channels.
template <typename Visit>
void for_each_line(const FieldBatch& field, std::size_t axis, const Visit& visit) {
  const auto& shape = field.domain.shape();
  const auto points = static_cast<std::size_t>(shape[axis]);
  std::size_t stride = 1;
  for (std::size_t later = axis + 1; later < shape.size(); ++later) stride *= static_cast<std::size_t>(shape[later]);
  for (std::size_t block = 0; block < field.values.size(); block += points * stride) {
    for (std::size_t at = 0; at < stride; ++at) visit(field.values.data() + block + at, stride);
  }
}

}  // namespace

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double mean_square(std::span<const double> values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0) / static_cast<double>(values.size());
}

double largest(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

Range::Range(std::span<const double> values) : low(values[0]), high(values[0]) {
  double zero = 0;
  for (const double value : values) {
    low = value < low ? value : low;
    high = value > high ? value : high;
    zero += 0 * value;
  }
  if (std::isnan(zero)) low = high = zero;
}

double missed_extreme(const Domain& domain, std::span<const double> values) {
  double missed = 0;
  const auto& shape = domain.shape();
  const auto inner = static_cast<std::size_t>(shape.back()), outer = values.size() / inner;
  for (std::size_t i = 0; i < outer; ++i) {
    const double* before = &values[(i + outer - 1) % outer * inner];
    const double* here = &values[i * inner];
    const double* after = &values[(i + 1) % outer * inner];
    for (std::size_t j = 0; j < inner; ++j) {
      const double neighbours = here[(j + inner - 1) % inner] + here[(j + 1) % inner];
      double bent = std::abs(neighbours - 2 * here[j]) / 8;
      if (shape.size() == 2) bent += std::abs(before[j] + after[j] - 2 * here[j]) / 8;
      missed = std::max(missed, bent);
    }
  }
  return missed;
}

void require_one_field(std::string_view who, const FieldBatch& input, const Space& space) {
  const int dimension = space.domain.dimension();
  require(input.domain.is_grid() && input.domain.dimension() == dimension && input.batch == 1 &&
              input.channels == space.channel_count(),
          who, ": dimension=", input.domain.dimension(), ", batch=", input.batch, ", channels=", input.channels,
          " (takes one field with ", space.channel_count(), " channel", space.channel_count() == 1 ? "" : "s",
          dimension == 1 ? " on a line). Give an array of shape [" : " in the plane). Give an array of shape [",
          space.channel_count() == 1 ? "" : message(space.channel_count(), ","), dimension == 1 ? "N]." : "nx,ny].");
  require_finite(input, std::string(who).c_str());
}

void require_periodic(std::string_view who, const FieldBatch& input) {
  for (std::size_t axis = 0; axis < input.domain.axes().size(); ++axis) {
    require(input.domain.axes()[axis].periodic, who, ": axis=", input.domain.axes()[axis].describe(),
            " (the equation is solved on a periodic domain). Give a periodic grid.");
  }
}

std::string seam_remark(const FieldBatch& input) {
  for (std::size_t axis = 0; axis < input.domain.axes().size(); ++axis) {
    if (!input.domain.axes()[axis].periodic) continue;
    const auto points = static_cast<std::size_t>(input.domain.shape()[axis]);
    double seam = 0, elsewhere = 0;
    for_each_line(input, axis, [&](const double* line, std::size_t stride) {
      seam = std::max(seam, std::abs(line[0] - line[(points - 1) * stride]));
      for (std::size_t j = 0; j + 1 < points; ++j)
        elsewhere = std::max(elsewhere, std::abs(line[(j + 1) * stride] - line[j * stride]));
    });
    if (seam > 4 * elsewhere)
      return message("axis=", axis, ", jump=", seam,
                     " (between the last and the first point, where no other step is "
                     "larger than ",
                     elsewhere, "). Leave the end point out, if the field has it twice.");
  }
  return "";
}

void require_time(std::string_view who, double time) {
  require(std::isfinite(time) && time >= 0, who, ": time=", time,
          " (cannot be reached). Give a finite time of 0 or more.");
}

std::vector<PairLaw> spreading_laws(const FieldBatch& before, const FieldBatch& after, double slack) {
  const Range start(before.values), end(after.values);
  const double scale = std::max({start.high, -start.low, 1e-300});
  const auto scaled_square = [&](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value / scale * (value / scale);
    return sum / static_cast<double>(values.size());
  };
  const double missed = missed_extreme(before.domain, before.values);
  const double overshoot = positive_part(end.high - start.high - missed) + positive_part(start.low - end.low - missed);
  // float32 rounds a number by up to 2^-24 of itself, hence a mean by 2^-24 of the largest value and a mean square by
  // twice that of its square. The solver's own departures come on top.
  const double rounding = std::ldexp(1.0, -24);
  return {{"mean_kept", std::abs(mean(after.values) - mean(before.values)) / scale, rounding + 1e-13},
          {"energy_not_grown", scaled_square(after.values) - scaled_square(before.values), 2 * rounding + 1e-12},
          {"range_not_left", overshoot / scale, rounding + slack}};
}

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
      const double size = largest(field.values);
      // The numbers recorded are those of the rescaled field.
      for (std::vector<double>* numbers : {&field.values, &cosines, &sines}) {
        for (double& number : *numbers) number *= amplitude / size;
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
