#include "engines/axis_basis.hpp"

#include <algorithm>
#include <numbers>

namespace opshap::engines {

int AxisBasis::row(std::int64_t frequency, bool sine) const {
  const auto found =
      std::ranges::find_if(rows, [&](const Row& row) { return row.frequency == frequency && row.sine == sine; });
  return found == rows.end() ? -1 : static_cast<int>(found - rows.begin());
}

double AxisBasis::value(const Row& row, std::int64_t point) const {
  // Without the half sample here: the real part of this frequency alone survives, and a shift would turn it into the
  // imaginary part.
  if (nyquist(row.frequency)) return point % 2 == 0 ? 1 : -1;
  // The product is reduced first, so that the angle keeps all its digits.
  const std::int64_t steps = row.frequency * (2 * point + 1) % (2 * points);
  const double theta = std::numbers::pi * static_cast<double>(steps) / static_cast<double>(points);
  return row.sine ? std::sin(theta) : std::cos(theta);
}

double AxisBasis::inverse_at(int row, std::int64_t point) const {
  const Row& of = rows[at(row)];
  const bool twice = half_ && of.frequency != 0 && !nyquist(of.frequency);
  return (twice ? 2 : 1) * value(of, point);
}

AxisBasis::AxisBasis(std::int64_t of_points, std::int64_t highest, bool half) : points(of_points), half_(half) {
  for (std::int64_t k = 0; k <= highest; ++k) {
    rows.push_back({.frequency = k, .sine = false});
    if (k > 0 && !nyquist(k)) rows.push_back({.frequency = k, .sine = true});
  }
  folded = points % 4 == 0;
  orbits = (points + 3) / 4;
  const auto symmetry = [&](const Row& row) {
    const int odd = row.frequency % 2 == 0 ? 0 : 1;
    return (row.sine || nyquist(row.frequency) ? 2 : 0) + odd;
  };
  if (folded) {
    std::ranges::stable_sort(rows, {}, symmetry);
    for (int c = 0; c < 4; ++c)
      class_begin[at(c + 1)] = class_begin[at(c)] + static_cast<int>(std::ranges::count(rows, c, symmetry));
  } else {
    class_begin.fill(static_cast<int>(rows.size()));
    class_begin[0] = 0;
  }
  for (std::int64_t j = 0; j < orbits; ++j)
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::array<std::int64_t, 4> orbit = {j, points - 1 - j, points / 2 - 1 - j, points / 2 + j};
      const std::int64_t neighbour = 4 * j + i < points ? 4 * j + i : -1;
      order.push_back(folded ? orbit[at(i)] : neighbour);
    }
  const std::int64_t places = folded ? orbits : 4 * orbits;
  for (std::int64_t place = 0; place < places; ++place) {
    const std::int64_t point = order[at(folded ? 4 * place : place)];
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double weight = point < 0 ? 0 : value(rows[r], point) / static_cast<double>(points);
      forward.push_back(static_cast<float>(weight));
      inverse.push_back(point < 0 ? 0 : static_cast<float>(inverse_at(static_cast<int>(r), point)));
    }
  }
}

}  // namespace opshap::engines
