// Our code beside rational arithmetic, mpmath and numpy (reference_data/shapiq.md): closed forms, the kernel of many
// players, quadratures, scores.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/coalitions.hpp"
#include "core/estimator.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/exact.hpp"
#include "estimators/registry.hpp"
#include "games/burgers_game.hpp"
#include "games/classic_games.hpp"
#include "games/kinked_functions.hpp"
#include "games/measure.hpp"
#include "games/smooth_functions.hpp"
#include "games/unanimity.hpp"
#include "metrics/registry.hpp"
#include "support/generators.hpp"
#include "support/golden.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using golden::cases;
using golden::Json;
using golden::numbers;
using golden::title;
using Vector = std::vector<double>;

double sum(const Vector& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

TEST(ClosedForms, AreWhatEnumerationGives) {
  int found = 0;
  for (const Json& entry : cases("closed_forms")) {
    if (!entry.contains("values")) continue;
    ++found;
    const Vector table = numbers(entry.at("values"));
    EXPECT_EQ("", mismatch(numbers(entry.at("shapley_values")), estimators::shapley_values_of_table(table),
                           rounding(64.0 * entry.at("players").get<int>(), largest(table))))
        << title(entry);
  }
  EXPECT_GE(found, 8);
}

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
  if (name == "cube")
    return games::polynomial_of_measure(games::Measure(fractions(parameters.at("weights"))), {0, 0, 0, 1});
  if (name == "product") {
    return games::bilinear_game({{games::Measure(fractions(parameters.at("weights"))),
                                  games::Measure(fractions(parameters.at("other_weights")))}});
  }
  if (name == "powers") {
    Vector cells = fractions(parameters.at("weights"));
    for (double& cell : cells) cell = std::log1p(cell);
    return games::exponential_of_measure(games::Measure(cells), 1);
  }
  if (name == "airport") return games::airport_game(fractions(parameters.at("costs")));
  if (name == "gloves") return games::glove_market(parameters.at("owners").get<std::vector<int>>());
  if (name == "relu") {
    return games::relu_of_measure(parameters.at("cells").get<std::vector<int>>(),
                                  parameters.at("threshold").get<double>());
  }
  throw DataError("closed_forms.json: name=" + name + " (not a game of the test). Add it.");
}

TEST(ClosedForms, AreOursInRationals) {
  for (const Json& entry : cases("closed_forms")) {
    const auto game = closed_form_game(entry.at("name").get<std::string>(), entry.at("parameters"));
    const Vector expected = numbers(entry.at("shapley_values"));
    const double operations = 64.0 * game->players();
    EXPECT_EQ("", mismatch(expected, game->shapley_values(), rounding(operations, sum(expected)))) << title(entry);
    if (!entry.contains("values")) continue;
    const Vector table = numbers(entry.at("values"));
    EXPECT_EQ("", mismatch(table, as_table(*game).values, rounding(operations, largest(table)))) << title(entry);
  }
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
class DiagonalGame : public DifferentiableGame {
 public:
  explicit DiagonalGame(const Json& entry) : gain_(entry.at("gain").get<double>()) {}
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    Vector result;
    for (std::size_t row = 0; row < coalitions.size(); ++row) {
      const int size = coalitions.cardinality(row);
      EXPECT_TRUE(size == 0 || size == players()) << "only the ends are known";
      result.push_back(size == 0 ? 0 : gain_);
    }
    return result;
  }
  std::vector<double> diagonal_gradients(std::span<const double> nodes) const override {
    Vector result;
    for (const double t : nodes)
      for (const double entry : gradient(t)) result.push_back(entry);
    return result;
  }

 private:
  virtual Vector gradient(double t) const = 0;
  double gain_;
};

/// f(a) = c·a + (p·a)² + (q·a)³.
class CubicGame final : public DiagonalGame {
 public:
  explicit CubicGame(const Json& entry)
      : DiagonalGame(entry), c_(numbers(entry.at("c"))), p_(numbers(entry.at("p"))), q_(numbers(entry.at("q"))) {}
  int players() const override { return static_cast<int>(c_.size()); }

 private:
  Vector gradient(double t) const override {
    Vector result = c_;
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] += 2 * sum(p_) * t * p_[i] + 3 * std::pow(sum(q_) * t, 2) * q_[i];
    return result;
  }
  Vector c_, p_, q_;
};

/// f(a) = r·tanh(Wa + b) − r·tanh(b).
class NetworkGame final : public DiagonalGame {
 public:
  explicit NetworkGame(const Json& entry)
      : DiagonalGame(entry), w_(entry.at("w")), b_(numbers(entry.at("b"))), r_(numbers(entry.at("r"))) {}
  int players() const override { return static_cast<int>(w_.front().size()); }

 private:
  Vector gradient(double t) const override {
    Vector result(w_.front().size(), 0.0);
    for (std::size_t unit = 0; unit < b_.size(); ++unit) {
      const double slope = r_[unit] * (1 - std::pow(std::tanh(sum(w_[unit]) * t + b_[unit]), 2));
      for (std::size_t i = 0; i < result.size(); ++i) result[i] += slope * w_[unit][i];
    }
    return result;
  }
  std::vector<Vector> w_;
  Vector b_, r_;
};

std::unique_ptr<Game> diagonal_game(const Json& entry) {
  if (entry.at("name") == "cubic") return std::make_unique<CubicGame>(entry);
  return std::make_unique<NetworkGame>(entry);
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
      const Vector values = attribute(*integrated_gradients(estimators::Rule::midpoint, nodes), *game, {2}, 1).values;
      double error = 0;
      for (std::size_t i = 0; i < exact.size(); ++i) error = std::max(error, std::abs(values[i] - exact[i]));
      return error;
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

std::unique_ptr<DifferentiableGame> burgers(const Json& entry) {
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
  EXPECT_EQ("", mismatch(expected, estimators::shapley_values_of_table(table), rounding(64.0 * 10, largest(table))));
  const auto game = burgers(entry);
  EXPECT_EQ("", mismatch(table, as_table(*game).values, of_exponentials(table)));
  EXPECT_EQ("", mismatch(expected, attribute(estimators::find("exact"), *game, {0}, 1).values, of_exponentials(table)));
}

TEST(BurgersEquation, HasTheGradientsAndAumannShapleyValuesOfMpmath) {
  const Json entry = operator_game("burgers", 10);
  const auto game = burgers(entry);
  const Vector ours = game->diagonal_gradients(numbers(entry.at("nodes")));
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
