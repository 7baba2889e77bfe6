#include <algorithm>
#include <cmath>
#include <numbers>

#include "known_answers.hpp"
#include "pde/sundials.hpp"

namespace opshap {
namespace {

/// The field with its points moved by whole cells, and with its axes exchanged.
std::vector<double> moved(const std::vector<double>& values, std::size_t side, std::size_t by_x, std::size_t by_y,
                          bool exchanged) {
  std::vector<double> result(values.size());
  for (std::size_t channel = 0; channel < 2; ++channel) {
    for (std::size_t i = 0; i < side; ++i) {
      for (std::size_t j = 0; j < side; ++j) {
        const std::size_t x = (i + by_x) % side, y = (j + by_y) % side, base = channel * side * side;
        result[base + (exchanged ? y * side + x : x * side + y)] = values[base + i * side + j];
      }
    }
  }
  return result;
}

KnownAnswers of_gray_scott2d() {
  constexpr int side = 64;
  const auto problem = pde::find("gray_scott2d").with({{"points", static_cast<double>(side)}});
  const auto solved = [&](const FieldBatch& from, double time) {
    return problem->evolution()->solve(from, time).output.values;
  };
  const auto constant = [&](double u, double v) {
    return field_of(problem->input(), {8, 8}, [=](double, double, int channel) { return channel == 0 ? u : v; });
  };
  const FieldBatch empty = constant(1, 0), saddle = constant(0.5, 0.2), stirred = constant(0.6, 0.35);
  std::vector<double> pot = {0.6, 0.35};
  pde::integrate_explicit("known_answers", pot, 200, {1e-11, 1e-13},
                          [](std::span<const double> y, std::span<double> rate) {
                            const double reaction = y[0] * y[1] * y[1];
                            rate[0] = -reaction + 0.04 * (1 - y[0]);
                            rate[1] = reaction - 0.1 * y[1];
                          });
  const FieldBatch drawn = problem->draw(Rng(42, "known_answers"), 0).input;
  FieldBatch elsewhere = drawn;
  elsewhere.values = moved(drawn.values, side, 5, 17, true);
  return {{"ETDRK4", "(1, 0), which does not change, at t = 200", apart(empty.values, solved(empty, 200)), 1e-12},
          {"ETDRK4", "(1/2, 1/5), which does not change, at t = 200", apart(saddle.values, solved(saddle, 200)), 1e-12},
          {"ETDRK4", "a stirred pot at t = 200 against RK45 (ERKStep)",
           apart(constant(pot[0], pot[1]).values, solved(stirred, 200)), 1e-7},
          {"ETDRK4", "moved by whole cells and axes exchanged, at t = 200",
           apart(moved(solved(drawn, 200), side, 5, 17, true), solved(elsewhere, 200)), 1e-9}};
}

const AnswersOf gray_scott2d("gray_scott2d", of_gray_scott2d);

}  // namespace
}  // namespace opshap
