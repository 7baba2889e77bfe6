#include "games/exponential_of_measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/gauss_legendre.hpp"
#include "games/function_of_measure.hpp"

namespace opshap::games {

namespace {

using Complex = std::complex<double>;

/// e^z − 1 without cancellation near 0.
Complex exp_minus_one(Complex z) {
  const double half_sine = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine,
          std::exp(z.real()) * std::sin(z.imag())};
}

std::vector<Complex> factors_minus_one(const Measure& measure, Complex rate) {
  std::vector<Complex> alphas;
  for (const double cell : measure.cells()) alphas.push_back(exp_minus_one(rate * cell));
  return alphas;
}

double sum_of_sizes(const std::vector<Complex>& alphas) {
  double sum = 0;
  for (const Complex alpha : alphas) sum += std::abs(alpha);
  return sum;
}

std::vector<double> solve_exponential(const std::vector<Complex>& alphas) {
  const std::size_t n = alphas.size();
  // A polynomial of degree n − 1; and its 2K-th derivative is at most A^2K e^A with A = Σ|α|, which leaves nothing of
  // the rule's error at K = 64 + 2A.
  const int nodes = std::min(static_cast<int>((n + 1) / 2), 64 + static_cast<int>(2 * sum_of_sizes(alphas)));
  const GaussLegendre rule(nodes);
  std::vector<double> shapley(n, 0.0);
  std::vector<Complex> after(n + 1);
  for (std::size_t node = 0; node < rule.nodes.size(); ++node) {
    const double t = rule.nodes[node];
    after[n] = 1;
    for (std::size_t player = n; player-- > 0;) after[player] = after[player + 1] * (1.0 + t * alphas[player]);
    Complex before = 1;
    for (std::size_t player = 0; player < n; ++player) {
      shapley[player] += rule.weights[node] * std::real(alphas[player] * before * after[player + 1]);
      before *= 1.0 + t * alphas[player];
    }
  }
  return shapley;
}

}  // namespace

std::unique_ptr<SolvedGame> exponential_of_measure(const Measure& measure, Complex rate) {
  require(std::isfinite(rate.real()) && std::isfinite(rate.imag()), "exponential_of_measure: rate=", rate,
          " (not finite). Give a number.");
  std::vector<Complex> alphas = factors_minus_one(measure, rate);
  const double size = sum_of_sizes(alphas);
  require(size <= 200, "exponential_of_measure: size=", size,
          " (Σ|e^{cμ_k} − 1| is at most 200, so that values do not overflow). Give a smaller rate.");
  ScalarFunction f{.value = [rate](double x) { return exp_minus_one(rate * x).real(); },
                   .slope = [rate](double x) { return std::real(rate * std::exp(rate * x)); }};
  return function_of_measure(measure, std::move(f), [alphas = std::move(alphas)] { return solve_exponential(alphas); });
}

std::unique_ptr<Game> random_exponential_of_measure(int players, Rng& rng) {
  const Complex rate{rng.uniform(-1.5, 1.5), rng.uniform(-3, 3)};
  const Measure measure = random_signed_measure(players, rng);
  return exponential_of_measure(measure, rate);
}

}  // namespace opshap::games
