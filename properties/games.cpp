// Games: their values against their definitions, and the game of masked cells against the operator it is made from.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numbers>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "core/operator.hpp"
#include "estimators/registry.hpp"
#include "games/cell_mask_game.hpp"
#include "games/registry.hpp"
#include "games/table_game.hpp"
#include "games/unanimity.hpp"
#include "support/for_all.hpp"
#include "support/generators.hpp"
#include "support/operator_inputs.hpp"
#include "support/tolerance.hpp"
#include "support/two_layer_operator.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {
namespace {

TEST(CoalitionColumns, HoldTheBitsOfTheRows) {
  for_all([] {
    const int players = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(1, 200));
    const auto count = static_cast<std::size_t>(*rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, 300)));
    const std::size_t first = count / 3;
    Rng rng(count);
    const Coalitions rows = random_coalitions(players, count, rng);
    const CoalitionColumns columns(rows, first, count - first);
    for (int player = 0; player < players; ++player) {
      int members = 0;
      for (std::size_t row = first; row < count; ++row) {
        const std::size_t place = row - first;
        const bool in = columns.column(player)[place / 64] >> (place % 64) & 1;
        RC_ASSERT(in == rows.contains(row, player));
        members += in;
      }
      RC_ASSERT(cardinality(columns.column(player)) == members);  // nothing beyond the last coalition
    }
  });
}

TEST(Games, AUnanimitySumAddsTheTermsThatACoalitionContains) {
  for_all([] {
    const int players = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(1, 150));
    Rng rng(static_cast<std::uint64_t>(players));
    std::vector<games::UnanimityTerm> terms;
    for (int index = 0; index < 40; ++index) {
      games::UnanimityTerm term{.coalition = {}, .coefficient = static_cast<double>(rng.below(64)) / 8};
      for (int player = 0; player < players; ++player)
        if (rng.below(static_cast<std::uint64_t>(players)) < 3) term.coalition.push_back(player);
      terms.push_back(std::move(term));
    }
    const auto game = games::unanimity_sum(players, terms, 5);
    const Coalitions coalitions = random_coalitions(players, 700, rng);
    std::vector<double> expected(coalitions.size(), 5.0);
    for (std::size_t row = 0; row < coalitions.size(); ++row) {
      for (const games::UnanimityTerm& term : terms) {
        const bool contained =
            std::ranges::all_of(term.coalition, [&](int player) { return coalitions.contains(row, player); });
        expected[row] += contained ? term.coefficient : 0.0;
      }
    }
    RC_ASSERT(game->values(coalitions) == expected);  // multiples of 1/8
  });
}

TEST(Games, ATableGivesBackItsValues) {
  for_all([] {
    const Table table = *any_game(10);
    RC_ASSERT(as_table(*games::table_game(table.players, table.values)).values == table.values);
    RC_ASSERT(as_table(*as_game(table)).values == table.values);
  });
}

TEST(Games, AnAdditiveGameAddsItsWeights) {
  const std::vector<double> weights = {1, 2, 4};
  const auto game = games::additive_game(weights, 0.5);
  EXPECT_EQ((std::vector<double>{0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5}), as_table(*game).values);
  EXPECT_EQ(weights, game->shapley_values());
}

// The diagonal formula by quadrature. For multilinear extensions it gives the Shapley values (Owen 1972).
TEST(Games, GradientsOfEveryClosedFormGameIntegrateToItsAumannShapleyValues) {
  for (const games::Kind& kind : games::all()) {
    for (int players = 1; kind.random != nullptr && players <= 40; players += 13) {
      Rng rng(1, kind.name);
      if (players > 20 && kind.name == "table_game") continue;
      const auto game = kind.random(players, rng);
      const auto* solved = dynamic_cast<const SolvedGame*>(game.get());
      if (solved == nullptr || game->extension() == nullptr || !solved->aumann_shapley_values()) continue;
      const std::vector<double> expected = *solved->aumann_shapley_values();
      const Attribution found = attribute(estimators::find("integrated_gradients_gauss_legendre"), *game, {0}, 1);
      // A gradient that jumps by g is integrated to the weight of a node, at most π/2 · 1/50 · g.
      const Tolerance tolerance = kind.name == "relu_of_measure"
                                      ? discretisation(std::numbers::pi / 2 * largest(expected) * 4, 1.0 / 50, 1)
                                      : rounding(1e3, 10);
      EXPECT_EQ("", mismatch(expected, found.values, tolerance)) << kind.name << " n=" << players;
    }
  }
}

TEST(Games, RefuseWhatIsNotAGame) {
  EXPECT_THROW(games::table_game(0, {1}), InvalidArgument);
  EXPECT_THROW(games::table_game(2, {1, 2, 3}), InvalidArgument);
  EXPECT_THROW(games::table_game(31, {}), InvalidArgument);
  EXPECT_THROW(games::unanimity_sum(0, {}), InvalidArgument);
  EXPECT_THROW(games::unanimity_sum(Coalitions::max_players + 1, {}), InvalidArgument);
  EXPECT_THROW(games::unanimity_sum(3, {{{3}, 1.0}}), InvalidArgument);
  EXPECT_THROW(games::unanimity_sum(3, {{{-1}, 1.0}}), InvalidArgument);
  EXPECT_THROW(games::unanimity_sum(3, {{{1, 1}, 1.0}}), InvalidArgument);
  EXPECT_THROW(games::unanimity_sum(3, {{{1}, std::numeric_limits<double>::infinity()}}), InvalidArgument);
  EXPECT_THROW(games::unanimity_sum(3, {}, std::numeric_limits<double>::quiet_NaN()), InvalidArgument);
  EXPECT_NO_THROW(games::unanimity_sum(Coalitions::max_players, {}));
}

/// Counts how many fields it is given at once.
class Batches final : public WeightedMeanOperator {
 public:
  Batches() : WeightedMeanOperator(0.3) {}
  std::int64_t preferred_batch(const Domain&) const override { return 3; }
  FieldBatch apply(const FieldBatch& inputs) const override {
    largest = std::max(largest, inputs.batch);
    return WeightedMeanOperator::apply(inputs);
  }
  mutable std::int64_t largest = 0;
};

TEST(CellMaskGame, ShowsTheInputInsideACoalitionAndTheBaselineOutside) {
  const Domain domain = Domain::unit({4, 4});
  const TwoLayerOperator op(2, 2);
  Rng rng(1, "field");
  const FieldBatch input = random_field(domain, 2, rng), baseline = random_field(domain, 2, rng);
  const Partition partition = Partition::blocks(domain, 4);
  const Query query{.point = 6, .channel = 0};
  const auto game = games::cell_mask_game(op, {input, baseline, partition, query});
  ASSERT_EQ(4, game->players());
  const Coalitions all = Coalitions::enumerate(4, 0, 16);
  std::vector<double> expected;
  for (std::size_t mask = 0; mask < 16; ++mask) {
    FieldBatch masked = baseline;
    for (std::size_t entry = 0; entry < masked.values.size(); ++entry)
      if (mask >> partition.player_of[entry % 16] & 1) masked.values[entry] = input.values[entry];
    expected.push_back(op.values_at(masked, query).front());
  }
  EXPECT_EQ(expected, game->values(all));
  EXPECT_EQ(op.values_at(baseline, query).front(), game->values(all)[0]);
  EXPECT_EQ(op.values_at(input, query).front(), game->values(all)[15]);
}

TEST(CellMaskGame, MakesItsMaskedFieldsABatchAtATime) {
  const Batches op;
  Rng rng(1, "field");
  const FieldBatch input = random_field(Domain::unit({8}), 1, rng), baseline = random_field(input.domain, 1, rng);
  const auto game = games::cell_mask_game(op, {input, baseline, Partition::blocks(input.domain, 4), {}});
  game->values(Coalitions::enumerate(4, 0, 16));
  EXPECT_EQ(3, op.largest);
}

// A linear operator makes an additive game: player k is worth Σ_{its cells} w·(u − u_b).
TEST(CellMaskGame, OfALinearOperatorIsAdditive) {
  const Domain domain = Domain::unit({16});
  const WeightedMeanOperator op(0);
  Rng rng(3, "field");
  const FieldBatch input = random_field(domain, 1, rng), baseline = random_field(domain, 1, rng);
  const Partition partition = Partition::blocks(domain, 8);
  const Query query{.point = 5};
  std::vector<double> expected(8, 0.0);
  for (std::size_t point = 0; point < 16; ++point)
    expected[static_cast<std::size_t>(partition.player_of[point])] +=
        op.weight(5, static_cast<int>(point), 16) * (input.values[point] - baseline.values[point]);
  const auto game = games::cell_mask_game(op, {input, baseline, partition, query});
  for (const auto& estimator : estimators::all()) {
    if (!estimator->guarantees().exact_on_additive) continue;
    const Budget budget{std::max<std::int64_t>(200, estimator->minimum(8).coalitions)};
    const Attribution found = attribute(*estimator, *game, budget, 1);
    EXPECT_EQ("", mismatch(expected, found.values, rounding(1e4, 4))) << estimator->name();
  }
}

// G = L + cL³ with baseline 0: the Aumann-Shapley value is ℓ_k(1 + cL²), the Shapley value ℓ_k(1 + cL²) + cℓ_k(M2 −
// Lℓ_k)/2 with M2 = Σ ℓ².
TEST(CellMaskGame, OfACubicOperatorHasItsClosedForms) {
  constexpr double cubic = 0.3;
  const Domain domain = Domain::unit({12});
  const WeightedMeanOperator op(cubic);
  Rng rng(5, "field");
  const FieldBatch input = random_field(domain, 1, rng);
  const auto game = games::cell_mask_game(
      op, {input, FieldBatch::zeros(domain, 1, 1), Partition::one_player_per_point(domain), Query{.point = 2}});
  std::vector<double> part;
  for (int point = 0; point < 12; ++point)
    part.push_back(op.weight(2, point, 12) * input.values[static_cast<std::size_t>(point)]);
  const auto [aumann_shapley, shapley] = op.solution(part);
  const auto by = [&](const char* method) { return attribute(estimators::find(method), *game, {0}, 1).values; };
  EXPECT_EQ("", mismatch(shapley, by("exact"), rounding(1e4, 4)));
  EXPECT_EQ("", mismatch(aumann_shapley, by("integrated_gradients_gauss_legendre"), rounding(1e4, 4)));
  // The midpoint rule on t²: 1/3 − 1/(12K²) with K = 50.
  const Tolerance midpoint = discretisation(3 * cubic * sum(part) * sum(part) * largest(part) / 12, 1.0 / 50, 2);
  EXPECT_EQ("",
            mismatch(aumann_shapley, by("integrated_gradients"), Tolerance{midpoint.bound * 1.001, midpoint.reason}));
}

TEST(CellMaskGame, RefusesWhatDoesNotFit) {
  const Domain domain = Domain::unit({8});
  const WeightedMeanOperator op(0);
  const FieldBatch field = FieldBatch::zeros(domain, 1, 1);
  const Partition partition = Partition::blocks(domain, 4);
  const auto game = [&](const FieldBatch& input, const FieldBatch& baseline, const Partition& cells = {},
                        Query query = {}) {
    games::cell_mask_game(op, {input, baseline, cells.players > 0 ? cells : partition, query});
  };
  const auto zeros = FieldBatch::zeros;
  const Domain square = Domain::unit({4, 4});
  EXPECT_NO_THROW(game(field, field, partition, {.point = 7}));
  EXPECT_THROW(game(field, field, partition, {.point = 8}), InvalidArgument);
  EXPECT_THROW(game(field, field, partition, {.point = 0, .channel = 2}), InvalidArgument);
  EXPECT_THROW(game(zeros(domain, 2, 1), field), InvalidArgument);
  EXPECT_THROW(game(zeros(domain, 1, 2), zeros(domain, 1, 2)), InvalidArgument);
  EXPECT_THROW(game(field, zeros(Domain::unit({4}), 1, 1)), InvalidArgument);
  EXPECT_THROW(game(field, field, Partition::blocks(Domain::unit({16}), 4)), InvalidArgument);
  EXPECT_THROW(game(zeros(square, 1, 1), zeros(square, 1, 1), Partition::blocks(square, 4)), InvalidArgument);
  FieldBatch broken = field;
  broken.values[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(game(broken, field), DataError);
  EXPECT_THROW(game(field, broken), DataError);
}

}  // namespace
}  // namespace opshap
