#include "estimators/poly_shap.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "core/estimator.hpp"

namespace opshap::estimators {

namespace {

/// The coalitions of terms that count. Column by column: a term is the AND or the XOR of its players' columns.
Coalitions counting_terms(const Coalitions& coalitions, std::span<const Term> terms, TermBasis basis) {
  const CoalitionColumns columns(coalitions, 0, coalitions.size());
  Coalitions lifted(static_cast<int>(terms.size()), coalitions.size());
  std::vector<std::uint64_t> counts(columns.words_per_column());
  for (std::size_t term = 0; term < terms.size(); ++term) {
    std::ranges::fill(counts, basis == TermBasis::contained ? ~std::uint64_t{0} : 0);
    for (const int player : terms[term]) {
      const auto column = columns.column(player);
      for (std::size_t word = 0; word < counts.size(); ++word)
        counts[word] = basis == TermBasis::contained ? counts[word] & column[word] : counts[word] ^ column[word];
    }
    for (std::size_t row = 0; row < lifted.size(); ++row) {
      if (counts[row / 64] >> (row % 64) & 1) lifted.insert(row, static_cast<int>(term));
    }
  }
  return lifted;
}

}  // namespace

TermFit fit_terms(const CoalitionSample& sample, std::vector<double> targets, double gain, std::span<const Term> terms,
                  TermBasis basis, std::string_view who, Deficiency deficiency) {
  CoalitionSample lifted(static_cast<int>(terms.size()), sample.pairing);
  lifted.coalitions = counting_terms(sample.coalitions, terms, basis);
  lifted.weights = sample.weights;
  const KernelRegression regression(lifted.coalitions, lifted.weights, who, deficiency);
  const double share = gain / static_cast<double>(terms.size());
  subtract_equal_shares(targets, lifted, share);
  TermFit fit{.coefficients = regression.fit(targets), .minimum_norm = regression.deficient_rank()};
  for (double& coefficient : fit.coefficients) coefficient += share;
  return fit;
}

std::vector<double> shapley_values_of_terms(int players, std::span<const Term> terms,
                                            std::span<const double> coefficients) {
  std::vector<double> values(static_cast<std::size_t>(players), 0.0);
  for (std::size_t term = 0; term < terms.size(); ++term) {
    for (const int player : terms[term])
      values[static_cast<std::size_t>(player)] += coefficients[term] / static_cast<double>(terms[term].size());
  }
  return values;
}

namespace {

std::int64_t terms_of(int players) { return std::int64_t{players} * (players + 1) / 2; }

Attribution estimate_poly_shap(CountedGame& game, Deficiency deficiency, Rng& rng) {
  constexpr std::string_view name = "poly_shap";
  constexpr int max_players = 127;
  const int n = game.players();
  require(n <= max_players, name, ": players=", n, " (", terms_of(n), " coefficients are too many, n <= ", max_players,
          "). Use kernel_shap_paired, which is exact for the same games.");
  Attribution attribution{.empty = game.empty(), .grand = game.grand()};
  std::vector<Term> terms;
  for (int i = 0; i < n; ++i) terms.push_back({i});
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) terms.push_back({i, j});
  }
  const CoalitionSample sample = sample_coalitions(Sampler::shapiq_compatible, SizeLaw(SizeMass::shapley_kernel, n),
                                                   game.budget().coalitions - 2, Pairing::none, rng);
  const TermFit fit = fit_terms(sample, sample_targets(game, sample, attribution.empty),
                                attribution.grand - attribution.empty, terms, TermBasis::contained, name, deficiency);
  attribution.values = shapley_values_of_terms(n, terms, fit.coefficients);
  attribution.minimum_norm = fit.minimum_norm;
  return attribution;
}

}  // namespace

/// kernel_shap with a coefficient for every player and every two players, whose interaction is then shared equally.
///
/// Source: Fumagalli et al. (2026), "PolySHAP", degree 2, with the sum of the coefficients held at v(N) − v(∅). Exact
/// when no interaction involves more than two players. On pairs of complements it is kernel_shap_paired, which asks for
/// far fewer coalitions; here they come alone. Cost: that of KernelRegression for n(n+1)/2 players.
std::unique_ptr<Estimator> poly_shap() {
  return std::make_unique<LeastSquares>(LeastSquares::Method{
      .name = "poly_shap",
      .summary = "kernel_shap with interactions of two players, n <= 127 (Fumagalli et al. 2026)",
      .promises = {.bias = Bias::vanishing, .learns = true, .exact_on_two_additive = true, .linear = true},
      // One coalition for each coefficient but one, whether they are independent shows only when they are drawn; or a
      // single one.
      .minimum =
          [](int players, Deficiency deficiency) {
            return 2 + (deficiency == Deficiency::refuse ? terms_of(players) - 1 : 1);
          },
      .estimate = estimate_poly_shap});
}

}  // namespace opshap::estimators
