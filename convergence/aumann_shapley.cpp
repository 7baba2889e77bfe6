// Discrete Shapley values under refinement: the rate and constant with which they reach the Aumann–Shapley value, and
// games with no such limit.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <numeric>

#include "core/error.hpp"
#include "estimators/registry.hpp"
#include "games/burgers_game.hpp"
#include "games/classic_games.hpp"
#include "games/kinked_functions.hpp"
#include "games/smooth_functions.hpp"
#include "games/unanimity.hpp"
#include "reporting/evidence.hpp"
#include "statistics/study.hpp"

namespace opshap {
namespace {

using std::numbers::ln2;
using std::numbers::pi;

/// The one graded map of all smooth families: cells x(k/n) .. x((k+1)/n), e times as large on the right. Uniform cells
/// would hide the error, which is then 0 by symmetry.
double graded(double xi) { return std::expm1(xi) / std::expm1(1.0); }

/// Cells of four sizes, each of a quarter of the players.
std::vector<int> four_sizes(int players) {
  constexpr int sizes[] = {2, 1, 4, 3};
  std::vector<int> cells;
  for (int k = 0; k < players; ++k) cells.push_back(sizes[4 * k / players]);
  return cells;
}

double sum_of_first(const std::vector<double>& values, std::size_t count) {
  return std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
}

games::Measure distributed(int players, double (*distribution)(double x)) {
  return games::Measure::of_distribution(players, [distribution](double xi) { return distribution(graded(xi)); });
}

/// A game under refinement; players are cells of one measure, or of one vector of measures.
struct Family {
  std::string name;
  std::function<std::unique_ptr<SolvedGame>(int players)> game;
  int finest;
  /// By which the error of 2ψ_2n − ψ_n falls: 4 in general, 8 where no term of the form 1/n² is left.
  double extrapolated_ratio;
};

std::vector<Family> families() {
  const auto lebesgue = [](double x) { return x; };
  const auto wave = [](double x) { return x + 0.4 * std::sin(2 * pi * x); };  // with density down to 1 − 0.8π < 0
  const auto square = [](double x) { return x * x; };
  const auto root = [](double x) { return (x + x * x * x) / 2; };
  std::vector<Family> all;
  all.push_back({"μ³",
                 [=](int n) {
                   return games::polynomial_of_measure(distributed(n, lebesgue), {0, 0, 0, 1});
                 },
                 1024, 8});
  all.push_back({"ℓ + ℓ³/2, ℓ signed",
                 [=](int n) {
                   return games::polynomial_of_measure(distributed(n, wave), {0, 1, 0, 0.5});
                 },
                 1024, 8});
  all.push_back(
      {"μ₁μ₂μ₃",
       [=](int n) {
         return games::product_of_measures({distributed(n, lebesgue), distributed(n, square), distributed(n, root)});
       },
       1024, 8});
  all.push_back({"μ⁵",
                 [=](int n) {
                   return games::polynomial_of_measure(distributed(n, lebesgue), {0, 0, 0, 0, 0, 1});
                 },
                 1024, 4});
  all.push_back(
      {"e^μ − 1", [=](int n) { return games::exponential_of_measure(distributed(n, lebesgue), 1); }, 2048, 4});
  all.push_back({"cos 2μ − 1",
                 [=](int n) {
                   return games::exponential_of_measure(distributed(n, lebesgue), std::complex<double>{0, 2});
                 },
                 1024, 4});
  all.push_back({"max(μ − 0.3, 0)",
                 [](int n) {
                   const std::vector<int> cells = four_sizes(n);
                   return games::relu_of_measure(cells, 0.3 * std::accumulate(cells.begin(), cells.end(), 0));
                 },
                 512, 4});
  return all;
}

/// What refinement does to the value of the first quarter of the players, always the same region.
struct Refinement {
  int players;
  double error;      ///< ψ(T) − AS(T), over AS(Ω)
  double predicted;  ///< its leading term
};

Refinement refine(const Family& family, int players) {
  const auto game = family.game(players);
  const std::size_t quarter = static_cast<std::size_t>(players) / 4;
  const std::vector<double> limit = *game->aumann_shapley_values();
  const double whole = sum_of_first(limit, limit.size());
  return {.players = players,
          .error = (sum_of_first(game->shapley_values(), quarter) - sum_of_first(limit, quarter)) / whole,
          .predicted = sum_of_first(*game->discretisation_error(), quarter) / whole};
}

/// The value of the first quarter of the players in a weighted vote, against their part of the weight.
struct Vote {
  double error;
  double constant;  ///< error / (μ(T) M₂ − Σ_T μ_k²)
};

Vote vote(int players) {
  const std::vector<int> weights = four_sizes(players);
  const double total = std::accumulate(weights.begin(), weights.end(), 0);
  const auto game = games::weighted_voting(weights, 0.3 * total);
  double region = 0, squares = 0, in_region = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double share = weights[k] / total;
    squares += share * share;
    if (4 * k >= weights.size()) continue;
    region += share;
    in_region += share * share;
  }
  const double error = sum_of_first(game->shapley_values(), weights.size() / 4) - region;
  return {.error = error, .constant = error / (region * squares - in_region)};
}

/// Made once.
const statistics::Study& voting_study() {
  static const statistics::Study made = [] {
    statistics::Study study("1[μ ≥ 0.3], from μ", "n", "error of ψ_n(T)");
    for (int players = 8; players <= 512; players *= 2) study.add(players, std::abs(vote(players).error));
    return study;
  }();
  return made;
}

/// The first third of the players in Burgers' equation: by all coalitions, and by the diagonal formula.
double burgers_error(int players) {
  games::BurgersProblem problem{.edges = {}, .heights = {}, .viscosity = 0.3, .time = 0.5, .query = 0.7};
  for (int k = 0; k <= players; ++k) problem.edges.push_back(graded(static_cast<double>(k) / players));
  // The same field at every n: its cells are thirds of the players.
  for (int k = 0; k < players; ++k) problem.heights.push_back(3 * k < players ? 1.5 : 3 * k < 2 * players ? -0.5 : 1);
  const auto game = games::burgers_game(problem);
  const auto third = static_cast<std::size_t>(players / 3);
  const std::vector<double> shapley = attribute(estimators::find("exact"), *game, {0}, 1).values;
  const std::vector<double> smooth =
      attribute(estimators::find("integrated_gradients_gauss_legendre"), *game, {0}, 1).values;
  return sum_of_first(shapley, third) - sum_of_first(smooth, third);
}

/// Made once; 24 players have 16 million coalitions.
const statistics::Study& burgers_study() {
  static const statistics::Study made = [] {
    statistics::Study study("Burgers", "n", "error of ψ_n(T)");
    for (int players = 3; players <= 24; players *= 2) study.add(players, std::abs(burgers_error(players)));
    return study;
  }();
  return made;
}

std::string four_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

TEST(AumannShapley, IsReachedAtOneOverNWithTheKnownConstant) {
  reporting::Evidence evidence{
      .name = "aumann_shapley",
      .title = "Discrete Shapley values reach the Aumann–Shapley value at rate 1/n",
      .finding =
          "The value of a fixed region differs from its Aumann–Shapley value by the predicted constant "
          "over n, on nested partitions of one graded "
          "map; extrapolation from two partitions leaves an error that falls like 1/n², or like 1/n³ for "
          "polynomials of degree up to 4.",
      .studies = {},
      .tables = {{.name = "constants",
                  .caption = "Error of the finest partition against its leading term, and the factors by "
                             "which the error and the extrapolated error fall in the last halving of the cells.",
                  .columns = {{"game"},
                              {"n", true},
                              {"error · n", true},
                              {"predicted", true},
                              {"factor", true},
                              {"extrapolated: factor", true}},
                  .rows = {}}}};
  for (const Family& family : families()) {
    SCOPED_TRACE(family.name);
    statistics::Study errors(family.name, "n", "error of ψ_n(T)"),
        extrapolated(family.name, "n", "error of 2ψ_n(T) − ψ_n/2(T)");
    std::vector<Refinement> levels;
    double factor = 0, extrapolated_factor = 0;
    for (int players = 8; players <= family.finest; players *= 2) {
      levels.push_back(refine(family, players));
      errors.add(players, std::abs(levels.back().error));
      if (levels.size() < 2) continue;
      factor = levels[levels.size() - 2].error / levels.back().error;
      if (players > 32) {
        EXPECT_NEAR(2, factor, 0.1) << "from n=" << players / 2;
      }
      extrapolated.add(players, std::abs(2 * levels.back().error - levels[levels.size() - 2].error));
      if (levels.size() < 3) continue;
      const auto& points = extrapolated.points();
      extrapolated_factor = points[points.size() - 2].error / points.back().error;
    }
    // The next term of both is O(1/n) beside what is tested, with constants below 20.
    EXPECT_NEAR(1, levels.back().error / levels.back().predicted, 20.0 / family.finest);
    EXPECT_NEAR(family.extrapolated_ratio, extrapolated_factor, family.extrapolated_ratio * 30 / family.finest);
    evidence.tables[0].add(
        {family.name, std::to_string(family.finest), four_digits(levels.back().error * family.finest),
         four_digits(levels.back().predicted * family.finest), four_digits(factor), four_digits(extrapolated_factor)});
    evidence.studies.push_back(errors);
    evidence.studies.push_back(extrapolated);
  }
  evidence.studies.push_back(burgers_study());
  evidence.studies.push_back(voting_study());
  reporting::publish(evidence);
}

// With cells of size ω(x)/n: n (ψ − AS)(T) → C (μ(T) ∫ω dμ − ∫_T ω dμ). The graded map has ω(x) = x + 1/(e−1).
TEST(AumannShapley, HasAnErrorDensityThatFollowsTheCellSizes) {
  const Family cube = families().front();
  const double offset = 1 / std::expm1(1.0), region = graded(0.25), constant = 0.5;  // C of t³: ½(0 + 3) − 1
  const double everywhere = 0.5 + offset, in_region = region * region / 2 + offset * region;
  const double expected = constant * (region * everywhere - in_region);
  // The sums over cells are trapezoidal rules of second order.
  EXPECT_NEAR(expected, 256 * refine(cube, 256).error, 1.0 / (256 * 256));
}

// A kink at the very start of the diagonal, met by a signed measure: the leading term does not hold, the rate 1/n does.
TEST(AumannShapley, IsReachedByAKinkAtTheBaseline) {
  statistics::Study study("max(μ, 0), μ signed", "n", "n² (ψ − AS) of one cell");
  double before = 0;
  for (int players = 8; players <= 512; players *= 2) {
    std::vector<int> cells;
    for (int k = 0; k < players; ++k) cells.push_back(k % 2 == 0 ? 3 : -1);
    const auto game = games::relu_of_measure(cells, 0);
    EXPECT_FALSE(game->discretisation_error().has_value());
    const double scaled = players * (game->shapley_values()[0] - (*game->aumann_shapley_values())[0]);
    study.add(players, std::abs(scaled));
    if (players > 64) {
      EXPECT_NEAR(1, scaled / before, 0.1) << players;
    }
    before = scaled;
  }
  std::printf("%s\n", study.markdown().c_str());
}

// Not in pNA, for integrated gradients give 0; and yet the limit is the measure itself, at 1/n with C = ½(0 + 0) − 1.
TEST(AumannShapley, IsReplacedByTheMeasureForWeightedVoting) {
  const statistics::Study& study = voting_study();
  for (std::size_t i = 2; i + 1 < study.size(); ++i) {
    EXPECT_NEAR(2, study.points()[i].error / study.points()[i + 1].error, 0.1) << study.markdown();
  }
  EXPECT_NEAR(-1, vote(512).constant, 20.0 / 512);
}

// The operator of Burgers' equation, smooth and not a polynomial. At n <= 24 the next term is still a tenth of the
// first.
TEST(AumannShapley, IsReachedByBurgersEquation) {
  const statistics::Study& study = burgers_study();
  EXPECT_NEAR(-1, study.fit().slope, 0.1) << study.markdown();
  EXPECT_NEAR(2, study.points()[2].error / study.points()[3].error, 0.1) << study.markdown();
}

/// ¼ + (1/2π) arcsin(σ_i²/√((σ_i²+σ_j²)(σ_i²+σ_k²))), σ² = 1/gloves: the chance that of three independent normal
/// fluctuations one is the lowest.
double share_of_hand(double own, double other, double third) {
  const double a = 1 / own, b = 1 / other, c = 1 / third;
  return 0.25 + std::asin(a / std::sqrt((a + b) * (a + c))) / (2 * pi);
}

/// One game, one way to refine it, and what that tends to.
struct Path {
  std::string game, refinement;
  std::function<double(int level)> share;  ///< of a fixed region with cells of size 2^−level
  std::function<double(int level)> limit;  ///< what it tends to; where it is unbounded, its asymptotic form
  int finest;
  double lowest_slope, highest_slope;  ///< of the logarithm of the distance; 0 where the limit is met at once
};

std::vector<double> airport_costs(int left, int right) {
  std::vector<double> costs;
  for (int k = 1; k <= left; ++k) costs.push_back(0.5 * k / left);
  for (int k = 1; k <= right; ++k) costs.push_back(0.5 + 0.5 * k / right);
  return costs;
}

/// The right half of the airport c(x) = x with the cells of its halves in this proportion.
double right_half_of_airport(int left, int right) {
  const std::vector<double> shares = games::airport_game(airport_costs(left, right))->shapley_values();
  return 1 - sum_of_first(shares, static_cast<std::size_t>(left));
}

double first_hand(const std::vector<int>& gloves) {
  return gloves[0] * games::glove_market(gloves)->shapley_values().front();
}

/// The left half, +1 in `left` cells, against the right half, −1 in `right` cells.
std::vector<int> balanced(int left, int right) {
  const int common = std::lcm(left, right);
  std::vector<int> cells(static_cast<std::size_t>(left), common / left);
  cells.insert(cells.end(), static_cast<std::size_t>(right), -common / right);
  return cells;
}
double left_half_of_sign(int left, int right) {
  return sum_of_first(games::sign_of_measure(balanced(left, right))->shapley_values(), static_cast<std::size_t>(left));
}
/// μ(T) √(π/(2M₂)) with M₂ = 1/left + 1/right for halves of measure 1.
double growth_of_sign(int left, int right) { return std::sqrt(pi / (2 * (1.0 / left + 1.0 / right))); }

std::vector<Path> paths() {
  const auto constant = [](double value) { return [value](int) { return value; }; };
  return {
      {"unanimity", "equal cells",
       [](int level) {
         return sum_of_first(games::unanimity_game(2 << level, 1)->shapley_values(), std::size_t{1} << level);
       },
       constant(0.5), 8, 0, 0},
      {"unanimity", "left finer",
       [](int level) {
         return sum_of_first(games::unanimity_game(3 << level, 1)->shapley_values(), std::size_t{2} << level);
       },
       constant(2.0 / 3), 8, 0, 0},
      {"airport", "equal cells", [](int level) { return right_half_of_airport(1 << level, 1 << level); },
       constant((1 + ln2) / 2), 11, -1.05, -0.95},
      {"airport", "left finer", [](int level) { return right_half_of_airport(2 << level, 1 << level); },
       constant(0.5 + std::log(3.0) / 4), 11, -1.05, -0.95},
      {"gloves", "1 : 1 : 1",
       [](int level) {
         return first_hand({1 << level, 1 << level, 1 << level});
       },
       constant(1.0 / 3), 6, 0, 0},
      {"gloves", "1 : 2 : 4",
       [](int level) {
         return first_hand({1 << level, 2 << level, 4 << level});
       },
       constant(share_of_hand(1, 2, 4)), 6, -1, -0.6},
      {"gloves", "1 : 4 : 4",
       [](int level) {
         return first_hand({1 << level, 4 << level, 4 << level});
       },
       constant(share_of_hand(1, 4, 4)), 6, -1, -0.6},
      {"sign", "equal cells", [](int level) { return left_half_of_sign(1 << level, 1 << level); },
       [](int level) { return growth_of_sign(1 << level, 1 << level); }, 8, -0.55, -0.45},
      {"sign", "left finer", [](int level) { return left_half_of_sign(2 << level, 1 << level); },
       [](int level) { return growth_of_sign(2 << level, 1 << level); }, 8, -0.55, -0.45},
  };
}

TEST(RefinementLimits, DifferBetweenTwoRefinementsOfOneGame) {
  reporting::Evidence evidence{
      .name = "refinement_limits",
      .title = "Games whose Shapley values depend on how the domain is refined",
      .finding =
          "Each of these games tends to something else, or grows at another pace, when the same domain is cut up in "
          "another way: there is no value for a density to stand for.",
      .studies = {},
      .tables = {{.name = "limits",
                  .caption = "Share of a fixed region at the finest partition: the left half, the right "
                             "half of the airport, the first of three hands. For the sign of a signed measure, which "
                             "grows like √n, its asymptotic form at that partition.",
                  .columns = {{"game"}, {"refinement"}, {"share", true}, {"limit", true}},
                  .rows = {}}}};
  std::vector<double> shares, limits;
  for (const Path& path : paths()) {
    SCOPED_TRACE(path.game + ", " + path.refinement);
    const std::string title = path.game + ", " + path.refinement;
    statistics::Study study(title, "cells a region", "distance to the limit"),
        values(title, "cells a region", "share of T");
    for (int level = 1; level <= path.finest; ++level) {
      const double limit = path.limit(level);
      const double share = path.share(level), distance = std::abs(share - limit) / limit;
      values.add(1 << level, share);
      if (distance > 1e-12) study.add(1 << level, distance);
    }
    shares.push_back(path.share(path.finest));
    limits.push_back(path.limit(path.finest));
    if (study.size() > 0) {
      // 1/n; for gloves (log n)/n, from the ends of the diagonal, where few have joined or are missing; 1/√n for the
      // sign.
      EXPECT_GE(study.fit().slope, path.lowest_slope) << study.markdown();
      EXPECT_LE(study.fit().slope, path.highest_slope) << study.markdown();
      evidence.studies.push_back(study);
    } else {
      EXPECT_EQ(0, path.lowest_slope) << "the limit is met at once";
    }
    evidence.studies.push_back(values);
    evidence.tables[0].add({path.game, path.refinement, four_digits(shares.back()), four_digits(limits.back())});
  }
  // Two refinements are farther apart than they are from their limits.
  for (const auto& [one, other] : {std::pair{0, 1}, {2, 3}, {4, 5}, {5, 6}, {7, 8}}) {
    const auto a = static_cast<std::size_t>(one), b = static_cast<std::size_t>(other);
    EXPECT_GT(std::abs(shares[a] - shares[b]), 2 * (std::abs(shares[a] - limits[a]) + std::abs(shares[b] - limits[b])));
  }
  reporting::publish(evidence);
}

TEST(RefinementLimits, OfTheSignOfASignedMeasureDoNotExist) {
  for (int level = 5; level <= 8; ++level) {
    const double growth =
        left_half_of_sign(1 << level, 1 << level) / left_half_of_sign(1 << (level - 1), 1 << (level - 1));
    // The distance to the asymptotic form is 0.56/√n.
    EXPECT_NEAR(std::sqrt(2.0), growth, 0.56 / std::sqrt(1 << level)) << level;
  }
}

TEST(RefinementLimits, HaveTheirKnownDigits) {
  const auto finite = games::glove_market({64, 128, 256})->shapley_values();
  EXPECT_NEAR(.38008, 64 * finite[0], 5e-6);
  EXPECT_NEAR(.32759, 128 * finite[64], 5e-6);
  EXPECT_NEAR(.29233, 256 * finite[192], 5e-6);
  EXPECT_NEAR(.3803, share_of_hand(1, 2, 4), 5e-5);
  EXPECT_NEAR(.3281, share_of_hand(2, 1, 4), 5e-5);
  EXPECT_NEAR(.2916, share_of_hand(4, 1, 2), 5e-5);
  EXPECT_NEAR(.3976, share_of_hand(1, 4, 4), 5e-5);
  EXPECT_NEAR(.84657, (1 + ln2) / 2, 5e-6);
  EXPECT_NEAR(.77465, 0.5 + std::log(3.0) / 4, 5e-6);
}

}  // namespace
}  // namespace opshap
