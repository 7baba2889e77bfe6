#include "games/smooth_functions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/error.hpp"
#include "core/gauss_legendre.hpp"
#include "games/registry.hpp"

namespace opshap::games {

namespace {

class BilinearGame final : public SolvedGame {
 public:
  explicit BilinearGame(std::vector<std::pair<Measure, Measure>> terms)
      : terms_(std::move(terms)),
        extension_(players(), [this](std::span<const double> point, std::span<double> slopes) {
          for (const auto& [left, right] : terms_) {
            const double of_left = left.of(point), of_right = right.of(point);
            for (std::size_t player = 0; player < slopes.size(); ++player)
              slopes[player] += left[player] * of_right + right[player] * of_left;
          }
        }) {}

  int players() const override { return terms_.front().first.players(); }
  const Extension* extension() const override { return &extension_; }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values(coalitions.size(), 0.0);
    for (const auto& [left, right] : terms_) {
      const std::vector<double> lefts = left.of(coalitions), rights = right.of(coalitions);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += lefts[i] * rights[i];
    }
    return values;
  }

  std::vector<double> shapley_values() const override {
    std::vector<double> shapley(static_cast<std::size_t>(players()), 0.0);
    for (const auto& [left, right] : terms_) {
      const double left_total = left.total(), right_total = right.total();
      for (std::size_t player = 0; player < shapley.size(); ++player)
        shapley[player] += (left[player] * right_total + right[player] * left_total) / 2;
    }
    return shapley;
  }

  std::optional<std::vector<double>> aumann_shapley_values() const override { return shapley_values(); }
  std::optional<std::vector<double>> discretisation_error() const override {
    return std::vector<double>(static_cast<std::size_t>(players()), 0.0);
  }

 private:
  std::vector<std::pair<Measure, Measure>> terms_;
  SmoothExtension extension_;
};

}  // namespace

std::unique_ptr<SolvedGame> bilinear_game(std::vector<std::pair<Measure, Measure>> terms) {
  require(!terms.empty(), "bilinear_game: terms=0 (the players are the cells of a measure). Give a pair of measures.");
  const int cells = terms.front().first.players();
  for (std::size_t r = 0; r < terms.size(); ++r)
    require(terms[r].first.players() == cells && terms[r].second.players() == cells,
            "bilinear_game: cells=", terms[r].first.players(), " and ", terms[r].second.players(), " (term ", r,
            "; the first has ", cells, "). Give measures of the same cells.");
  return std::make_unique<BilinearGame>(std::move(terms));
}

/// Two terms of signed measures.
std::unique_ptr<Game> random_bilinear_game(int players, Rng& rng) {
  std::vector<std::pair<Measure, Measure>> terms;
  for (int term = 0; term < 2; ++term)
    terms.push_back({random_signed_measure(players, rng), random_signed_measure(players, rng)});
  return bilinear_game(std::move(terms));
}

namespace {

class ProductOfMeasures final : public SolvedGame {
 public:
  explicit ProductOfMeasures(std::vector<Measure> factors)
      : factors_(std::move(factors)),
        extension_(players(), [this](std::span<const double> point, std::span<double> slopes) {
          for (std::size_t l = 0; l < factors_.size(); ++l) {
            double others = 1;
            for (std::size_t m = 0; m < factors_.size(); ++m) others *= m == l ? 1 : factors_[m].of(point);
            for (std::size_t player = 0; player < slopes.size(); ++player)
              slopes[player] += others * factors_[l][player];
          }
        }) {}

  int players() const override { return factors_.front().players(); }
  const Extension* extension() const override { return &extension_; }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values(coalitions.size(), 1.0);
    for (const Measure& factor : factors_) {
      const std::vector<double> measures = factor.of(coalitions);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] *= measures[i];
    }
    return values;
  }

  std::vector<double> shapley_values() const override {
    const auto n = static_cast<std::size_t>(players());
    const std::size_t subsets = std::size_t{1} << factors_.size();
    // own[A] = Π_{l∈A} μ_l(B_k) of one player; moments[A] = E Π_{l∈A} μ_l(S_t), and the same for the others without k.
    std::vector<double> shapley(n, 0.0), own(subsets), moments(subsets), others(subsets);
    const GaussLegendre rule(static_cast<int>((factors_.size() + 1) / 2));
    for (std::size_t node = 0; node < rule.nodes.size(); ++node) {
      const double t = rule.nodes[node];
      moments.assign(subsets, 0.0);
      moments[0] = 1;
      for (std::size_t player = 0; player < n; ++player) {
        fill_own(player, own);
        for (std::size_t set = subsets; set-- > 1;) moments[set] += t * gain(set, own, moments);
      }
      for (std::size_t player = 0; player < n; ++player) {
        fill_own(player, own);
        double marginal = 0;
        for (std::size_t set = 0; set < subsets; ++set) {
          marginal = gain(set, own, others);
          others[set] = moments[set] - t * marginal;
        }
        shapley[player] += rule.weights[node] * marginal;  // of the last set, all factors
      }
    }
    return shapley;
  }

  std::optional<std::vector<double>> aumann_shapley_values() const override {
    const std::size_t m = factors_.size();
    std::vector<double> shares(static_cast<std::size_t>(players()), 0.0);
    for (std::size_t l = 0; l < m; ++l) {
      const double rest = product_of_totals({l}) / static_cast<double>(m);
      for (std::size_t player = 0; player < shares.size(); ++player) shares[player] += rest * factors_[l][player];
    }
    return shares;
  }

  std::optional<std::vector<double>> discretisation_error() const override {
    const auto m = static_cast<double>(factors_.size());
    std::vector<double> errors(static_cast<std::size_t>(players()), 0.0);
    if (factors_.size() < 3) return errors;
    // ∫(½−t) t^(m−2) dt = −(m−2)/(2m(m−1)) and ∫½t(1−t) t^(m−3) dt = 1/(2m(m−1)).
    const double unit = 1 / (2 * m * (m - 1));
    for (std::size_t a = 0; a < factors_.size(); ++a) {
      for (std::size_t b = 0; b < factors_.size(); ++b) {
        if (b == a) continue;
        const double rest = product_of_totals({a, b});
        for (std::size_t k = 0; k < errors.size(); ++k)
          errors[k] -= unit * (m - 2) * rest * factors_[a][k] * factors_[b][k];
        for (std::size_t c = 0; c < factors_.size(); ++c) {
          if (c == a || c == b) continue;
          const double remaining = product_of_totals({a, b, c}), inner = factors_[b].inner_product(factors_[c]);
          for (std::size_t k = 0; k < errors.size(); ++k) errors[k] += unit * remaining * inner * factors_[a][k];
        }
      }
    }
    return errors;
  }

 private:
  void fill_own(std::size_t player, std::vector<double>& own) const {
    own[0] = 1;
    for (std::size_t l = 0; l < factors_.size(); ++l) {
      const std::size_t bit = std::size_t{1} << l;
      for (std::size_t set = 0; set < bit; ++set) own[set | bit] = own[set] * factors_[l][player];
    }
  }

  /// What one player adds to the moment of a set of factors: Σ over its non-empty subsets A of own[A] · moments[set ∖
  /// A].
  static double gain(std::size_t set, const std::vector<double>& own, const std::vector<double>& moments) {
    double sum = 0;
    for (std::size_t subset = set; subset != 0; subset = (subset - 1) & set) sum += own[subset] * moments[set ^ subset];
    return sum;
  }

  /// Π_l μ_l(Ω) without the factors in `left_out`.
  double product_of_totals(std::initializer_list<std::size_t> left_out) const {
    double product = 1;
    for (std::size_t l = 0; l < factors_.size(); ++l) {
      if (std::ranges::find(left_out, l) == left_out.end()) product *= factors_[l].total();
    }
    return product;
  }

  std::vector<Measure> factors_;
  SmoothExtension extension_;
};

}  // namespace

std::unique_ptr<SolvedGame> product_of_measures(std::vector<Measure> factors) {
  require(!factors.empty() && factors.size() <= max_product_factors, "product_of_measures: factors=", factors.size(),
          " (needs 1..", max_product_factors, "). Give a number of measures in that range.");
  for (std::size_t l = 1; l < factors.size(); ++l)
    require(factors[l].players() == factors[0].players(), "product_of_measures: cells=", factors[l].players(),
            " (factor ", l, "; the first has ", factors[0].players(), "). Give measures of the same cells.");
  return std::make_unique<ProductOfMeasures>(std::move(factors));
}

/// Three measures, two of them signed.
std::unique_ptr<Game> random_product_of_measures(int players, Rng& rng) {
  return product_of_measures(
      {random_measure(players, rng), random_signed_measure(players, rng), random_signed_measure(players, rng)});
}

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

/// A signed measure and a polynomial of degree 3 with a constant term.
std::unique_ptr<Game> random_polynomial_of_measure(int players, Rng& rng) {
  std::vector<double> coefficients(4);
  for (double& coefficient : coefficients) coefficient = static_cast<double>(1 + rng.below(64)) / 32;
  return polynomial_of_measure(random_signed_measure(players, rng), std::move(coefficients));
}

namespace {

using Complex = std::complex<double>;

/// e^z − 1 without cancellation near 0.
Complex exp_minus_one(Complex z) {
  const double half_sine = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine,
          std::exp(z.real()) * std::sin(z.imag())};
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
  std::vector<Complex> alphas;
  for (const double cell : measure.cells()) alphas.push_back(exp_minus_one(rate * cell));
  const double size = sum_of_sizes(alphas);
  require(size <= 200, "exponential_of_measure: size=", size,
          " (Σ|e^{cμ_k} − 1| is at most 200, so that values do not overflow). Give a smaller rate.");
  ScalarFunction f{.value = [rate](double x) { return exp_minus_one(rate * x).real(); },
                   .slope = [rate](double x) { return std::real(rate * std::exp(rate * x)); }};
  return function_of_measure(measure, std::move(f), [alphas = std::move(alphas)] { return solve_exponential(alphas); });
}

/// A signed measure of total near ½ and a complex rate.
std::unique_ptr<Game> random_exponential_of_measure(int players, Rng& rng) {
  const Complex rate{rng.uniform(-1.5, 1.5), rng.uniform(-3, 3)};
  return exponential_of_measure(random_signed_measure(players, rng), rate);
}

}  // namespace opshap::games
