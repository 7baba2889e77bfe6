// The correction of second order leaves an error of order 1/n² where the first order leaves one of order 1/n.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/measured.hpp"
#include "core/rng.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/second_order.hpp"
#include "games/measure.hpp"
#include "games/smooth_functions.hpp"
#include "reporting/evidence.hpp"
#include "support/test_seed.hpp"

namespace opshap {
namespace {

using estimators::SecondOrderOptions;

double error_of(const std::vector<double>& values, const std::vector<double>& expected) {
  return distance(values, expected) / norm(expected);
}

double error_of(const SecondOrderOptions& options, const SolvedGame& game, std::uint64_t seed = 1) {
  return error_of(attribute(*estimators::diagonal_second_order(options), game, {}, seed).values, game.shapley_values());
}

/// The root mean square over the signs that are drawn.
double mean_error_of(const SecondOrderOptions& options, const SolvedGame& game) {
  constexpr int draws = 16;
  double squares = 0;
  for (int draw = 0; draw < draws; ++draw)
    squares += std::pow(error_of(options, game, test_seed() + static_cast<std::uint64_t>(draw)), 2) / draws;
  return std::sqrt(squares);
}

/// exp(2μ) − 1 on nested partitions of one measure whose density grows from ½ to 3/2: no two cells are alike, and
/// interactions do not fade with distance.
std::unique_ptr<SolvedGame> graded_game(int players) {
  return games::exponential_of_measure(
      games::Measure::of_distribution(players, [](double x) { return (x + x * x) / 2; }), 2);
}

/// Nodes with which no quadrature is left in the errors of four.
constexpr int fine = 32;
constexpr int most_players = 256;

TEST(SecondOrderRate, AllDirectionsLeaveAnErrorOfOrderTwo) {
  statistics::Study first("first order", "n", "error"), all("M = n", "n", "error"), quarter("M = n/4", "n", "error"),
      nodes("4 nodes instead of 32", "n", "error");
  for (int n = 8; n <= most_players; n *= 2) {
    const auto game = graded_game(n);
    const auto first_order = [&](int count) {
      return attribute(*estimators::integrated_gradients(estimators::Rule::gauss_legendre, count), *game, {}, 1).values;
    };
    first.add(n, error_of(first_order(fine), game->shapley_values()));
    all.add(n, error_of({.nodes = fine, .all_directions = true}, *game));
    quarter.add(n, mean_error_of({.nodes = fine, .directions = std::max(2, n / 4)}, *game));
    nodes.add(n, error_of(first_order(4), first_order(fine)));
  }
  reporting::publish(
      {.name = "second_order_rate",
       .title = "Integrated gradients with the correction of second order against the number of players",
       .finding = "With as many directions as players the error falls like 1/n², where that of integrated gradients "
                  "falls like 1/n. A quarter of the directions leaves noise of the other order, since interactions do "
                  "not fade with distance here. The quadrature of the first order has a share that does not depend "
                  "on n.",
       .studies = {first, all, quarter, nodes}});

  EXPECT_NEAR(-1, first.fit().slope, 0.1) << first.markdown();
  EXPECT_NEAR(-2, all.fit().slope, 0.3) << all.markdown();
  EXPECT_LT(all.fit().slope_error, 0.1) << "not a straight line\n" << all.markdown();
  // The error of K nodes is (K!)⁴/((2K+1)((2K)!)³) times a derivative of order 2K, here of 2e^{2t} over its integral.
  const double bound =
      std::exp(4 * std::lgamma(5.0) - 3 * std::lgamma(9.0)) / 9 * std::pow(2, 9) * std::exp(2) / std::expm1(2);
  for (const auto& point : nodes.points()) EXPECT_LT(point.error, bound) << "n=" << point.effort;
}

/// Gradients are divided by the square of steps from .035 on (four nodes), so a rounding of 1e-16 becomes 1e-13.
constexpr double rounding = 1e-12;

TEST(SecondOrderRate, PolynomialsOfDegreeTwoAreExactForAnyDirectionsAndOfDegreeThreeForAll) {
  Rng rng(test_seed(), "degrees");
  reporting::Table table{.name = "degrees",
                         .caption = "Relative errors, the largest of three games each with uneven weights.",
                         .columns = {{"n", true},
                                     {"degree", true},
                                     {"integrated gradients", true},
                                     {"M = 2", true},
                                     {"M = n/4", true},
                                     {"M = n", true}},
                         .rows = {}};
  const auto show = [](double error) { return error < rounding ? "below 1e-12" : reporting::show(error); };
  for (const int n : {8, 32, 128}) {
    for (const int degree : {2, 3}) {
      double first = 0, two = 0, quarter = 0, all = 0;
      for (int game_number = 0; game_number < 3; ++game_number) {
        std::vector<double> coefficients = {0.5, -1, 2};
        if (degree == 3) coefficients.push_back(3);
        const auto game = games::polynomial_of_measure(games::random_measure(n, rng), coefficients);
        first = std::max(first, error_of(*game->aumann_shapley_values(), game->shapley_values()));
        two = std::max(two, error_of({.directions = 2}, *game, test_seed()));
        quarter = std::max(quarter, error_of({.directions = std::max(2, n / 4)}, *game, test_seed()));
        all = std::max(all, error_of({.all_directions = true}, *game));
      }
      table.add({std::to_string(n), std::to_string(degree), show(first), show(two), show(quarter), show(all)});
      EXPECT_LT(all, rounding) << "n=" << n << ", degree " << degree;
      if (degree == 2)
        EXPECT_LT(std::max(two, quarter), rounding) << "n=" << n;
      else
        EXPECT_GT(std::min(first, two), 1e-6) << "n=" << n;
    }
  }
  reporting::publish({.name = "second_order_exact",
                      .title = "Where the correction of second order leaves nothing",
                      .finding =
                          "Games without interactions of three players are exact for every number of directions. "
                          "Polynomials of degree three are exact with as many directions as players.",
                      .studies = {},
                      .tables = {table}});
}

}  // namespace
}  // namespace opshap
