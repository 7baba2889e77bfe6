#include "estimators/mean_field.hpp"

#include "estimators/integrated_gradients.hpp"
#include "estimators/registry.hpp"

namespace opshap {

namespace {

class MeanFieldShapley final : public Estimator {
 public:
  explicit MeanFieldShapley(int nodes) : quadrature_(quadrature(Rule::gauss_legendre, nodes)) {}

  std::string_view name() const override { return "mean_field"; }
  std::string_view summary() const override {
    return "Owen's integral (1972) over the mean-field closure: two branches of the operator, no sampling";
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
    attribution.values = quadrature_.integral(game.mean_field_gradients(quadrature_.nodes));
    return attribution;
  }

 private:
  Quadrature quadrature_;
};

}  // namespace

std::unique_ptr<Estimator> mean_field(int nodes) { return std::make_unique<MeanFieldShapley>(nodes); }

namespace estimators {

std::unique_ptr<Estimator> mean_field() { return opshap::mean_field(default_mean_field_nodes); }

}  // namespace estimators
}  // namespace opshap
