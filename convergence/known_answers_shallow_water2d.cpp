#include <algorithm>
#include <cmath>

#include "known_answers.hpp"

namespace opshap {
namespace {

std::vector<double> transposed(const std::vector<double>& values, std::size_t side) {
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < side; ++i) {
    for (std::size_t j = 0; j < side; ++j) result[j * side + i] = values[i * side + j];
  }
  return result;
}

/// Depth after a dam between still waters breaks: a rarefaction runs into the deep one, a shock into the shallow one
/// (Stoker, "Water Waves", 1957, section 10.8).
double dam_break(double distance_over_time, double deep, double shallow) {
  constexpr double g = 9.81;
  const auto shock_speed_of_water = [&](double h) {
    return (h - shallow) * std::sqrt(g / 2 * (h + shallow) / (h * shallow));
  };
  double low = shallow, high = deep;
  for (int i = 0; i < 100; ++i) {
    const double h = (low + high) / 2;
    (2 * (std::sqrt(g * deep) - std::sqrt(g * h)) > shock_speed_of_water(h) ? low : high) = h;
  }
  const double middle = (low + high) / 2, speed = shock_speed_of_water(middle);
  const double front = middle * speed / (middle - shallow);
  if (distance_over_time > front) return shallow;
  if (distance_over_time > speed - std::sqrt(g * middle)) return middle;
  if (distance_over_time < -std::sqrt(g * deep)) return deep;
  const double c = (2 * std::sqrt(g * deep) - distance_over_time) / 3;
  return c * c / g;
}

KnownAnswers of_shallow_water2d() {
  const pde::Problem& problem = pde::find("shallow_water2d");
  const auto solved = [&](const FieldBatch& from, double time) {
    return problem.evolution()->solve(from, time).output.values;
  };
  const auto bump = [&](double x0, double y0) {
    return field_of(problem.input(), {128, 128}, [=](double x, double y, int) {
      return 1 + 0.5 * std::exp(-((x - x0) * (x - x0) + (y - y0) * (y - y0)) / (2 * 0.08 * 0.08));
    });
  };
  const FieldBatch lake = field_of(problem.evolution()->state(), {16, 16},
                                   [](double, double, int channel) { return channel == 0 ? 0.7 : 0; });
  const std::vector<double> there = solved(bump(0.4, 0.55), 0.25), other = solved(bump(0.55, 0.4), 0.25);
  std::vector<double> mirrored = solved(bump(0.6, 0.55), 0.25);
  for (std::size_t i = 0; i < 64; ++i)
    std::swap_ranges(&mirrored[i * 128], &mirrored[i * 128] + 128, &mirrored[(127 - i) * 128]);

  // A dam along y: first order smears the shock over some cells, so that the mean error falls a little slower than the
  // width of the cells.
  const auto mean_error = [&](int cells) {
    const FieldBatch dam =
        field_of(problem.input(), {cells, 8}, [](double x, double, int) { return x < 0.5 ? 2.0 : 1.0; });
    const std::vector<double> broken = solved(dam, 0.08);
    double sum = 0;
    for (int i = 0; i < cells; ++i)
      sum += std::abs(broken[static_cast<std::size_t>(i * 8)] -
                      dam_break((dam.domain.coordinate(0, i) - 0.5) / 0.08, 2, 1));
    return sum / cells;
  };
  const double coarse = mean_error(128), fine = mean_error(512);
  return {{"HLL, SSP-RK3", "a lake at rest, at t = 1", apart(lake.values, solved(lake, 1)), 0},
          {"HLL, SSP-RK3", "x and y exchanged", apart(transposed(there, 128), other), 1e-13},
          {"HLL, SSP-RK3", "mirrored in x", apart(there, mirrored), 1e-13},
          {"HLL, SSP-RK3", "largest depth at t = 0.25 of a bump of 0.5 against 1.0935",
           std::abs(*std::max_element(there.begin(), there.end()) - 1.0935), 5e-5},
          {"HLL, SSP-RK3", "broken dam, mean error at N = 512 over that at N = 128 (order 0.6: 0.44)", fine / coarse,
           0.44}};
}

const AnswersOf shallow_water2d("shallow_water2d", of_shallow_water2d);

}  // namespace
}  // namespace opshap
