#include "estimators/integrated_gradients.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/error.hpp"
#include "core/gauss_legendre.hpp"
#include "core/names.hpp"
#include "estimators/registry.hpp"

namespace opshap {

namespace {

class IntegratedGradients final : public Estimator {
 public:
  IntegratedGradients(Rule rule, int nodes) : rule_(rule), quadrature_(quadrature(rule, nodes)) {}

  std::string_view name() const override {
    return rule_ == Rule::midpoint ? "integrated_gradients" : "integrated_gradients_gauss_legendre";
  }
  std::string_view summary() const override {
    return rule_ == Rule::midpoint
               ? "gradients along the straight path, midpoint rule (Sundararajan, Taly, Yan 2017)"
               : "gradients along the straight path, Gauss-Legendre rule (Sundararajan, Taly, Yan 2017)";
  }
  Guarantees guarantees() const override {
    return {.access = Access::gradient,
            .bias = Bias::lasting,
            .efficiency = Efficiency::quadrature,
            .mse_rate = 0,
            .exact_on_additive = true,
            .exact_on_two_additive = true,
            .zero_for_null_player = true,
            .linear = true};
  }
  Budget minimum(int) const override { return {2}; }

  Attribution estimate(CountedGame& game, Rng&) const override {
    Attribution attribution;
    attribution.empty = game.empty();
    attribution.grand = game.grand();
    const auto n = static_cast<std::size_t>(game.players());
    const std::vector<double> gradients = game.diagonal_gradients(quadrature_.nodes);
    attribution.values.assign(n, 0.0);
    for (std::size_t node = 0; node < quadrature_.nodes.size(); ++node) {
      for (std::size_t player = 0; player < n; ++player)
        attribution.values[player] += quadrature_.weights[node] * gradients[node * n + player];
    }
    return attribution;
  }

 private:
  Rule rule_;
  Quadrature quadrature_;
};

}  // namespace

Rule find_rule(std::string_view name) {
  if (name == "midpoint") return Rule::midpoint;
  if (name == "gauss_legendre") return Rule::gauss_legendre;
  throw InvalidArgument(message("integrated_gradients: rule=", name, " (not a quadrature rule). Did you mean ",
                                nearest_name(name, {"midpoint", "gauss_legendre"}),
                                "? Give midpoint or gauss_legendre."));
}

Quadrature quadrature(Rule rule, int nodes) {
  require(nodes >= 1 && nodes <= max_quadrature_nodes, "integrated_gradients: nodes=", nodes, " (needs 1..",
          max_quadrature_nodes, "). Give a number in that range.");
  const auto count = static_cast<std::size_t>(nodes);
  Quadrature result{.nodes = std::vector<double>(count), .weights = std::vector<double>(count, 1.0 / nodes)};
  if (rule == Rule::midpoint) {
    for (std::size_t k = 0; k < count; ++k) result.nodes[k] = (static_cast<double>(k) + 0.5) / nodes;
    return result;
  }
  GaussLegendre gauss_legendre(nodes);
  result.nodes = std::move(gauss_legendre.nodes);
  result.weights = std::move(gauss_legendre.weights);
  return result;
}

std::unique_ptr<Estimator> integrated_gradients(Rule rule, int nodes) {
  return std::make_unique<IntegratedGradients>(rule, nodes);
}

namespace estimators {

std::unique_ptr<Estimator> integrated_gradients() {
  return opshap::integrated_gradients(Rule::midpoint, default_quadrature_nodes);
}

std::unique_ptr<Estimator> integrated_gradients_gauss_legendre() {
  return opshap::integrated_gradients(Rule::gauss_legendre, default_quadrature_nodes);
}

}  // namespace estimators
}  // namespace opshap
