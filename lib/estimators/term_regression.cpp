#include "estimators/term_regression.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/coalitions.hpp"
#include "estimators/kernel_regression.hpp"
#include "estimators/sample_targets.hpp"

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
      for (std::size_t word = 0; word < counts.size(); ++word) {
        if (basis == TermBasis::contained) {
          counts[word] &= column[word];
        } else {
          counts[word] ^= column[word];
        }
      }
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

}  // namespace opshap::estimators
