// Integrated gradients converge in their nodes at the order of the rule: second for midpoints, geometrically for
// Gauss–Legendre.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "estimators/diagonal.hpp"
#include "reporting/evidence.hpp"

namespace opshap {
namespace {

/// f(a) = exp(3 w·a), w = (1, …, n)/Σ: its gradients on the diagonal integrate to w_i(e³ − 1).
class ExponentialGame final : public Game, public Extension {
 public:
  static constexpr int n = 5;
  static constexpr double rate = 3;
  static double weight(int player) { return (player + 1) / 15.0; }

  int players() const override { return n; }
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values;
    for (std::size_t row = 0; row < coalitions.size(); ++row) {
      double measure = 0;
      for (int player = 0; player < n; ++player) measure += coalitions.contains(row, player) ? weight(player) : 0;
      values.push_back(std::exp(rate * measure));
    }
    return values;
  }
  const Extension* extension() const override { return this; }
  bool everywhere() const override { return false; }
  std::vector<double> gradients(std::span<const double> points) const override {
    std::vector<double> gradients;
    for (const double t : nodes_of_diagonal("exponential", points, n)) {
      for (int player = 0; player < n; ++player) gradients.push_back(rate * weight(player) * std::exp(rate * t));
    }
    return gradients;
  }
};

double error(estimators::Rule rule, int nodes) {
  const auto found = attribute(*integrated_gradients(rule, nodes), ExponentialGame(), {}, 1).values;
  double largest = 0;
  for (int player = 0; player < ExponentialGame::n; ++player) {
    const double exact = ExponentialGame::weight(player) * std::expm1(ExponentialGame::rate);
    largest = std::max(largest, std::abs(found[static_cast<std::size_t>(player)] - exact));
  }
  return largest;
}

TEST(QuadratureOrder, MidpointsAreOfSecondOrderAndGaussLegendreGeometric) {
  statistics::Study midpoint("midpoint", "nodes", "error"), gauss("Gauss-Legendre", "nodes", "error");
  for (int nodes = 1; nodes <= 64; nodes *= 2) midpoint.add(nodes, error(estimators::Rule::midpoint, nodes));
  for (int nodes = 1; nodes <= 7; ++nodes) gauss.add(nodes, error(estimators::Rule::gauss_legendre, nodes));
  reporting::publish(
      {.name = "quadrature_order",
       .title = "Integrated gradients against their limit in the number of nodes",
       .finding =
           "The midpoint rule is of second order; each node of Gauss–Legendre gains more than the one before it.",
       .studies = {midpoint, gauss}});

  // From four nodes on the next term of the error is below a hundredth of it.
  statistics::Study fine("midpoint", "nodes", "error");
  for (int nodes = 4; nodes <= 64; nodes *= 2) fine.add(nodes, error(estimators::Rule::midpoint, nodes));
  EXPECT_NEAR(-2, fine.fit().slope, 0.02);
  // The error of K nodes is (K!)⁴/((2K+1)((2K)!)³) times a derivative of order 2K, here 3^2K times at most e³·3w.
  double bound = 0;
  for (int nodes = 1; nodes <= 7; ++nodes) {
    bound = std::exp(4 * std::lgamma(nodes + 1.0) - 3 * std::lgamma(2 * nodes + 1.0)) / (2 * nodes + 1) *
            std::pow(ExponentialGame::rate, 2 * nodes + 1) / 3 * std::exp(ExponentialGame::rate);
    EXPECT_LT(error(estimators::Rule::gauss_legendre, nodes), bound + 1e-13) << nodes << " nodes";
  }
  EXPECT_LT(bound, 1e-10);
}

}  // namespace
}  // namespace opshap
