#include "estimators/diagonal_integral.hpp"

namespace opshap::estimators {

DiagonalIntegral::DiagonalIntegral(std::string_view name, std::string_view summary, Gradients gradients, Rule rule,
                                   int nodes)
    : name_(name), summary_(summary), gradients_(gradients), quadrature_(quadrature(rule, nodes, name)) {}

Guarantees DiagonalIntegral::guarantees() const {
  return {.access = Access::gradient,
          .bias = Bias::lasting,
          .efficiency = Efficiency::quadrature,
          .mse_rate = 0,
          .exact_on_additive = true,
          .exact_on_two_additive = true,
          .zero_for_null_player = true,
          .linear = true};
}

Attribution DiagonalIntegral::estimate(CountedGame& game, Rng&) const {
  Attribution attribution;
  attribution.empty = game.empty();
  attribution.grand = game.grand();
  attribution.values = quadrature_.integral((game.*gradients_)(quadrature_.nodes));
  return attribution;
}

}  // namespace opshap::estimators
