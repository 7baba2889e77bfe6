// Our code beside shapiq 1.8 on the same coalitions, weights and orderings (reference_data/shapiq.md).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/counted_game.hpp"
#include "core/kernel_law.hpp"
#include "estimators/enumeration.hpp"
#include "estimators/kernel_regression.hpp"
#include "estimators/kernel_sample.hpp"
#include "estimators/orderings.hpp"
#include "games/table_game.hpp"
#include "games/unanimity_sum.hpp"
#include "support/generators.hpp"
#include "support/golden.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using golden::cases;
using golden::Json;
using golden::numbers;
using golden::title;

/// Rounding of a sum over the coalitions of n players that is added up in pairs.
Tolerance enumerated(int players, double scale) { return rounding(64.0 * players, scale); }

TEST(ShapiqExactComputer, AgreesWithTheEnumeration) {
  for (const Json& entry : cases("exact")) {
    if (!entry.contains("values")) continue;
    const std::vector<double> table = numbers(entry.at("values")), expected = numbers(entry.at("shapley_values"));
    const Tolerance tolerance = enumerated(entry.at("players").get<int>(), largest(table));
    const std::vector<double> ours = shapley_values_of_table(table);
    EXPECT_EQ("", mismatch(expected, ours, tolerance)) << title(entry);
    EXPECT_EQ("", mismatch(numbers(entry.at("shapiq")), ours, tolerance)) << title(entry);
  }
}

TEST(ShapiqExactComputer, AgreesOnSumsOfUnanimityGames) {
  int found = 0;
  for (const Json& entry : cases("exact")) {
    if (!entry.contains("terms")) continue;
    ++found;
    const int players = entry.at("players").get<int>();
    std::vector<UnanimityTerm> terms;
    double scale = 0;
    for (const Json& term : entry.at("terms")) {
      Coalitions row(players);
      golden::append(row, term.at("coalition").get<std::string>());
      terms.push_back({.coalition = {}, .coefficient = term.at("coefficient").get<double>()});
      for (int player = 0; player < players; ++player)
        if (row.contains(0, player)) terms.back().coalition.push_back(player);
      scale += std::abs(terms.back().coefficient);
    }
    const auto game = unanimity_sum(players, terms);
    const std::vector<double> expected = numbers(entry.at("shapley_values"));
    EXPECT_EQ("", mismatch(expected, game->shapley_values(), enumerated(players, scale)));
    EXPECT_EQ("", mismatch(expected, shapley_values_of_table(as_table(*game).values), enumerated(players, scale)));
  }
  EXPECT_EQ(1, found);
}

/// The interior rows of a case, equal weights next to each other.
struct Rows {
  Coalitions coalitions;
  std::vector<double> weights, gains;  ///< v(S) − v(∅)
  double gain = 0;                     ///< v(N) − v(∅)

  explicit Rows(const Json& entry) : coalitions(entry.at("players").get<int>()) {
    const Coalitions stored = golden::coalitions(coalitions.players(), entry.at("coalitions"));
    const std::vector<double> stored_weights = numbers(entry.at("weights")), values = numbers(entry.at("values"));
    const double empty = entry.at("empty").get<double>();
    gain = entry.at("grand").get<double>() - empty;
    std::vector<std::size_t> order(stored.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t row) { return stored_weights[row]; });
    for (const std::size_t row : order) {
      coalitions.append(stored.row(row));
      weights.push_back(stored_weights[row]);
      gains.push_back(values[row] - empty);
    }
  }

  /// Least squares with the sum of the values held at the gain of N.
  std::vector<double> regression() const {
    const double share = gain / coalitions.players();
    std::vector<double> targets = gains;
    for (std::size_t row = 0; row < targets.size(); ++row) targets[row] -= share * coalitions.cardinality(row);
    std::vector<double> values = KernelRegression(coalitions, weights, "golden").fit(targets);
    for (double& value : values) value += share;
    return values;
  }
};

/// The condition numbers of these systems are below 1e3, and the oracle solves normal equations in double precision.
Tolerance solved(const std::vector<double>& values) { return rounding(1e5, largest(values)); }

TEST(ShapiqKernelShap, IsTheConstrainedRegressionButForItsSoftEfficiency) {
  for (const Json& entry : cases("kernel_shap")) {
    const std::vector<double> ours = Rows(entry).regression(), constrained = numbers(entry.at("constrained")),
                              theirs = numbers(entry.at("shapiq"));
    EXPECT_EQ("", mismatch(constrained, ours, solved(constrained))) << title(entry);
    // shapiq gives the grand coalition the weight 1e8 where the other rows weigh about 1: a defect of 1e-8, and a matrix of condition number about 1e8 n.
    EXPECT_EQ("", mismatch(theirs, ours, rounding(1e10, largest(theirs)))) << title(entry);
  }
}

TEST(ShapiqKernelShap, AtFullBudgetIsExact) {
  int found = 0;
  for (const Json& entry : cases("kernel_shap")) {
    if (!entry.at("full").get<bool>()) continue;
    ++found;
    const Rows rows(entry);
    std::vector<double> table(rows.coalitions.size() + 2, 0.0);
    table.back() = rows.gain;
    for (std::size_t row = 0; row < rows.gains.size(); ++row) table[rows.coalitions.row(row)[0]] = rows.gains[row];
    EXPECT_EQ("", mismatch(numbers(entry.at("constrained")), shapley_values_of_table(table),
                           enumerated(rows.coalitions.players(), largest(table))));
  }
  EXPECT_EQ(3, found);
}

TEST(ShapiqSampler, TakesTheSameSizesWhole) {
  for (const Json& entry : cases("enumerated_sizes")) {
    const int players = entry.at("players").get<int>();
    auto budget = entry.at("budget").get<std::int64_t>();
    if (players < 62) budget = std::min(budget, std::int64_t{1} << players);
    const std::vector<int> sizes = enumerated_sizes(players, budget - 2);
    EXPECT_EQ(entry.at("enumerated").get<std::vector<int>>(), sizes) << title(entry);

    const KernelLaw law(players);
    double mass = 0;
    for (int size = 1; size < players; ++size) mass += std::ranges::count(sizes, size) ? 0 : law.probability(size);
    std::vector<double> ours;
    for (const int size : entry.at("sampled").get<std::vector<int>>()) ours.push_back(law.probability(size) / mass);
    EXPECT_EQ("", mismatch(numbers(entry.at("law")), ours, rounding(4.0 * players, 1))) << title(entry);
  }
}

TEST(ShapiqPermutationSampling, AgreesOnTheSameOrderings) {
  for (const Json& entry : cases("permutation")) {
    const std::vector<double> table = numbers(entry.at("values"));
    const auto orderings = entry.at("orderings").get<std::vector<std::vector<int>>>();
    const auto game = table_game(entry.at("players").get<int>(), table);
    CountedGame counted(*game, {static_cast<std::int64_t>(table.size())});
    const Attribution ours =
        mean_marginal_contributions(counted, OrderingUnit::single, static_cast<std::int64_t>(orderings.size()),
                                    [&](std::int64_t index, std::span<int> ordering) {
                                      std::ranges::copy(orderings[static_cast<std::size_t>(index)], ordering.begin());
                                    });
    EXPECT_EQ("", mismatch(numbers(entry.at("shapiq")), ours.values,
                           rounding(4.0 * static_cast<double>(orderings.size()), largest(table))))
        << title(entry);
  }
}

}  // namespace
}  // namespace opshap
