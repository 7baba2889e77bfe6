// Proxies with known Shapley values: read-outs against brute force, and estimators that correct or refine a proxy.

#include <gtest/gtest.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "estimators/boosted_trees.hpp"
#include "estimators/coalition_sampler.hpp"
#include "estimators/odd_shap.hpp"
#include "estimators/poly_shap.hpp"
#include "estimators/registry.hpp"
#include "estimators/regression_msr.hpp"
#include "games/unanimity.hpp"
#include "support/for_all.hpp"
#include "support/generators.hpp"
#include "support/oracles.hpp"
#include "support/replicates.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using namespace estimators;

Table table_of(int players, const std::vector<TreeLeaf>& leaves) {
  Table table{.players = players, .values = std::vector<double>(std::size_t{1} << players, 0.0)};
  for (std::size_t mask = 0; mask < table.values.size(); ++mask) {
    const auto in = [mask](int player) { return (mask >> player & 1) != 0; };
    for (const TreeLeaf& leaf : leaves)
      if (std::ranges::all_of(leaf.required, in) && std::ranges::none_of(leaf.forbidden, in))
        table.values[mask] += leaf.value;
  }
  return table;
}

/// Lists of up to six leaves with up to five questions each, repeated and contradictory ones among them.
rc::Gen<std::vector<TreeLeaf>> any_leaves(int players) {
  const auto asked = rc::gen::mapcat(rc::gen::inRange(0, 6), [players](int count) {
    return rc::gen::container<std::vector<int>>(static_cast<std::size_t>(count), rc::gen::inRange(0, players));
  });
  return rc::gen::mapcat(rc::gen::inRange(1, 7), [asked](int count) {
    return rc::gen::container<std::vector<TreeLeaf>>(
        static_cast<std::size_t>(count), rc::gen::apply(
                                             [](std::vector<int> required, std::vector<int> forbidden, int value) {
                                               return TreeLeaf{required, forbidden, value / 64.0};
                                             },
                                             asked, asked, rc::gen::inRange(-128, 129)));
  });
}

TEST(TreeShapley, OfHandMadeLeavesIsWhatOrderingsGive) {
  const std::vector<std::vector<TreeLeaf>> cases = {
      {},
      {{{}, {}, 5}},                             // a tree that is a root alone
      {{{2}, {}, 3}},                            // one player brings it
      {{{}, {1}, 3}},                            // one player takes it away
      {{{0, 1, 3}, {}, 2}},                      // nobody forbidden
      {{{}, {0, 2, 3}, 2}},                      // nobody required
      {{{0, 1}, {2}, 6}, {{3}, {0, 1, 2}, -1}},  // both
      {{{0, 0, 1}, {3, 3, 3}, 4}},               // asked again on the way
      {{{0, 1}, {1}, 4}},                        // a leaf that nobody reaches
      {{{0, 1, 2, 3}, {}, 1}, {{}, {0, 1, 2, 3}, 1}, {{1}, {}, 1}},
  };
  for (const auto& leaves : cases)
    EXPECT_EQ("", mismatch(shapley_values_by_orderings(table_of(4, leaves)), shapley_values_of_leaves(4, leaves),
                           rounding(100, 10)));
  // 1 required, 2 forbidden: pivotal first of three, 1/3; a forbidden one comes after the required one and before the
  // other, 1/6.
  EXPECT_EQ(
      "", mismatch({2, -1, -1}, shapley_values_of_leaves(3, std::vector<TreeLeaf>{{{0}, {1, 2}, 6}}), rounding(10, 6)));
}

TEST(TreeShapley, OfAnyLeavesIsTheTextbookSum) {
  for_all([] {
    const int players = *rc::gen::inRange(1, 9);
    const auto leaves = *any_leaves(players);
    RC_ASSERT(mismatch(textbook_shapley_values(table_of(players, leaves)), shapley_values_of_leaves(players, leaves),
                       rounding(1e3, 12)) == "");
  });
}

TEST(TreeShapley, DeepLeavesDoNotOverflow) {
  TreeLeaf leaf{.required = std::vector<int>(1000), .value = 1};
  std::iota(leaf.required.begin(), leaf.required.end(), 0);
  EXPECT_EQ(
      "", mismatch(std::vector<double>(1000, 1e-3), shapley_values_of_leaves(1000, {&leaf, 1}), rounding(1000, 1e-3)));
  leaf.forbidden.assign(leaf.required.begin() + 500, leaf.required.end());
  leaf.required.resize(500);
  const std::vector<double> balanced = shapley_values_of_leaves(1000, {&leaf, 1});
  EXPECT_EQ("", mismatch(0, std::accumulate(balanced.begin(), balanced.end(), 0.0), rounding(1000, balanced[0])));
  EXPECT_THROW(shapley_values_of_leaves(999, {&leaf, 1}), InvalidArgument);
}

/// XGBoost's own predictions by a model in JSON, for all coalitions.
Table xgboost_predictions(int players, const std::string& model) {
  const Coalitions all = Coalitions::enumerate(players, 0, std::uint64_t{1} << players);
  std::vector<float> members;
  for (std::size_t row = 0; row < all.size(); ++row)
    for (int player = 0; player < players; ++player) members.push_back(all.contains(row, player) ? 1.0F : 0.0F);
  DMatrixHandle matrix = nullptr;
  BoosterHandle booster = nullptr;
  bst_ulong dimensions = 0;
  const bst_ulong* shape = nullptr;
  const float* predictions = nullptr;
  const char* options = R"({"type":0,"training":false,"iteration_begin":0,"iteration_end":0,"strict_shape":false})";
  const bool done = XGDMatrixCreateFromMat(members.data(), all.size(), static_cast<bst_ulong>(players),
                                           std::numeric_limits<float>::quiet_NaN(), &matrix) == 0 &&
                    XGBoosterCreate(nullptr, 0, &booster) == 0 &&
                    XGBoosterLoadModelFromBuffer(booster, model.data(), model.size()) == 0 &&
                    XGBoosterPredictFromDMatrix(booster, matrix, options, &shape, &dimensions, &predictions) == 0;
  EXPECT_TRUE(done) << XGBGetLastError();
  Table table{.players = players, .values = {predictions, predictions + (done ? all.size() : 0)}};
  XGBoosterFree(booster);
  XGDMatrixFree(matrix);
  return table;
}

/// Predictions add the base and a hundred leaves in float32, in sums that stay below twice the largest target.
Tolerance float32_rounding(const Table& targets) { return rounding(101 * std::pow(2, 29), 2 * targets.scale()); }

rc::Gen<Table> small_tables() {
  return rc::gen::map(any_game(7), [](Table table) {
    const double empty = table.empty();
    for (double& value : table.values) value -= empty;
    return table;
  });
}

TEST(BoostedTrees, ShapleyValuesAreThoseOfXgboostsPredictions) {
  for_all([] {
    const Table table = *small_tables();
    const Coalitions all = Coalitions::enumerate(table.players, 0, table.values.size());
    const std::string model = fit_xgboost(all, table.values);
    const BoostedTrees trees = BoostedTrees::parse(table.players, model, "test");
    const Table predicted = xgboost_predictions(table.players, model);
    RC_ASSERT(mismatch(predicted.values, trees.values(all), float32_rounding(table)) == "");
    RC_ASSERT(mismatch(textbook_shapley_values(predicted), trees.shapley_values(), float32_rounding(table)) == "");
    // And of its own values, without float32 in between.
    RC_ASSERT(mismatch(textbook_shapley_values(as_table(trees)), trees.shapley_values(),
                       rounding(1e4, table.scale() + 1)) == "");
  });
}

TEST(BoostedTrees, LearnWhichPlayersMatter) {
  // Were absent players taken for missing ones, all rows would look alike.
  const Coalitions all = Coalitions::enumerate(6, 0, 64);
  std::vector<double> targets;
  for (std::size_t row = 0; row < all.size(); ++row) targets.push_back(all.contains(row, 2) ? 8 : 0);
  const std::vector<double> values = BoostedTrees::fit(all, targets).shapley_values();
  // XGBoost makes no split that gains less than 1e-6. Where two leaves of 32 rows are off by r it gains 2(32r)²/33, so
  // r < 1.3e-4 of the scale.
  EXPECT_EQ("", mismatch({0, 0, 8, 0, 0, 0}, values, discretisation(2 * 8, std::sqrt(1e-6 * 33 / 2) / 32, 1)));
}

TEST(BoostedTrees, FollowTheScaleOfTheGameExactly) {
  for_all([] {
    const Table table = *small_tables();
    const Coalitions all = Coalitions::enumerate(table.players, 0, table.values.size());
    const std::vector<double> values = BoostedTrees::fit(all, table.values).shapley_values();
    for (const int exponent : {-60, 40}) {
      std::vector<double> scaled = table.values;
      for (double& value : scaled) value = std::ldexp(value, exponent);
      std::vector<double> found = BoostedTrees::fit(all, scaled).shapley_values();
      for (double& value : found) value = std::ldexp(value, -exponent);
      RC_ASSERT(found == values);
    }
  });
}

TEST(BoostedTrees, WhatCannotBeFittedOrReadIsSaidInWords) {
  const Coalitions all = Coalitions::enumerate(2, 0, 4);
  const std::string text = refusal<NumericalError>([&] { fit_xgboost(all, std::vector<double>{0, 1, 2, 1e300}); });
  EXPECT_TRUE(has(text, {"xgboost: error=\"Check failed: ", "Label contains NaN, infinity"}));
  EXPECT_FALSE(has(text, "\n"));
  EXPECT_THROW(fit_xgboost(Coalitions(2), {}), InvalidArgument);
  EXPECT_THROW(fit_xgboost(all, std::vector<double>{1}), InvalidArgument);
  const std::string model = fit_xgboost(all, std::vector<double>{0, 1, 2, 4}, {.rounds = 1});
  EXPECT_NO_THROW(BoostedTrees::parse(2, model, "test"));
  EXPECT_THROW(BoostedTrees::parse(1, model, "test"), DataError) << "player 1 is not there";
  EXPECT_THROW(BoostedTrees::parse(2, model.substr(0, model.size() / 2), "test"), DataError);
  EXPECT_THROW(BoostedTrees::parse(2, "{}", "test"), DataError);
  nlohmann::json circle = nlohmann::json::from_ubjson(model);
  EXPECT_EQ(BoostedTrees::parse(2, model, "test").shapley_values(),
            BoostedTrees::parse(2, circle.dump(), "test").shapley_values())
      << "the same model as JSON";
  for (auto& child : circle["learner"]["gradient_booster"]["model"]["trees"][0]["left_children"]) child = 0;
  EXPECT_THROW(BoostedTrees::parse(2, circle.dump(), "test"), DataError);
}

/// A game given by a table.
class TableProxy final : public SolvedGame {
 public:
  explicit TableProxy(Table table) : table_(std::move(table)) {}
  int players() const override { return table_.players; }
  std::vector<double> shapley_values() const override { return textbook_shapley_values(table_); }
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values;
    for (std::size_t row = 0; row < coalitions.size(); ++row) values.push_back(table_.values[coalitions.row(row)[0]]);
    return values;
  }

 private:
  Table table_;
};

/// Knows by heart what it was shown and nothing else: no proxy leaks more of its training into the residuals.
std::unique_ptr<SolvedGame> memory(const SampledGains& gains, std::span<const double> weights) {
  Table table{.players = gains.coalitions.players()};
  table.values.assign(std::size_t{1} << table.players, 0.0);
  for (std::size_t row = 0; row < weights.size(); ++row) {
    if (weights[row] == 0) continue;
    for (const std::size_t of_pair : {2 * row, 2 * row + 1})
      table.values[gains.coalitions.row(of_pair)[0]] = gains.gains[of_pair];
  }
  table.values.back() = gains.gain / 2;  // so that what is missing at N counts, too
  return std::make_unique<TableProxy>(std::move(table));
}

/// v(S) of interactions of three players and more, which show errors that pairwise ones hide.
std::unique_ptr<SolvedGame> higher_order_game(int players) {
  std::vector<games::UnanimityTerm> terms;
  for (int i = 0; i + 2 < players; ++i) terms.push_back({.coalition = {i, i + 1, i + 2}, .coefficient = 4.0 / (1 + i)});
  terms.push_back({.coalition = {0}, .coefficient = 1});
  terms.push_back({.coalition = {0, 1, 2, 3, 4}, .coefficient = -2});
  return games::unanimity_sum(players, std::move(terms), 3);
}

/// The largest distance of the mean over replicates from the Shapley values, in standard errors of that mean.
double bias_in_errors(Folds folds, const FitProxy& fit, const SolvedGame& game, Budget budget, int replicates) {
  const std::vector<double> exact = game.shapley_values();
  Replicates values;
  for (int replicate = 0; replicate < replicates; ++replicate) {
    CountedGame counted(game, budget);
    Rng rng(31, "folds", 0, static_cast<std::uint64_t>(replicate));
    const Attribution found = regression_msr(counted, Sampler::iid, SizeMass::square_root, folds, fit, "test", rng);
    EXPECT_EQ("", mismatch(0, found.efficiency_gap(), rounding(1e4, 10)));
    values.add(found.values);
  }
  double most = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    most = std::max(most, std::abs(values.mean(i) - exact[i]) / values.error(i));
  return most;
}

// Six standard errors: beyond the 1 - 1e-6/2K quantile for the K = 20 comparisons here.
TEST(RegressionMsr, HasNoBiasWithFoldsHoweverMuchTheProxyRemembers) {
  const auto game = higher_order_game(5);
  for (const int folds : {2, 5, 10})
    EXPECT_LT(bias_in_errors({folds}, memory, *game, {28}, 4000), 6) << "folds=" << folds;
  EXPECT_GT(bias_in_errors({1}, memory, *game, {28}, 4000), 20) << "in-sample residuals of it are all 0";
}

// Trees too small to fit the game, so that the correction has something to do.
TEST(RegressionMsr, HasNoBiasWithFoldsOfTrees) {
  const auto game = higher_order_game(7);
  for (const int folds : {2, 5, 10})
    EXPECT_LT(bias_in_errors({folds}, tree_proxy({.rounds = 2, .depth = 3}), *game, {62}, 600), 6) << "folds=" << folds;
}

TEST(RegressionMsr, OfAProxyThatKnowsTheGameIsExact) {
  const auto game = higher_order_game(6);
  const Table table = as_table(*game);
  const auto oracle = [&](const SampledGains&, std::span<const double>) -> std::unique_ptr<SolvedGame> {
    return std::make_unique<TableProxy>(table);
  };
  for (const int folds : {1, 2, 5, 10}) {
    CountedGame counted(*game, {30});
    Rng rng(5);
    EXPECT_EQ("",
              mismatch(game->shapley_values(),
                       regression_msr(counted, Sampler::iid, SizeMass::uniform, {folds}, oracle, "test", rng).values,
                       rounding(1e4, table.scale())));
  }
}

TEST(RegressionMsr, FoldsNeedIndependentDrawsAndOneOfThemEach) {
  const auto game = higher_order_game(7);
  CountedGame counted(*game, {60});
  Rng rng(1);
  for (const auto& [sampler, folds] :
       {std::pair(Sampler::without_replacement, 5), {Sampler::iid, 0}, {Sampler::iid, 30}})
    EXPECT_THROW(regression_msr(counted, sampler, SizeMass::uniform, {folds}, memory, "test", rng), InvalidArgument)
        << folds;
}

// Fumagalli et al. (2026): on pairs, interactions of two players change nothing.
TEST(PolyShap, OnPairsIsKernelShap) {
  constexpr int players = 7;
  const auto game = higher_order_game(players);
  std::vector<Term> terms, singles;
  for (int i = 0; i < players; ++i) singles.push_back({i});
  terms = singles;
  for (int i = 0; i < players; ++i)
    for (int j = i + 1; j < players; ++j) terms.push_back({i, j});
  CountedGame counted(*game, {102});
  Rng rng(2);
  const CoalitionSample pairs = sample_coalitions(Sampler::without_replacement, SizeLaw(SizeMass::uniform, players),
                                                  100, Pairing::complements, rng);
  CoalitionSample both(players);  // of each pair, as coalitions of their own
  both.coalitions = all_coalitions(pairs);
  for (const double weight : pairs.weights) both.weights.insert(both.weights.end(), 2, weight / 2);
  const double empty = counted.empty(), gain = counted.grand() - empty;
  const auto fit = [&](const std::vector<Term>& basis) {
    return shapley_values_of_terms(
        players, basis,
        fit_terms(both, sample_targets(counted, both, empty), gain, basis, TermBasis::contained, "test").coefficients);
  };
  EXPECT_EQ("", mismatch(fit(singles), fit(terms), rounding(1e6, 10)));
}

TEST(PolyShap, ExplainsPairwiseInteractionsFromFewCoalitionsOrNamesTheRank) {
  Rng rng(9);
  std::vector<games::UnanimityTerm> terms;
  for (int i = 0; i < 20; ++i) {
    terms.push_back({.coalition = {i}, .coefficient = rng.normal()});
    for (int j = 0; j < i; ++j) terms.push_back({.coalition = {i, j}, .coefficient = rng.normal()});
  }
  const auto game = games::unanimity_sum(20, std::move(terms), 1);
  const Estimator& poly = estimators::find("poly_shap");
  EXPECT_EQ("", mismatch(game->shapley_values(), attribute(poly, *game, {600}, 1).values, rounding(1e7, 20)));
  const std::string text = refusal<InvalidArgument>([&] { attribute(poly, *game, {poly.minimum(20).coalitions}, 1); });
  EXPECT_TRUE(has(text, {"poly_shap: rank=", "needs 209 "}));
  EXPECT_THROW(attribute(poly, *games::unanimity_sum(128, {}, 0), {10000}, 1), InvalidArgument);
}

TEST(OddSpectrum, OfAnyLeavesIsTheWalshTransform) {
  for_all([] {
    const int players = *rc::gen::inRange(1, 8);
    const auto leaves = *any_leaves(players);
    const Table table = table_of(players, leaves);
    const auto spectrum = odd_spectrum(leaves);
    std::vector<double> expected, found;
    for (std::size_t chosen = 0; chosen < table.values.size(); ++chosen) {
      if (std::popcount(chosen) % 2 == 0) continue;
      Term term;
      for (int player = 0; player < players; ++player)
        if (chosen >> player & 1) term.push_back(player);
      double sum = 0;
      for (std::size_t mask = 0; mask < table.values.size(); ++mask)
        sum += std::popcount(mask & chosen) % 2 == 0 ? table.values[mask] : -table.values[mask];
      expected.push_back(sum / static_cast<double>(table.values.size()));
      found.push_back(spectrum.contains(term) ? spectrum.at(term) : 0);
    }
    RC_ASSERT(mismatch(expected, found, rounding(1e3, 12)) == "");
  });
}

// What trees can point out is then explained exactly: the odd half of c·u_T with |T| = 3 is made of T and its players.
TEST(OddShap, IsExactWhenTheGroupsAreFound) {
  Rng rng(4);
  std::vector<games::UnanimityTerm> terms;
  for (int i = 0; i < 16; ++i) terms.push_back({.coalition = {i}, .coefficient = rng.normal()});
  terms.push_back({.coalition = {1, 5, 9}, .coefficient = 6});
  terms.push_back({.coalition = {2, 3, 12}, .coefficient = -8});
  terms.push_back({.coalition = {0, 7}, .coefficient = 5});
  const auto game = games::unanimity_sum(16, std::move(terms), -1);
  const std::vector<double> exact = game->shapley_values();
  EXPECT_EQ("", mismatch(exact, attribute(estimators::find("odd_shap"), *game, {1000}, 1).values, rounding(1e6, 20)));
  EXPECT_NE("", mismatch(exact, attribute(estimators::find("kernel_shap_paired"), *game, {1000}, 1).values,
                         rounding(1e6, 20)))
      << "without groups it is not";
}

}  // namespace
}  // namespace opshap
