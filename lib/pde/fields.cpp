#include "pde/fields.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"

namespace opshap::pde {

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

}  // namespace opshap::pde
