#include "games/polynomial_of_measure.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "core/error.hpp"
#include "core/gauss_legendre.hpp"
#include "games/function_of_measure.hpp"

namespace opshap::games {

namespace {

double value_at(const std::vector<double>& coefficients, double x) {
  double value = 0;
  for (std::size_t p = coefficients.size(); p-- > 0;) value = value * x + coefficients[p];
  return value;
}

double slope_at(const std::vector<double>& coefficients, double x) {
  double slope = 0;
  for (std::size_t p = coefficients.size(); p-- > 1;) slope = slope * x + static_cast<double>(p) * coefficients[p];
  return slope;
}

/// binomials[p][r] = C(p, r).
std::vector<std::vector<double>> pascal(std::size_t degree) {
  std::vector<std::vector<double>> rows(degree + 1);
  for (std::size_t p = 0; p <= degree; ++p) {
    rows[p].assign(p + 1, 1.0);
    for (std::size_t r = 1; r < p; ++r) rows[p][r] = rows[p - 1][r - 1] + rows[p - 1][r];
  }
  return rows;
}

/// powers[r] = weight^r.
void fill_powers(std::vector<double>& powers, double weight) {
  powers[0] = 1;
  for (std::size_t r = 1; r < powers.size(); ++r) powers[r] = powers[r - 1] * weight;
}

std::vector<double> solve_polynomial(const Measure& measure, const std::vector<double>& coefficients) {
  const std::size_t degree = coefficients.size() - 1;
  const auto n = static_cast<std::size_t>(measure.players());
  std::vector<double> shapley(n, 0.0), powers(degree + 1), moments(degree + 1), others(degree + 1);
  if (degree == 0) return shapley;
  const auto binomials = pascal(degree);
  const GaussLegendre rule(static_cast<int>((degree + 1) / 2));
  for (std::size_t node = 0; node < rule.nodes.size(); ++node) {
    const double t = rule.nodes[node];
    // moments[p] = E (Σ_j μ_j B_j)^p: each player adds t Σ_{r>=1} C(p, r) μ_j^r · moments[p − r] of those before.
    moments.assign(degree + 1, 0.0);
    moments[0] = 1;
    for (std::size_t player = 0; player < n; ++player) {
      fill_powers(powers, measure[player]);
      for (std::size_t p = degree; p >= 1; --p) {
        for (std::size_t r = 1; r <= p; ++r) moments[p] += t * binomials[p][r] * powers[r] * moments[p - r];
      }
    }
    for (std::size_t player = 0; player < n; ++player) {
      fill_powers(powers, measure[player]);
      double marginal = 0;
      for (std::size_t p = 0; p <= degree; ++p) {
        double gain = 0;  // E[(X + μ_k)^p − X^p] for X the sum over the other players
        for (std::size_t r = 1; r <= p; ++r) gain += binomials[p][r] * powers[r] * others[p - r];
        others[p] = moments[p] - t * gain;
        marginal += coefficients[p] * gain;
      }
      shapley[player] += rule.weights[node] * marginal;
    }
  }
  return shapley;
}

}  // namespace

std::unique_ptr<SolvedGame> polynomial_of_measure(const Measure& measure, std::vector<double> coefficients) {
  require(!coefficients.empty() && coefficients.size() <= max_polynomial_degree + 1,
          "polynomial_of_measure: coefficients=", coefficients.size(), " (needs 1..", max_polynomial_degree + 1,
          ", the constant one first). Give a polynomial of at most that degree.");
  for (std::size_t p = 0; p < coefficients.size(); ++p)
    require(std::isfinite(coefficients[p]), "polynomial_of_measure: coefficient=", coefficients[p], " (of power ", p,
            "; not finite). Give a number.");
  ScalarFunction f{.value = [coefficients](double x) { return value_at(coefficients, x); },
                   .slope = [coefficients](double x) { return slope_at(coefficients, x); }};
  return function_of_measure(measure, std::move(f),
                             [measure, coefficients] { return solve_polynomial(measure, coefficients); });
}

std::unique_ptr<Game> random_polynomial_of_measure(int players, Rng& rng) {
  std::vector<double> coefficients(4);
  for (double& coefficient : coefficients) coefficient = static_cast<double>(1 + rng.below(64)) / 32;
  const Measure measure = random_signed_measure(players, rng);
  return polynomial_of_measure(measure, std::move(coefficients));
}

}  // namespace opshap::games
