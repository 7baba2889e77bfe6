// Games whose values are known: closed forms against the definition, against each other, and against published numbers.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/gauss_legendre.hpp"
#include "estimators/registry.hpp"
#include "games/burgers_game.hpp"
#include "games/classic_games.hpp"
#include "games/kinked_functions.hpp"
#include "games/registry.hpp"
#include "games/smooth_functions.hpp"
#include "games/table_game.hpp"
#include "games/unanimity.hpp"
#include "support/for_all.hpp"
#include "support/generators.hpp"
#include "support/oracles.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using games::Limit;

std::unique_ptr<Game> instance(const games::Kind& kind, int players, std::uint64_t item) {
  Rng rng(11, kind.name, static_cast<std::uint32_t>(players), item);
  return kind.random(players, rng);
}

/// Calls check(kind, game) with the kinds that have closed forms.
template <typename Check>
void for_every_solved_kind(int players, std::uint64_t item, const Check& check) {
  for (const games::Kind& kind : games::all()) {
    if (kind.random == nullptr || (players > 20 && kind.name == "table_game")) continue;
    const auto game = instance(kind, players, item);
    if (const auto* solved = dynamic_cast<const SolvedGame*>(game.get())) check(kind, *solved);
  }
}

double grand_minus_empty(const Game& game) {
  Coalitions ends(game.players());
  ends.append_empty();
  ends.append_grand();
  const std::vector<double> values = game.values(ends);
  return values[1] - values[0];
}

TEST(SolvedGames, ClosedFormsAreTheTextbookSums) {
  for_all([] {
    const int players = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(1, 13));
    const auto item = static_cast<std::uint64_t>(*rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, 1000000)));
    for_every_solved_kind(players, item, [&](const games::Kind& kind, const SolvedGame& game) {
      const Table table = as_table(game);
      RC_TAG(kind.name);
      RC_ASSERT(
          mismatch(textbook_shapley_values(table), game.shapley_values(), rounding(64 * players, table.scale())) == "");
    });
  });
}

TEST(SolvedGames, ClosedFormsAreWhatAllCoalitionsOfSixteenPlayersGive) {
  for (std::uint64_t item = 0; item < 2; ++item)
    for_every_solved_kind(16, item, [](const games::Kind& kind, const SolvedGame& game) {
      const Attribution found = attribute(estimators::find("exact"), game, {0}, 1);
      EXPECT_EQ("", mismatch(found.values, game.shapley_values(), rounding(64 * 16, as_table(game).scale())))
          << kind.name;
    });
}

TEST(SolvedGames, BothValuesAddUpToGrandMinusEmptyValueForHundredsOfPlayers) {
  for (const int players : {100, 300})
    for_every_solved_kind(players, 0, [&](const games::Kind& kind, const SolvedGame& game) {
      const double gain = grand_minus_empty(game);
      // A sum of n values, each the sum of n/2 quadrature nodes.
      const Tolerance tolerance = rounding(players * players, 1 + largest(game.shapley_values()) + std::abs(gain));
      EXPECT_EQ("", mismatch(gain, sum(game.shapley_values()), tolerance)) << kind.name << " n=" << players;
      if (const auto smooth = game.aumann_shapley_values()) {
        EXPECT_EQ("", mismatch(gain, sum(*smooth), tolerance)) << kind.name << " n=" << players;
      }
    });
}

// ½ ∫(1−2t) g(t) dt and the other terms of the leading error sum to the error of the total, which is 0.
TEST(SolvedGames, DiscretisationErrorsAddUpToNothing) {
  for_every_solved_kind(24, 3, [&](const games::Kind& kind, const SolvedGame& game) {
    if (const auto errors = game.discretisation_error()) {
      EXPECT_EQ("", mismatch(0, sum(*errors), rounding(1e3, 1 + largest(*errors)))) << kind.name;
    }
  });
}

TEST(SolvedGames, DeclareTheirLargestInteraction) {
  constexpr int players = 8;
  for (const games::Kind& kind : games::all()) {
    if (kind.random == nullptr) continue;
    int found = 0;
    for (std::uint64_t item = 0; item < 8; ++item) {
      const Table table = as_table(*instance(kind, players, item)), coefficients = moebius_coefficients(table);
      // Differences of 2^|T| values.
      const double nothing = rounding(std::pow(2, players), table.scale()).bound;
      for (std::size_t mask = 0; mask < coefficients.values.size(); ++mask)
        if (std::abs(coefficients.values[mask]) > nothing) found = std::max(found, std::popcount(mask));
    }
    const int declared = kind.properties.interaction_order;
    if (declared == 0)
      EXPECT_GT(found, 5) << kind.name << " could declare a bound";
    else
      EXPECT_EQ(declared, found) << kind.name;
  }
}

TEST(SolvedGames, HaveAnAumannShapleyValueWhereTheyConvergeToOne) {
  for (const games::Kind& kind : games::all()) {
    const Limit limit = kind.properties.limit;
    if (limit == Limit::not_refined || limit == Limit::atom)
      continue;  // additive games and multilinear extensions have one, tables do not
    EXPECT_EQ(limit == Limit::aumann_shapley, games::known_of(kind).aumann_shapley) << kind.name;
  }
}

TEST(SolvedGames, AreFoundByNameAndSuggestTheNearestOne) {
  EXPECT_EQ("glove_market", games::find("glove_market").name);
  EXPECT_TRUE(has(refusal<InvalidArgument>([&] { games::find("glove_marked"); }), "Did you mean glove_market?"));
}

// All coalitions of three players, {}, 0, 1, 01, 2, 02, 12, 012: μ is 0, 1, 2, 3, 4, 5, 6, 7.
TEST(SolvedGames, ValueCoalitionsByTheirDefinitions) {
  using Values = std::vector<double>;
  const auto values = [](const std::unique_ptr<SolvedGame>& game) { return as_table(*game).values; };
  const games::Measure mu({1, 2, 4}), nu({3, -1, 1});
  EXPECT_EQ((Values{5, 6, 9, 14, 21, 30, 41, 54}), values(games::polynomial_of_measure(mu, {5, 0, 1})));
  EXPECT_EQ((Values{0, 3, -2, 6, 4, 20, 0, 21}), values(games::product_of_measures({mu, nu})));
  EXPECT_EQ((Values{0, 4, 2, 15, 20, 45, 36, 70}), values(games::bilinear_game({{mu, nu}, {mu, mu}})));
  EXPECT_EQ((Values{0, 0, 0, 0.5, 1.5, 2.5, 3.5, 4.5}), values(games::relu_of_measure({1, 2, 4}, 2.5)));
  EXPECT_EQ((Values{0, 0, 0, 1, 1, 1, 1, 1}), values(games::weighted_voting({1, 2, 4}, 3)));
  EXPECT_EQ((Values{0, 1, 0, 1, 0, 1, 0, 0}), values(games::sign_of_measure({3, -1, -2})));
  EXPECT_EQ((Values{0, 1, 2, 3, 1, 3, 5, 7}), values(games::minimum_of_measures(mu, games::Measure({2, 4, 1}))));
  EXPECT_EQ((Values{0, 0, 0, 0, 0, 0, 0, 3}), values(games::unanimity_game(3, 3)));
  EXPECT_EQ((Values{0, 1, 5, 5, 2, 2, 5, 5}), values(games::airport_game({1, 5, 2})));
  EXPECT_EQ((Values{0, 0, 0, 0, 0, 0.5, 0.5, 1}), values(games::glove_market({2, 1})));
  EXPECT_EQ((Values{1, 1, 4, 4, 1, 1, 4, 4}), values(games::point_mass_game(3, 1, 3, 1)));
  Values growth, wave;
  for (int x = 0; x < 8; ++x) {
    growth.push_back(std::exp(0.5 * x) - 1);
    wave.push_back(std::cos(2.0 * x) - 1);
  }
  EXPECT_EQ("", mismatch(growth, values(games::exponential_of_measure(mu, 0.5)), rounding(8, largest(growth))));
  EXPECT_EQ("", mismatch(wave, values(games::exponential_of_measure(mu, std::complex<double>{0, 2})), rounding(8, 2)));
}

TEST(SolvedGames, HaveTheirPublishedValues) {
  const Tolerance tolerance = rounding(64, 1), eight_digits{5e-9, "discretisation"};
  EXPECT_EQ("", mismatch({.11, .21, .30, .38},
                         games::polynomial_of_measure(games::Measure({.1, .2, .3, .4}), {0, 0, 0, 1})->shapley_values(),
                         tolerance));
  EXPECT_EQ("",
            mismatch({1.0 / 3, 5.0 / 6, 11.0 / 6}, games::airport_game({1, 2, 3})->shapley_values(), rounding(64, 3)));
  const std::vector<double> gloves = games::glove_market({4, 8, 16})->shapley_values();
  EXPECT_EQ("",
            mismatch({.37795832, .32292159, .29912008}, {4 * gloves[0], 8 * gloves[4], 16 * gloves[12]}, eight_digits));
  // The United Nations Security Council: 5 permanent members with 7 votes, 10 others with 1, quota 39 (the values are
  // 421/2145 and 4/2145).
  const auto council = games::weighted_voting({7, 7, 7, 7, 7, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 39)->shapley_values();
  EXPECT_EQ("", mismatch({421.0 / 2145, 4.0 / 2145}, {council[0], council[14]}, tolerance));
}

TEST(SolvedGames, APowerOfAMeasureIsAProductOfTheMeasureWithItself) {
  Rng rng(5, "powers");
  const games::Measure measure = games::random_signed_measure(40, rng);
  for (std::size_t power = 1; power <= 6; ++power) {
    std::vector<double> coefficients(power + 1, 0.0);
    coefficients[power] = 1;
    const auto polynomial = games::polynomial_of_measure(measure, coefficients);
    const auto product = games::product_of_measures(std::vector<games::Measure>(power, measure));
    EXPECT_EQ("", mismatch(polynomial->shapley_values(), product->shapley_values(), rounding(1e4, 1)));
    EXPECT_EQ("", mismatch(*polynomial->aumann_shapley_values(), *product->aumann_shapley_values(), rounding(1e3, 1)));
    EXPECT_EQ("", mismatch(*polynomial->discretisation_error(), *product->discretisation_error(), rounding(1e3, 1)));
  }
}

TEST(SolvedGames, AProductOfTwoMeasuresIsBilinear) {
  Rng rng(6, "products");
  const games::Measure first = games::random_signed_measure(50, rng), second = games::random_measure(50, rng);
  EXPECT_EQ("", mismatch(games::bilinear_game({{first, second}})->shapley_values(),
                         games::product_of_measures({first, second})->shapley_values(), rounding(1e4, 1)));
}

// v = q(S, S, S) has ψ_k = Σ_{jl} q(k,j,l) + ½ Σ_j (q(k,j,j) − q(k,k,j)): no other terms, so the leading error is all
// of it.
TEST(SolvedGames, TheDiscretisationErrorOfACubicFormIsAllOfTheDifference) {
  Rng rng(7, "cubic");
  std::vector<games::Measure> factors;
  for (int l = 0; l < 3; ++l) factors.push_back(games::random_signed_measure(30, rng));
  for (const auto& game :
       {games::product_of_measures(factors), games::polynomial_of_measure(factors[0], {1, 2, -3, 4})}) {
    std::vector<double> sums = *game->aumann_shapley_values();
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += (*game->discretisation_error())[k];
    EXPECT_EQ("", mismatch(game->shapley_values(), sums, rounding(1e4, 1)));
  }
}

TEST(SolvedGames, SumsOverIntegersAgreeWithPolynomialsAndExponentials) {
  Rng rng(8, "integers");
  std::vector<int> cells = games::random_integer_cells(60, 5, rng);
  for (std::size_t k = 0; k < cells.size(); k += 4) cells[k] = -cells[k];
  const games::Measure measure = games::measure_of_integers(cells, "test");
  const double unit = 1 / measure.total();
  const auto cube = [unit](double x) { return std::pow(x * unit, 3); };
  const auto growth = [unit](double x) { return std::expm1(x * unit); };
  EXPECT_EQ("", mismatch(games::polynomial_of_measure(measure, {0, 0, 0, unit * unit * unit})->shapley_values(),
                         games::shapley_values_on_integers(cells, cube), rounding(1e4, 1)));
  EXPECT_EQ("", mismatch(games::exponential_of_measure(measure, unit)->shapley_values(),
                         games::shapley_values_on_integers(cells, growth), rounding(1e4, 1)));
}

// Π (1+α_k) − 1 by its dividends Π_{k∈T} α_k, each shared equally.
TEST(SolvedGames, ExponentialsAreProductsOfFactors) {
  const std::vector<double> alphas = {0.5, -0.25, 1, 3, -0.5};
  std::vector<double> logarithms;
  for (const double alpha : alphas) logarithms.push_back(std::log1p(alpha));
  const auto game = games::exponential_of_measure(games::Measure(logarithms), 1);
  std::vector<double> expected(alphas.size(), 0.0);
  for (std::size_t mask = 1; mask < 32; ++mask) {
    double dividend = 1;
    for (std::size_t k = 0; k < alphas.size(); ++k) dividend *= mask >> k & 1 ? alphas[k] : 1;
    for (std::size_t k = 0; k < alphas.size(); ++k) expected[k] += mask >> k & 1 ? dividend / std::popcount(mask) : 0;
  }
  EXPECT_EQ("", mismatch(expected, game->shapley_values(), rounding(1e3, 10)));
}

TEST(SolvedGames, ExponentialsOfThousandsOfPlayersNeedFewNodes) {
  Rng rng(9, "many");
  const std::complex<double> rate{2, 30};
  const auto game = games::exponential_of_measure(games::random_signed_measure(3000, rng), rate);
  EXPECT_EQ("", mismatch(grand_minus_empty(*game), sum(game->shapley_values()), rounding(1e4, 10)));
}

// |μ₁ − μ₂| = μ₁ + μ₂ − 2 min(μ₁, μ₂) is the same on complements, and worth nothing to anyone.
TEST(SolvedGames, TheDistanceOfTwoMeasuresOfOneTotalIsWorthNothing) {
  const games::Measure first({1, 2, 3, 4}), second({4, 4, 1, 1});
  const auto minimum = games::minimum_of_measures(first, second);
  const Table low = as_table(*minimum), one = as_table(*games::additive_game(first.cells())),
              other = as_table(*games::additive_game(second.cells()));
  EXPECT_EQ(
      "", mismatch(std::vector<double>(4, 0.0),
                   textbook_shapley_values(combination(1, combination(1, one, 1, other), -2, low)), rounding(64, 10)));
}

// A step is invisible to gradients: integrated gradients give 0 to all, though v(N) − v(∅) = 1.
TEST(SolvedGames, IntegratedGradientsOfAStepAreZero) {
  Rng rng(10, "step");
  const auto game = games::random_weighted_voting(20, rng);
  for (const char* name : {"integrated_gradients", "integrated_gradients_gauss_legendre"})
    EXPECT_EQ(std::vector<double>(20, 0.0), attribute(estimators::find(name), *game, {0}, 1).values);
  EXPECT_EQ(1, grand_minus_empty(*game));
}

/// The heat kernel of the circle [0, 1) after time κt, integrated over [from, to) and read at x: by images, or by
/// Fourier modes.
double heat_by_images(double x, double diffused, double from, double to) {
  double total = 0;
  for (int image = -8; image <= 8; ++image) {
    const double root = std::sqrt(4 * diffused);
    total += (std::erf((to + image - x) / root) - std::erf((from + image - x) / root)) / 2;
  }
  return total;
}
double heat_by_modes(double x, double diffused, double from, double to) {
  double total = to - from;
  for (int mode = 1; mode <= 60; ++mode) {
    const double k = 2 * std::numbers::pi * mode;
    total += 2 * std::exp(-diffused * k * k) * (std::sin(k * (to - x)) - std::sin(k * (from - x))) / k;
  }
  return total;
}

// The heat equation is linear, so every cell's Shapley value is what it alone contributes, at every n.
TEST(SolvedGames, TheHeatEquationIsAdditive) {
  constexpr double query = 0.3, diffused = 0.005;
  const auto field = [](double y) { return 1 + std::sin(2 * std::numbers::pi * y); };
  for (const int players : {16, 64, 1024}) {
    std::vector<double> images, modes;
    for (int k = 0; k < players; ++k) {
      const double from = static_cast<double>(k) / players, to = static_cast<double>(k + 1) / players;
      images.push_back(field(from) * heat_by_images(query, diffused, from, to));
      modes.push_back(field(from) * heat_by_modes(query, diffused, from, to));
    }
    const auto game = games::additive_game(modes);
    const Attribution found = attribute(estimators::find("permutation_antithetic"), *game, {2 * players}, 1);
    // Sums of up to n terms of size 1/n.
    EXPECT_EQ("", mismatch(images, found.values, rounding(16 * std::sqrt(players), 1))) << players;
  }
}

/// u(x, t) as Hopf (1950) writes it: ∫ ((x−y)/t) e^{−Φ/2ν} dy / ∫ e^{−Φ/2ν} dy, by adaptive quadrature between the
/// edges and beyond.
double hopf_solution(const games::BurgersProblem& problem, const std::vector<double>& heights) {
  const auto potential = [&](double y) {
    double integral = 0;
    for (std::size_t k = 0; k < heights.size(); ++k)
      integral += heights[k] * (std::clamp(y, problem.edges[k], problem.edges[k + 1]) - problem.edges[k]);
    return std::pow(problem.query - y, 2) / (2 * problem.time) + integral;
  };
  std::vector<double> ends = problem.edges;
  ends.insert(ends.begin(), ends.front() - 12);
  ends.push_back(ends.back() + 12);
  double numerator = 0, denominator = 0;
  for (std::size_t piece = 0; piece + 1 < ends.size(); ++piece) {
    const auto density = [&](double y) { return std::exp(-potential(y) / (2 * problem.viscosity)); };
    const auto moment = [&](double y) { return (problem.query - y) / problem.time * density(y); };
    using Rule = boost::math::quadrature::gauss_kronrod<double, 31>;
    numerator += Rule::integrate(moment, ends[piece], ends[piece + 1], 12, 1e-13);
    denominator += Rule::integrate(density, ends[piece], ends[piece + 1], 12, 1e-13);
  }
  return numerator / denominator;
}

games::BurgersProblem four_cells() {
  return {.edges = {0, 0.2, 0.5, 0.6, 1}, .heights = {1.5, -0.5, 2, 0.75}, .viscosity = 0.1, .time = 0.5, .query = 0.7};
}

TEST(BurgersGame, IsTheSolutionOfHopfAndCole) {
  const games::BurgersProblem problem = four_cells();
  std::vector<double> expected;
  for (std::size_t mask = 0; mask < 16; ++mask) {
    std::vector<double> heights = problem.heights;
    for (std::size_t k = 0; k < 4; ++k) heights[k] *= static_cast<double>(mask >> k & 1);
    expected.push_back(hopf_solution(problem, heights));
  }
  EXPECT_EQ("", mismatch(expected, as_table(*games::burgers_game(problem)).values, discretisation(1, 1e-11, 1)));
}

TEST(BurgersGame, HasTheGradientOfItsValues) {
  const games::BurgersProblem problem = four_cells();
  const auto game = games::burgers_game(problem);
  constexpr double step = 1e-5;
  for (const double t : {0.0, 0.3, 1.0}) {
    std::vector<double> differences;
    const auto grand = [&](std::size_t k, double by) {
      games::BurgersProblem moved = problem;
      for (std::size_t j = 0; j < 4; ++j) moved.heights[j] *= j == k ? t + by : t;
      return as_table(*burgers_game(moved)).grand();
    };
    for (std::size_t k = 0; k < 4; ++k) differences.push_back((grand(k, step) - grand(k, -step)) / (2 * step));
    EXPECT_EQ("", mismatch(differences, game->extension()->gradients(std::vector(4, t)), discretisation(10, step, 2)));
  }
}

TEST(BurgersGame, HasTheValuesComputedInThirtyDigits) {
  games::BurgersProblem problem{.edges = {}, .viscosity = 0.1, .time = 0.5, .query = 0.7};
  std::vector<double> shapley, smooth;
  for (const CsvRow& row : read_csv(std::filesystem::path(OPSHAP_SOURCE_DIR) / "reference_data/burgers_game.csv",
                                    {"from", "height", "shapley", "aumann_shapley"}, "# version 1;")) {
    problem.edges.push_back(row.number("from"));
    problem.heights.push_back(row.number("height"));
    shapley.push_back(row.number("shapley"));
    smooth.push_back(row.number("aumann_shapley"));
  }
  problem.edges.push_back(1);
  ASSERT_EQ(16u, shapley.size());
  const auto game = games::burgers_game(problem);
  EXPECT_EQ("", mismatch(shapley, attribute(estimators::find("exact"), *game, {0}, 1).values, rounding(200, 1)));
  EXPECT_EQ("",
            mismatch(smooth, attribute(estimators::find("integrated_gradients_gauss_legendre"), *game, {0}, 1).values,
                     rounding(200, 1)));
}

TEST(SolvedGames, RefuseWhatIsNotAGame) {
  using games::Measure;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(Measure({}), InvalidArgument);
  EXPECT_THROW(Measure({1, infinity}), InvalidArgument);
  EXPECT_THROW(Measure({1, 2}).inner_product(Measure({1})), InvalidArgument);
  EXPECT_THROW(games::bilinear_game({}), InvalidArgument);
  EXPECT_THROW(games::bilinear_game({{Measure({1}), Measure({1, 2})}}), InvalidArgument);
  EXPECT_THROW(games::minimum_of_measures(Measure({1, 2}), Measure({1, 1})), InvalidArgument);
  EXPECT_THROW(games::minimum_of_measures(Measure({1, 2}), Measure({3})), InvalidArgument);
  for (const auto& coefficients : {std::vector<double>{}, std::vector<double>(32, 1.0), {0, infinity}})
    EXPECT_THROW(games::polynomial_of_measure(Measure({1}), coefficients), InvalidArgument);
  for (const auto& factors :
       {std::vector<Measure>{}, std::vector<Measure>(9, Measure({1})), {Measure({1}), Measure({1, 2})}})
    EXPECT_THROW(games::product_of_measures(factors), InvalidArgument);
  for (const double rate : {infinity, 6.0})
    EXPECT_THROW(games::exponential_of_measure(Measure({1}), rate), InvalidArgument);
  EXPECT_THROW(games::relu_of_measure({1, 2}, infinity), InvalidArgument);
  EXPECT_THROW(games::relu_of_measure({}, 1), InvalidArgument);
  EXPECT_THROW(games::relu_of_measure({1, 2000000}, 1), InvalidArgument);
  EXPECT_THROW(games::weighted_voting(std::vector<int>(1000, 1000), 1), InvalidArgument);
  EXPECT_THROW(games::weighted_voting({1}, std::numeric_limits<double>::quiet_NaN()), InvalidArgument);
  EXPECT_THROW(games::sign_of_measure({1, 2}), InvalidArgument);
  EXPECT_THROW(games::unanimity_game(0, 1), InvalidArgument);
  EXPECT_THROW(games::unanimity_game(3, infinity), InvalidArgument);
  for (const auto& costs : {std::vector<double>{}, {1, -1}}) EXPECT_THROW(games::airport_game(costs), InvalidArgument);
  for (const auto& owners : {std::vector<int>{}, {2, 0}, {60000, 60000}})
    EXPECT_THROW(games::glove_market(owners), InvalidArgument);
  EXPECT_THROW(games::point_mass_game(3, 3, 1), InvalidArgument);
  EXPECT_THROW(GaussLegendre(0), InvalidArgument);
  for (void (*change)(games::BurgersProblem&) : std::initializer_list<void (*)(games::BurgersProblem&)>{
           [](auto& problem) { problem.edges[2] = problem.edges[1]; }, [](auto& problem) { problem.viscosity = 0; },
           [](auto& problem) { problem.heights.pop_back(); }}) {
    games::BurgersProblem problem = four_cells();
    change(problem);
    EXPECT_THROW(games::burgers_game(problem), InvalidArgument);
  }
}

}  // namespace
}  // namespace opshap
