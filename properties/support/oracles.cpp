#include "support/oracles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace opshap {

std::vector<double> textbook_shapley_values(const Table& table) {
  const auto n = static_cast<std::size_t>(table.players);
  std::vector<double> weight(n);  // s!(n−1−s)!/n!
  weight[0] = 1 / static_cast<double>(n);
  for (std::size_t s = 1; s < n; ++s) weight[s] = weight[s - 1] * static_cast<double>(s) / static_cast<double>(n - s);
  std::vector<double> values(n, 0.0);
  for (std::size_t player = 0; player < n; ++player) {
    for (std::size_t mask = 0; mask < table.values.size(); ++mask) {
      if (mask >> player & 1) continue;
      values[player] += weight[static_cast<std::size_t>(std::popcount(mask))] *
                        (table.values[mask | std::size_t{1} << player] - table.values[mask]);
    }
  }
  return values;
}

std::vector<double> shapley_values_by_orderings(const Table& table) {
  std::vector<int> ordering(static_cast<std::size_t>(table.players));
  std::iota(ordering.begin(), ordering.end(), 0);
  std::vector<double> values(ordering.size(), 0.0);
  double orderings = 0;
  do {
    ++orderings;
    std::size_t mask = 0;
    for (const int player : ordering) {
      const std::size_t next = mask | std::size_t{1} << player;
      values[static_cast<std::size_t>(player)] += table.values[next] - table.values[mask];
      mask = next;
    }
  } while (std::next_permutation(ordering.begin(), ordering.end()));
  for (double& value : values) value /= orderings;
  return values;
}

std::vector<double> shapley_values_by_dividends(const Table& table) {
  const Table coefficients = moebius_coefficients(table);
  std::vector<double> values(static_cast<std::size_t>(table.players), 0.0);
  for (std::size_t mask = 1; mask < coefficients.values.size(); ++mask) {
    for (std::size_t player = 0; player < values.size(); ++player) {
      if (mask >> player & 1) values[player] += coefficients.values[mask] / std::popcount(mask);
    }
  }
  return values;
}

double kernel(int players, int size) { return 1.0 / (static_cast<double>(size) * (players - size)); }

double harmonic_number(int n) {
  double sum = 0;
  for (int k = 1; k <= n; ++k) sum += 1.0 / k;
  return sum;
}

double binomial(int n, int k) {
  return std::round(std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)));
}

}  // namespace opshap
