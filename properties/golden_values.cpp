// Our code beside shapiq 1.8 on the same coalitions, weights and orderings, and beside rational arithmetic, mpmath and
// numpy: closed forms, the kernel of many players, quadratures, scores (reference_data/shapiq.md).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/coalitions.hpp"
#include "core/estimator.hpp"
#include "core/game.hpp"
#include "estimators/boosted_trees.hpp"
#include "estimators/coalition_sampler.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/exact.hpp"
#include "estimators/msr.hpp"
#include "estimators/odd_shap.hpp"
#include "estimators/orderings.hpp"
#include "estimators/poly_shap.hpp"
#include "estimators/registry.hpp"
#include "estimators/sample_regression.hpp"
#include "games/burgers_game.hpp"
#include "games/classic_games.hpp"
#include "games/kinked_functions.hpp"
#include "games/measure.hpp"
#include "games/smooth_functions.hpp"
#include "games/table_game.hpp"
#include "games/unanimity.hpp"
#include "metrics/registry.hpp"
#include "support/generators.hpp"
#include "support/golden.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using estimators::shapley_values_of_table;
using golden::cases;
using golden::Json;
using golden::numbers;
using golden::title;

/// Rounding of a sum over the coalitions of n players that is added up in pairs.
Tolerance enumerated(int players, double scale) { return rounding(64.0 * players, scale); }

std::vector<int> members(const Coalitions& coalitions, std::size_t row) {
  std::vector<int> found;
  for (int player = 0; player < coalitions.players(); ++player)
    if (coalitions.contains(row, player)) found.push_back(player);
  return found;
}

TEST(ShapiqExactComputer, AgreesWithTheEnumeration) {
  for (const Json& entry : cases("exact", "values")) {
    const std::vector<double> table = numbers(entry.at("values")), expected = numbers(entry.at("shapley_values"));
    const Tolerance tolerance = enumerated(entry.at("players").get<int>(), largest(table));
    const std::vector<double> ours = shapley_values_of_table(table);
    EXPECT_EQ("", mismatch(expected, ours, tolerance)) << title(entry);
    EXPECT_EQ("", mismatch(numbers(entry.at("shapiq")), ours, tolerance)) << title(entry);
  }
}

TEST(ShapiqExactComputer, AgreesOnSumsOfUnanimityGames) {
  const std::vector<Json> sums = cases("exact", "terms");
  EXPECT_EQ(1u, sums.size());
  for (const Json& entry : sums) {
    const int players = entry.at("players").get<int>();
    std::vector<games::UnanimityTerm> terms;
    double scale = 0;
    for (const Json& term : entry.at("terms")) {
      Coalitions row(players);
      golden::append(row, term.at("coalition").get<std::string>());
      terms.push_back({.coalition = members(row, 0), .coefficient = term.at("coefficient").get<double>()});
      scale += std::abs(terms.back().coefficient);
    }
    const auto game = games::unanimity_sum(players, terms);
    const std::vector<double> expected = numbers(entry.at("shapley_values"));
    EXPECT_EQ("", mismatch(expected, game->shapley_values(), enumerated(players, scale)));
    EXPECT_EQ("", mismatch(expected, shapley_values_of_table(as_table(*game).values), enumerated(players, scale)));
  }
}

/// The rows of a case as a sample that was drawn, and the game that is known on them.
class Rows final : public Game {
 public:
  explicit Rows(const Json& entry)
      : sample(entry.at("players").get<int>()),
        gain(entry.at("grand").get<double>() - entry.at("empty").get<double>()),
        empty_(entry.at("empty").get<double>()) {
    const Coalitions stored = golden::coalitions(players(), entry.at("coalitions"));
    const std::vector<double> weights = numbers(entry.at("weights")), values = numbers(entry.at("values"));
    order.resize(stored.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t row) { return weights[row]; });
    for (const std::size_t row : order) {
      sample.coalitions.append(stored.row(row));
      sample.weights.push_back(weights[row]);
      gains.push_back(values[row] - empty_);
      known_[{stored.row(row).begin(), stored.row(row).end()}] = values[row];
    }
  }

  int players() const override { return sample.coalitions.players(); }
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> result;
    for (std::size_t row = 0; row < coalitions.size(); ++row) {
      const int size = coalitions.cardinality(row);
      const auto members = coalitions.row(row);
      result.push_back(size == 0           ? empty_
                       : size == players() ? empty_ + gain
                                           : known_.at({members.begin(), members.end()}));
    }
    return result;
  }

  /// The least-squares fit of our regressions.
  std::vector<double> regression() const {
    CountedGame counted(*this, {static_cast<std::int64_t>(gains.size()) + 2});
    return estimators::fit_sample(counted, sample, "golden").values;
  }
  /// Δ/n and the mean over the sample that our unbiased estimators take.
  std::vector<double> reuse() const {
    std::vector<double> result = estimators::reuse_sample(sample, gains);
    for (double& value : result) value += gain / players();
    return result;
  }

  estimators::CoalitionSample sample;
  double gain;                     ///< v(N) − v(∅)
  std::vector<double> gains;       ///< v(S) − v(∅) of each row
  std::vector<std::size_t> order;  ///< which one of the case's rows each row is

 private:
  double empty_;
  std::map<std::vector<std::uint64_t>, double> known_;
};

/// The condition numbers of these systems are below 1e3, and the oracles solve normal equations in double precision.
Tolerance solved(const std::vector<double>& values) { return rounding(1e5, largest(values)); }

TEST(ShapiqKernelShap, IsTheConstrainedRegressionButForItsSoftEfficiency) {
  for (const Json& entry : cases("kernel_shap")) {
    const std::vector<double> ours = Rows(entry).regression(), constrained = numbers(entry.at("constrained")),
                              theirs = numbers(entry.at("shapiq"));
    EXPECT_EQ("", mismatch(constrained, ours, solved(constrained))) << title(entry);
    // shapiq gives the grand coalition the weight 1e8 where the other rows weigh about 1: a defect of 1e-8, and a
    // matrix of condition number about 1e8 n.
    EXPECT_EQ("", mismatch(theirs, ours, rounding(1e10, largest(theirs)))) << title(entry);
  }
}

TEST(ShapiqKernelShap, AtFullBudgetIsExact) {
  int found = 0;
  for (const Json& entry : cases("kernel_shap")) {
    if (!entry.at("full").get<bool>()) continue;
    ++found;
    const Rows rows(entry);
    const std::vector<double> table = as_table(rows).values;
    EXPECT_EQ("", mismatch(numbers(entry.at("constrained")), shapley_values_of_table(table),
                           enumerated(rows.players(), largest(table))));
  }
  EXPECT_EQ(3, found);
}

TEST(ShapiqLeverageShap, AgreesOnTheSameRows) {
  const std::vector<Json> with_rows = cases("leverage_shap", "coalitions");
  EXPECT_EQ(4u, with_rows.size());
  for (const Json& entry : with_rows) {
    const std::vector<double> expected = numbers(entry.at("shapiq"));
    EXPECT_EQ("", mismatch(expected, Rows(entry).regression(), solved(expected))) << title(entry);
  }
}

TEST(ShapiqLeverageShap, TakesAsManyCoalitionsOfEachSize) {
  int compared = 0;
  for (const Json& entry : cases("leverage_shap", "per_size")) {
    const auto expected = entry.at("per_size").get<std::vector<std::int64_t>>();
    // Without a coalition of some size nothing is known of it; ours takes one, or refuses.
    if (std::ranges::count(expected, 0) != 0) continue;
    ++compared;
    const int players = entry.at("players").get<int>();
    const std::vector<std::int64_t> ours =
        estimators::size_counts(estimators::SizeLaw(estimators::SizeMass::uniform, players),
                                entry.at("budget").get<std::int64_t>() - 2, estimators::Pairing::complements);
    EXPECT_EQ(expected, std::vector<std::int64_t>(ours.begin() + 1, ours.end() - 1)) << title(entry);
  }
  EXPECT_GE(compared, 12);
}

TEST(ShapiqUnbiasedKernelShap, IsTheMeanOverTheSameRows) {
  int found = 0;
  for (const Json& entry : cases("monte_carlo")) {
    if (entry.at("method") == "svarm") continue;  // shapiq's strata are not those of the published algorithm
    ++found;
    const std::vector<double> expected = numbers(entry.at("shapiq"));
    const auto rows = static_cast<double>(entry.at("coalitions").size());
    EXPECT_EQ("", mismatch(expected, Rows(entry).reuse(), rounding(64 * rows, largest(expected)))) << title(entry);
  }
  EXPECT_GE(found, 10);
}

TEST(ShapiqOddShap, AgreesOnTheSameTermsAndRows) {
  for (const Json& entry : cases("odd_shap")) {
    const Rows rows(entry);
    std::vector<estimators::Term> terms;
    const Coalitions support = golden::coalitions(rows.players(), entry.at("support"));
    for (std::size_t row = 0; row < support.size(); ++row) terms.push_back(members(support, row));
    const std::vector<double> coefficients =
        estimators::fit_terms(rows.sample, rows.gains, rows.gain, terms, estimators::TermBasis::odd_common, "golden")
            .coefficients;
    const std::vector<double> ours = estimators::shapley_values_of_terms(rows.players(), terms, coefficients),
                              expected = numbers(entry.at("shapiq"));
    EXPECT_EQ("", mismatch(expected, ours, solved(expected))) << title(entry);
  }
}

/// The model of a case, as XGBoost 3 writes it.
estimators::BoostedTrees model(const Json& entry) {
  return estimators::BoostedTrees::parse(entry.at("players").get<int>(), entry.at("model").dump(), "golden");
}

/// Leaves are stored, and added up by XGBoost and shapiq, as float32: 29 bits fewer than a double.
Tolerance single(double operations, double scale) { return rounding(std::ldexp(operations, 29), scale); }

TEST(ShapiqTrees, HaveTheShapleyValuesOfTheirPredictions) {
  for (const Json& entry : cases("trees")) {
    const estimators::BoostedTrees trees = model(entry);
    const std::vector<double> values = numbers(entry.at("values")), expected = numbers(entry.at("shapley_values"));
    std::vector<double> ours = as_table(trees).values;
    // The stored values leave the base score out, which no Shapley value depends on.
    const double base = ours.front() - values.front();
    for (double& value : ours) value -= base;
    const Tolerance tolerance = enumerated(trees.players(), largest(values));
    EXPECT_EQ("", mismatch(values, ours, tolerance)) << title(entry);
    EXPECT_EQ("", mismatch(expected, trees.shapley_values(), tolerance)) << title(entry);
    if (!entry.at("shapiq").is_null()) {
      EXPECT_EQ("", mismatch(numbers(entry.at("shapiq")), trees.shapley_values(), single(4, largest(values))))
          << title(entry);
    }

    std::vector<estimators::Term> terms;
    std::vector<double> coefficients;
    for (const auto& [term, coefficient] : estimators::odd_spectrum(trees.leaves())) {
      terms.push_back(term);
      coefficients.push_back(-2 * coefficient);
    }
    EXPECT_EQ("",
              mismatch(expected, estimators::shapley_values_of_terms(trees.players(), terms, coefficients), tolerance))
        << title(entry);
  }
}

TEST(ShapiqRegressionMsr, TakesTheSameParts) {
  for (const Json& entry : cases("regression_msr")) {
    const Rows rows(entry);
    const int players = rows.players();
    std::vector<double> proxy = numbers(entry.at("proxy"));
    std::vector<double> predictions;  // above that of ∅, of the rows in our order, then of N
    if (entry.contains("model")) {
      const estimators::BoostedTrees trees = model(entry);
      const double rounds = 12;
      EXPECT_EQ("", mismatch(proxy, trees.shapley_values(), single(rounds, largest(proxy)))) << title(entry);
      const std::vector<double> theirs = numbers(entry.at("predictions"));
      const Coalitions stored = golden::coalitions(players, entry.at("coalitions"));
      EXPECT_EQ("", mismatch(theirs, trees.values(stored), single(rounds, largest(theirs)))) << title(entry);
      const double empty = entry.at("empty_prediction").get<double>();
      for (const std::size_t row : rows.order) predictions.push_back(theirs[row] - empty);
      predictions.push_back(entry.at("grand_prediction").get<double>() - empty);
    } else {
      Coalitions coalitions = rows.sample.coalitions;
      coalitions.append_grand();
      predictions = games::additive_game(proxy)->values(coalitions);
    }
    std::vector<double> residuals = rows.gains;
    for (std::size_t row = 0; row < residuals.size(); ++row) residuals[row] -= predictions[row];
    std::vector<double> correction = estimators::reuse_sample(rows.sample, residuals);
    for (double& value : correction) value += (rows.gain - predictions.back()) / players;
    const std::vector<double> expected = numbers(entry.at("correction")), total = numbers(entry.at("shapiq"));
    EXPECT_EQ("", mismatch(expected, correction, rounding(1e4, largest(rows.gains)))) << title(entry);
    for (int player = 0; player < players; ++player)
      proxy[static_cast<std::size_t>(player)] += correction[static_cast<std::size_t>(player)];
    EXPECT_EQ("", mismatch(total, proxy, single(16, largest(total)))) << title(entry);
  }
}

TEST(ShapiqSampler, TakesTheSameSizesWhole) {
  for (const Json& entry : cases("enumerated_sizes")) {
    const int players = entry.at("players").get<int>();
    auto budget = entry.at("budget").get<std::int64_t>();
    if (players < 62) budget = std::min(budget, std::int64_t{1} << players);
    const estimators::SizeLaw law(estimators::SizeMass::shapley_kernel, players);
    const std::vector<int> sizes = estimators::enumerated_sizes(law, budget - 2);
    EXPECT_EQ(entry.at("enumerated").get<std::vector<int>>(), sizes) << title(entry);

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
    const auto game = games::table_game(entry.at("players").get<int>(), table);
    CountedGame counted(*game, {static_cast<std::int64_t>(table.size())});
    const Attribution ours = estimators::mean_marginal_contributions(
        counted, estimators::OrderingUnit::single, static_cast<std::int64_t>(orderings.size()),
        [&](std::int64_t index, std::span<int> ordering) {
          std::ranges::copy(orderings[static_cast<std::size_t>(index)], ordering.begin());
        });
    EXPECT_EQ("", mismatch(numbers(entry.at("shapiq")), ours.values,
                           rounding(4.0 * static_cast<double>(orderings.size()), largest(table))))
        << title(entry);
  }
}

using Vector = std::vector<double>;

/// "3/8" or "-2".
double fraction(const std::string& text) {
  const std::size_t bar = text.find('/');
  return std::stod(text.substr(0, bar)) / (bar == std::string::npos ? 1 : std::stod(text.substr(bar + 1)));
}

Vector fractions(const Json& texts) {
  Vector result;
  for (const Json& text : texts) result.push_back(fraction(text.get<std::string>()));
  return result;
}

std::unique_ptr<SolvedGame> closed_form_game(const std::string& name, const Json& parameters) {
  const auto measure = [&](const char* key) { return games::Measure(fractions(parameters.at(key))); };
  if (name == "cube") return games::polynomial_of_measure(measure("weights"), {0, 0, 0, 1});
  if (name == "product") return games::bilinear_game({{measure("weights"), measure("other_weights")}});
  if (name == "powers") {
    Vector cells = fractions(parameters.at("weights"));
    for (double& cell : cells) cell = std::log1p(cell);
    return games::exponential_of_measure(games::Measure(cells), 1);
  }
  if (name == "airport") return games::airport_game(fractions(parameters.at("costs")));
  if (name == "gloves") return games::glove_market(parameters.at("owners").get<std::vector<int>>());
  if (name == "relu")
    return games::relu_of_measure(parameters.at("cells").get<std::vector<int>>(),
                                  parameters.at("threshold").get<double>());
  throw DataError("closed_forms.json: name=" + name + " (not a game of the test). Add it.");
}

TEST(ClosedForms, AreOursInRationalsAndWhatEnumerationGives) {
  int tables = 0;
  for (const Json& entry : cases("closed_forms")) {
    const auto game = closed_form_game(entry.at("name").get<std::string>(), entry.at("parameters"));
    const Vector expected = numbers(entry.at("shapley_values"));
    const double operations = 64.0 * game->players();
    EXPECT_EQ("", mismatch(expected, game->shapley_values(), rounding(operations, sum(expected)))) << title(entry);
    if (!entry.contains("values")) continue;
    const Vector table = numbers(entry.at("values"));
    ++tables;
    EXPECT_EQ("", mismatch(table, as_table(*game).values, rounding(operations, largest(table)))) << title(entry);
    EXPECT_EQ("", mismatch(expected, shapley_values_of_table(table), rounding(operations, largest(table))))
        << title(entry);
  }
  EXPECT_GE(tables, 8);
}

TEST(KernelLaw, HasTheProbabilitiesOfManyPlayers) {
  for (const Json& entry : cases("large_n")) {
    const int players = entry.at("players").get<int>();
    const double expected = entry.at("probability").get<double>();
    EXPECT_EQ("", mismatch(expected, KernelLaw(players).probability(entry.at("size").get<int>()),
                           rounding(4.0 * players, expected)))
        << title(entry);
  }
}

/// f on the diagonal a = (t, ..., t), by its gradient there.
class DiagonalGame final : public Game, public Extension {
 public:
  using Gradient = std::function<Vector(double t)>;
  DiagonalGame(double gain, const Gradient& gradient)
      : players_(static_cast<int>(gradient(0).size())), gain_(gain), gradient_(gradient) {}
  int players() const override { return players_; }
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    Vector result;
    for (std::size_t row = 0; row < coalitions.size(); ++row) {
      const int size = coalitions.cardinality(row);
      EXPECT_TRUE(size == 0 || size == players()) << "only the ends are known";
      result.push_back(size == 0 ? 0 : gain_);
    }
    return result;
  }
  const Extension* extension() const override { return this; }
  bool everywhere() const override { return false; }
  std::vector<double> gradients(std::span<const double> points) const override {
    Vector result;
    for (const double t : nodes_of_diagonal("golden", points, players()))
      for (const double entry : gradient_(t)) result.push_back(entry);
    return result;
  }

 private:
  int players_;
  double gain_;
  Gradient gradient_;
};

/// Of f(a) = c·a + (p·a)² + (q·a)³.
DiagonalGame::Gradient cubic(const Vector& c, const Vector& p, const Vector& q) {
  return [=](double t) {
    Vector result = c;
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] += 2 * sum(p) * t * p[i] + 3 * std::pow(sum(q) * t, 2) * q[i];
    return result;
  };
}

/// Of f(a) = r·tanh(Wa + b) − r·tanh(b).
DiagonalGame::Gradient network(const std::vector<Vector>& w, const Vector& b, const Vector& r) {
  return [=](double t) {
    Vector result(w.front().size(), 0.0);
    for (std::size_t unit = 0; unit < b.size(); ++unit) {
      const double slope = r[unit] * (1 - std::pow(std::tanh(sum(w[unit]) * t + b[unit]), 2));
      for (std::size_t i = 0; i < result.size(); ++i) result[i] += slope * w[unit][i];
    }
    return result;
  };
}

std::unique_ptr<Game> diagonal_game(const Json& entry) {
  const auto of = [&entry](const char* key) { return numbers(entry.at(key)); };
  return std::make_unique<DiagonalGame>(entry.at("gain").get<double>(),
                                        entry.at("name") == "cubic"
                                            ? cubic(of("c"), of("p"), of("q"))
                                            : network(entry.at("w").get<std::vector<Vector>>(), of("b"), of("r")));
}

TEST(IntegratedGradients, AgreeWithTheQuadraturesOfNumpy) {
  for (const Json& entry : cases("integrated_gradients")) {
    const auto game = diagonal_game(entry);
    for (const Json& quadrature : entry.at("quadratures")) {
      const auto estimator = estimators::integrated_gradients(
          estimators::find_rule(quadrature.at("rule").get<std::string>()), quadrature.at("nodes").get<int>());
      const Vector expected = numbers(quadrature.at("values"));
      EXPECT_EQ("", mismatch(expected, attribute(*estimator, *game, {2}, 1).values, rounding(1e3, largest(expected))))
          << title(entry) << " " << quadrature.at("rule") << " " << quadrature.at("nodes");
    }
  }
}

TEST(IntegratedGradients, ConvergeToTheIntegral) {
  for (const Json& entry : cases("integrated_gradients")) {
    const auto game = diagonal_game(entry);
    const Vector exact = numbers(entry.at("exact"));
    // With 64 nodes the rule is exact to rounding; the midpoint rule's error falls by 4 with twice the nodes.
    EXPECT_EQ("", mismatch(exact,
                           attribute(*integrated_gradients(estimators::Rule::gauss_legendre, 64), *game, {2}, 1).values,
                           rounding(1e3, largest(exact))));
    const auto midpoint_error = [&](int nodes) {
      Vector values = attribute(*integrated_gradients(estimators::Rule::midpoint, nodes), *game, {2}, 1).values;
      for (std::size_t i = 0; i < exact.size(); ++i) values[i] -= exact[i];
      return largest(values);
    };
    EXPECT_NEAR(4, midpoint_error(200) / midpoint_error(400), 0.01) << title(entry);
  }
}

/// Both undefined, or both the same number.
void expect_score(const Json& expected, const Measured& actual, const Tolerance& tolerance, const std::string& what) {
  ASSERT_EQ(!expected.is_null(), actual.value.has_value()) << what << " " << actual.why;
  if (!actual.value) return;
  EXPECT_EQ("", mismatch(expected.get<double>(), *actual.value, tolerance)) << what;
}

TEST(Scores, AgreeWithScipy) {
  for (const Json& entry : cases("metrics")) {
    const std::string what = title(entry);
    if (entry.contains("reference")) {
      const Vector reference = numbers(entry.at("reference")), estimate = numbers(entry.at("estimate"));
      // Values far from 0 lose digits when they are centred.
      const double operations = 64 * (1 + largest(reference));
      expect_score(entry.at("pearson"), metrics::pearson(reference, estimate), rounding(operations, 1), what);
      expect_score(entry.at("nrmse"), metrics::nrmse(reference, estimate), rounding(64, 10), what);
    } else if (entry.contains("weighted_r2")) {
      const Coalitions rows = golden::coalitions(entry.at("players").get<int>(), entry.at("coalitions"));
      expect_score(entry.at("weighted_r2"),
                   metrics::weighted_r2(numbers(entry.at("values")), rows, numbers(entry.at("gains"))),
                   rounding(1e3, 1), what);
    } else {
      Attribution attribution;
      attribution.values = numbers(entry.at("values"));
      attribution.empty = entry.at("empty").get<double>();
      attribution.grand = entry.at("grand").get<double>();
      expect_score(entry.at("efficiency_gap"), metrics::efficiency_gap(attribution), rounding(64, 1), what);
    }
  }
}

/// The case of reference_data/shapiq/operator_games.json with this name and number of players.
Json operator_game(const std::string& name, int players) {
  for (const Json& entry : cases("operator_games"))
    if (entry.at("name") == name && entry.at("players") == players) return entry;
  throw DataError("operator_games.json: name=" + name + " (not there). Make the file again.");
}

TEST(HeatEquation, IsRecoveredFromEightCoalitionsACellByMethodsThatAreExactOnAdditiveGames) {
  for (const int players : {16, 64, 256}) {
    const Vector expected = numbers(operator_game("heat", players).at("shapley_values"));
    const auto game = games::additive_game(expected, 0.75);
    int methods = 0;
    for (const auto& estimator : estimators::all()) {
      const Guarantees guarantees = estimator->guarantees();
      if (!guarantees.exact_on_additive || !guarantees.uses_budget() ||
          estimator->minimum(players).coalitions > 4 * players)
        continue;
      ++methods;
      // Differences of values of size 1, and systems with condition numbers below 1e3.
      EXPECT_EQ("", mismatch(expected, attribute(*estimator, *game, {8 * players}, 1).values, rounding(1e5, 1)))
          << estimator->name() << ", " << players << " players";
    }
    EXPECT_GE(methods, 4);
  }
}

TEST(HeatEquation, CellsOfACoarserPartitionAreSumsOfFinerOnes) {
  const Vector fine = numbers(operator_game("heat", 1024).at("shapley_values"));
  for (const int players : {16, 64, 256}) {
    Vector coarse(static_cast<std::size_t>(players), 0.0);
    for (std::size_t i = 0; i < fine.size(); ++i) coarse[i / (fine.size() / coarse.size())] += fine[i];
    EXPECT_EQ("", mismatch(numbers(operator_game("heat", players).at("shapley_values")), coarse, rounding(64, 1)));
  }
}

std::unique_ptr<Game> burgers(const Json& entry) {
  return games::burgers_game({.edges = numbers(entry.at("edges")),
                              .heights = numbers(entry.at("heights")),
                              .viscosity = entry.at("nu").get<double>(),
                              .time = entry.at("time").get<double>(),
                              .query = entry.at("place").get<double>()});
}

/// Exponents up to 20 or so lose as many units of rounding.
Tolerance of_exponentials(const Vector& values) { return rounding(1e3, largest(values)); }

TEST(BurgersEquation, HasTheValuesAndShapleyValuesOfMpmath) {
  const Json entry = operator_game("burgers", 10);
  const Vector table = numbers(entry.at("values")), expected = numbers(entry.at("shapley_values"));
  EXPECT_EQ("", mismatch(expected, shapley_values_of_table(table), rounding(64.0 * 10, largest(table))));
  const auto game = burgers(entry);
  EXPECT_EQ("", mismatch(table, as_table(*game).values, of_exponentials(table)));
  EXPECT_EQ("", mismatch(expected, attribute(estimators::find("exact"), *game, {0}, 1).values, of_exponentials(table)));
}

TEST(BurgersEquation, HasTheGradientsAndAumannShapleyValuesOfMpmath) {
  const Json entry = operator_game("burgers", 10);
  const auto game = burgers(entry);
  const Vector ours = game->extension()->gradients(on_diagonal(numbers(entry.at("nodes")), game->players()));
  Vector expected;
  for (const Json& row : entry.at("gradients"))
    for (const double slope : numbers(row)) expected.push_back(slope);
  EXPECT_EQ("", mismatch(expected, ours, of_exponentials(expected)));

  const Vector values = numbers(entry.at("aumann_shapley"));
  const Attribution attribution = attribute(*integrated_gradients(estimators::Rule::gauss_legendre, 40), *game, {2}, 1);
  EXPECT_EQ("", mismatch(values, attribution.values, of_exponentials(values)));
  EXPECT_NEAR(0, attribution.efficiency_gap(), of_exponentials(values).bound);
}

}  // namespace
}  // namespace opshap
