#include "estimators/mean_field.hpp"

#include "estimators/diagonal_integral.hpp"
#include "estimators/registry.hpp"

namespace opshap::estimators {

std::unique_ptr<Estimator> mean_field(int nodes) {
  return std::make_unique<DiagonalIntegral>(
      "mean_field", "Owen's integral (1972) over the mean-field closure: two branches of the operator, no sampling",
      &CountedGame::mean_field_gradients, Rule::gauss_legendre, nodes);
}

std::unique_ptr<Estimator> mean_field() { return mean_field(default_mean_field_nodes); }

}  // namespace opshap::estimators
