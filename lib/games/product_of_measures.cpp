#include "games/product_of_measures.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "core/error.hpp"
#include "core/gauss_legendre.hpp"
#include "games/diagonal_extension.hpp"

namespace opshap::games {

namespace {

class ProductOfMeasures final : public SolvedGame {
 public:
  explicit ProductOfMeasures(std::vector<Measure> factors)
      : factors_(std::move(factors)), extension_(*this, [this](double t, std::span<double> slopes) {
          const double scale =
              static_cast<double>(factors_.size()) * std::pow(t, static_cast<double>(factors_.size()) - 1);
          const std::vector<double> shares = *aumann_shapley_values();
          for (std::size_t player = 0; player < slopes.size(); ++player) slopes[player] = scale * shares[player];
        }) {}

  int players() const override { return factors_.front().players(); }
  const DifferentiableGame* differentiable() const override { return &extension_; }

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
      bool out = false;
      for (const std::size_t other : left_out) out = out || other == l;
      if (!out) product *= factors_[l].total();
    }
    return product;
  }

  std::vector<Measure> factors_;
  DiagonalExtension extension_;
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

std::unique_ptr<Game> random_product_of_measures(int players, Rng& rng) {
  std::vector<Measure> factors;
  factors.push_back(random_measure(players, rng));
  factors.push_back(random_signed_measure(players, rng));
  factors.push_back(random_signed_measure(players, rng));
  return product_of_measures(std::move(factors));
}

}  // namespace opshap::games
