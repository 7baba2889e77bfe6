#include "estimators/diagonal.hpp"

#include <cstddef>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "core/estimator.hpp"
#include "core/gauss_legendre.hpp"
#include "core/names.hpp"

namespace opshap::estimators {

std::vector<double> Quadrature::integral(const std::vector<double>& values) const {
  const std::size_t size = values.size() / nodes.size();
  std::vector<double> sum(size, 0.0);
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    for (std::size_t i = 0; i < size; ++i) sum[i] += weights[node] * values[node * size + i];
  }
  return sum;
}

Rule find_rule(std::string_view name) {
  if (name == "midpoint") return Rule::midpoint;
  if (name == "gauss_legendre") return Rule::gauss_legendre;
  throw InvalidArgument(message("quadrature: rule=", name, " (not a quadrature rule).",
                                suggestion(name, {"midpoint", "gauss_legendre"}), " Give midpoint or gauss_legendre."));
}

Quadrature quadrature(Rule rule, int nodes, std::string_view who) {
  require(nodes >= 1 && nodes <= max_quadrature_nodes, who, ": nodes=", nodes, " (needs 1..", max_quadrature_nodes,
          "). Give a number in that range.");
  if (rule == Rule::gauss_legendre) {
    GaussLegendre gauss_legendre(nodes);
    return {.nodes = std::move(gauss_legendre.nodes), .weights = std::move(gauss_legendre.weights)};
  }
  Quadrature result{.nodes = {}, .weights = std::vector<double>(static_cast<std::size_t>(nodes), 1.0 / nodes)};
  for (int k = 0; k < nodes; ++k) result.nodes.push_back((k + 0.5) / nodes);
  return result;
}

namespace {

/// ∫₀¹ g_i(t) dt by a quadrature, with gradients g(t) that a game gives on the diagonal (t, …, t) of the unit cube: of
/// itself, or of its mean-field closure.
///
/// Deterministic. Cost: one gradient a node, plus v(∅) and v(N), which the sum of the values meets up to the quadrature
/// error.
class DiagonalIntegral final : public Estimator {
 public:
  /// [K, n] at K points.
  using Gradients = std::vector<double> (CountedGame::*)(std::string_view who, std::span<const double> points);

  /// `name` and `summary` must outlive the estimator. Throws InvalidArgument unless 1 <= nodes <= 1000.
  DiagonalIntegral(std::string_view name, std::string_view summary, Gradients gradients, Rule rule, int nodes)
      : name_(name), summary_(summary), gradients_(gradients), quadrature_(quadrature(rule, nodes, name)) {}

  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return summary_; }
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
    Attribution attribution{.empty = game.empty(), .grand = game.grand()};
    attribution.values =
        quadrature_.integral((game.*gradients_)(name_, on_diagonal(quadrature_.nodes, game.players())));
    return attribution;
  }

 private:
  std::string_view name_, summary_;
  Gradients gradients_;
  Quadrature quadrature_;
};

}  // namespace

std::unique_ptr<Estimator> integrated_gradients(Rule rule, int nodes) {
  const bool midpoint = rule == Rule::midpoint;
  return std::make_unique<DiagonalIntegral>(
      midpoint ? "integrated_gradients" : "integrated_gradients_gauss_legendre",
      midpoint ? "gradients along the straight path, midpoint rule (Sundararajan, Taly, Yan 2017)"
               : "gradients along the straight path, Gauss-Legendre rule (Sundararajan, Taly, Yan 2017)",
      &CountedGame::extension_gradients, rule, nodes);
}

std::unique_ptr<Estimator> integrated_gradients() {
  return integrated_gradients(Rule::midpoint, default_quadrature_nodes);
}

std::unique_ptr<Estimator> integrated_gradients_gauss_legendre() {
  return integrated_gradients(Rule::gauss_legendre, default_quadrature_nodes);
}

std::unique_ptr<Estimator> mean_field(int nodes) {
  return std::make_unique<DiagonalIntegral>(
      "mean_field", "Owen's integral (1972) over the mean-field closure: two branches of the operator, no sampling",
      &CountedGame::mean_field_gradients, Rule::gauss_legendre, nodes);
}

std::unique_ptr<Estimator> mean_field() { return mean_field(default_mean_field_nodes); }

}  // namespace opshap::estimators
