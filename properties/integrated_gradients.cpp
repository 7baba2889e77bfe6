// Quadrature on [0, 1], and what it makes of gradients.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/error.hpp"
#include "estimators/diagonal.hpp"
#include "games/table_game.hpp"
#include "games/unanimity.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

double integral_of_power(const estimators::Quadrature& quadrature, int power) {
  double sum = 0;
  for (std::size_t k = 0; k < quadrature.nodes.size(); ++k)
    sum += quadrature.weights[k] * std::pow(quadrature.nodes[k], power);
  return sum;
}

TEST(Quadrature, GaussLegendreIsExactUpToDegreeTwoNodesMinusOne) {
  for (const int nodes : {1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 50, 100, 257, 1000}) {
    const estimators::Quadrature rule = estimators::quadrature(estimators::Rule::gauss_legendre, nodes);
    ASSERT_EQ(static_cast<std::size_t>(nodes), rule.nodes.size());
    EXPECT_TRUE(std::is_sorted(rule.nodes.begin(), rule.nodes.end()));
    EXPECT_GT(rule.nodes.front(), 0);
    EXPECT_LT(rule.nodes.back(), 1);
    for (int power = 0; power < 2 * nodes; power += std::max(1, nodes / 16)) {
      EXPECT_EQ("", mismatch(1.0 / (power + 1), integral_of_power(rule, power), rounding(64.0 * nodes, 1)))
          << nodes << " nodes, t^" << power;
    }
    if (nodes <= 5) {
      EXPECT_NE("", mismatch(1.0 / (2 * nodes + 1), integral_of_power(rule, 2 * nodes), rounding(1e4, 1)))
          << "degree " << 2 * nodes << " is too high";
    }
  }
}

TEST(Quadrature, MidpointIsExactForStraightLines) {
  for (const int nodes : {1, 2, 50, 1000}) {
    const estimators::Quadrature rule = estimators::quadrature(estimators::Rule::midpoint, nodes);
    EXPECT_EQ("", mismatch(1, integral_of_power(rule, 0), rounding(nodes, 1)));
    EXPECT_EQ("", mismatch(0.5, integral_of_power(rule, 1), rounding(nodes, 1)));
    EXPECT_EQ("", mismatch(1.0 / 3 - 1.0 / (12.0 * nodes * nodes), integral_of_power(rule, 2), rounding(nodes, 1)));
  }
}

TEST(Quadrature, RefusesImpossibleRules) {
  for (const estimators::Rule rule : {estimators::Rule::midpoint, estimators::Rule::gauss_legendre}) {
    EXPECT_THROW(estimators::quadrature(rule, 0), InvalidArgument);
    EXPECT_THROW(estimators::quadrature(rule, -1), InvalidArgument);
    EXPECT_THROW(estimators::quadrature(rule, estimators::max_quadrature_nodes + 1), InvalidArgument);
  }
  EXPECT_EQ(estimators::Rule::midpoint, estimators::find_rule("midpoint"));
  EXPECT_EQ(estimators::Rule::gauss_legendre, estimators::find_rule("gauss_legendre"));
  EXPECT_THROW(estimators::find_rule("trapezoid"), InvalidArgument);
}

// u_T has the gradient t^(|T|−1) on the diagonal: K midpoint nodes give Σ_k ((k − ½)/K)^(|T|−1)/K in place of 1/|T|.
TEST(IntegratedGradients, TakeTheMidpointRuleAtItsNodes) {
  const auto game = games::unanimity_sum(4, {{{0, 1, 3}, 6.0}}, 2);
  const Attribution found = attribute(*integrated_gradients(estimators::Rule::midpoint, 2), *game, {0}, 1);
  const double expected = 6 * (0.25 * 0.25 + 0.75 * 0.75) / 2;
  EXPECT_EQ((std::vector<double>{expected, expected, 0, expected}), found.values);
  EXPECT_EQ(2, found.gradients);
  EXPECT_EQ(2, found.distinct);
  EXPECT_FALSE(found.exact);
}

// One implementation serves three estimators, each of which answers for itself.
TEST(IntegratedGradients, BadNodesAreRefusedInTheNameOfTheMethod) {
  const auto refusal = [](const auto& make) {
    try {
      make();
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const int nodes : {-3, 0, estimators::max_quadrature_nodes + 1}) {
    const std::string what = ": nodes=" + std::to_string(nodes) + " (needs 1..1000). Give a number in that range.";
    EXPECT_EQ("mean_field" + what, refusal([&] { estimators::mean_field(nodes); }));
    EXPECT_EQ("integrated_gradients" + what,
              refusal([&] { estimators::integrated_gradients(estimators::Rule::midpoint, nodes); }));
    EXPECT_EQ("integrated_gradients_gauss_legendre" + what,
              refusal([&] { estimators::integrated_gradients(estimators::Rule::gauss_legendre, nodes); }));
  }
}

TEST(IntegratedGradients, NeedAGameWithGradients) {
  EXPECT_THROW(attribute(*integrated_gradients(estimators::Rule::midpoint, 2), *games::table_game(1, {0, 1}), {0}, 1),
               InvalidArgument);
}

}  // namespace
}  // namespace opshap
