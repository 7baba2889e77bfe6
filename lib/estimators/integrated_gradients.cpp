#include "estimators/integrated_gradients.hpp"

#include "estimators/diagonal_integral.hpp"
#include "estimators/registry.hpp"

namespace opshap::estimators {

std::unique_ptr<Estimator> integrated_gradients(Rule rule, int nodes) {
  const bool midpoint = rule == Rule::midpoint;
  return std::make_unique<DiagonalIntegral>(
      midpoint ? "integrated_gradients" : "integrated_gradients_gauss_legendre",
      midpoint ? "gradients along the straight path, midpoint rule (Sundararajan, Taly, Yan 2017)"
               : "gradients along the straight path, Gauss-Legendre rule (Sundararajan, Taly, Yan 2017)",
      &CountedGame::diagonal_gradients, rule, nodes);
}

std::unique_ptr<Estimator> integrated_gradients() {
  return integrated_gradients(Rule::midpoint, default_quadrature_nodes);
}

std::unique_ptr<Estimator> integrated_gradients_gauss_legendre() {
  return integrated_gradients(Rule::gauss_legendre, default_quadrature_nodes);
}

}  // namespace opshap::estimators
