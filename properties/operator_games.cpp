// The three games of an operator: hard masks of cells, fixed smooth masks held by shares, and smooth masks that are the
// players. How the game of cells asks the operator's engine.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "core/error.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/registry.hpp"
#include "games/cell_mask_game.hpp"
#include "games/partition_of_unity.hpp"
#include "support/for_all.hpp"
#include "support/generators.hpp"
#include "support/operator_inputs.hpp"
#include "support/tolerance.hpp"
#include "support/two_layer_operator.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {
namespace {

/// The values of all operators here are below 2, and each is made by at most 64² products, a few times over.
const Tolerance rounded = rounding(2e4, 2);

/// What an operator game is made of, on the line or in the plane, with one or two channels.
struct Question {
  Domain domain;
  TwoLayerOperator op;
  FieldBatch input, baseline;
  games::PartitionOfUnity masks;
  Query query;

  std::size_t points() const { return static_cast<std::size_t>(domain.points()); }
  std::size_t mask_count() const { return static_cast<std::size_t>(masks.masks()); }
  std::unique_ptr<Game> smooth(const Partition& cells) const {
    return games::smooth_operator_game(op, input, baseline, masks, cells, query);
  }
  std::unique_ptr<Game> diagonal() const { return games::diagonal_game(op, input, baseline, masks, query); }
  /// u_b + w ⊙ (u − u_b).
  FieldBatch shown(const std::vector<double>& w) const {
    FieldBatch field = baseline;
    for (std::size_t i = 0; i < field.values.size(); ++i)
      field.values[i] += w[i % points()] * (input.values[i] - baseline.values[i]);
    return field;
  }
  /// G there.
  double answer(const std::vector<double>& w) const { return op.values_at(shown(w), query).front(); }
  /// Σ_i a_i η_i.
  std::vector<double> combined(const std::vector<double>& a) const {
    const std::vector<double> values = masks.values();
    std::vector<double> w(points(), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) w[i % points()] += a[i / points()] * values[i];
    return w;
  }
  /// ∫_S η_i/∫η_i for a set of points, by its definition.
  std::vector<double> shares(const std::function<bool(std::size_t point)>& in_set) const {
    const std::vector<double> values = masks.values();
    std::vector<double> shares;
    for (std::size_t i = 0; i < mask_count(); ++i) {
      double part = 0, whole = 0;
      for (std::size_t point = 0; point < points(); ++point) {
        whole += values[i * points() + point];
        if (in_set(point)) part += values[i * points() + point];
      }
      shares.push_back(part / whole);
    }
    return shares;
  }
};

Question random_question(Rng& rng) {
  const Domain domain = rng.below(2) == 0 ? Domain::unit({24}) : Domain::unit({6, 6});
  const int channels = 1 + static_cast<int>(rng.below(2));
  const auto points = static_cast<std::uint64_t>(domain.points());
  return {.domain = domain,
          .op = TwoLayerOperator(domain.dimension(), channels),
          .input = random_field(domain, channels, rng),
          .baseline = random_field(domain, channels, rng),
          .masks = random_partition_of_unity(domain, rng),
          .query = {.point = static_cast<std::int64_t>(rng.below(points)), .channel = static_cast<int>(rng.below(2))}};
}

/// A question for each case of a property, from a seed that is printed when it fails.
template <typename Property>
void for_all_questions(const Property& property) {
  for_all_streams([&property](Rng& rng) { property(random_question(rng), rng); });
}

std::vector<double> shapley_values(const Game& game) {
  return attribute(estimators::find("exact"), game, {0}, 1).values;
}

std::vector<double> aumann_shapley_values(const Game& game, estimators::Rule rule = estimators::Rule::gauss_legendre,
                                          int nodes = 50) {
  return attribute(*integrated_gradients(rule, nodes), game, {0}, 1).values;
}

TEST(SmoothOperatorGame, IsAFunctionOfTheSharesThatACoalitionHolds) {
  for_all_questions([](const Question& question, Rng& rng) {
    const Partition cells = random_cells(question.domain, 1 + static_cast<int>(rng.below(5)), rng);
    std::vector<double> expected;
    for (std::size_t coalition = 0; coalition < std::size_t{1} << cells.players; ++coalition) {
      const auto in_set = [&](std::size_t point) { return (coalition >> cells.player_of[point] & 1) != 0; };
      expected.push_back(question.answer(question.combined(question.shares(in_set))));
    }
    RC_ASSERT(mismatch(expected, as_table(*question.smooth(cells)).values, rounded) == "");
    const auto at = [&](const FieldBatch& field) { return question.op.values_at(field, question.query).front(); };
    RC_ASSERT(mismatch(at(question.baseline), expected.front(), rounded) == "");
    RC_ASSERT(mismatch(at(question.input), expected.back(), rounded) == "");
  });
}

// The masks repeat after half of the line; a relabelling swaps some points with those half a line away. The input does
// not repeat.
TEST(SmoothOperatorGame, DoesNotSeeARelabellingThatKeepsTheShares) {
  for_all_streams([](Rng& rng) {
    const Domain half = Domain::unit({12}), domain = Domain::unit({24});
    const games::PartitionOfUnity of_half = random_partition_of_unity(half, rng);
    std::vector<double> values;
    for (std::size_t i = 0; i < of_half.values().size(); i += 12) {
      for (int copy = 0; copy < 2; ++copy)
        for (std::size_t point = 0; point < 12; ++point) values.push_back(of_half.values()[i + point]);
    }
    const Question question{.domain = domain,
                            .op = TwoLayerOperator(1, 1),
                            .input = random_field(domain, 1, rng),
                            .baseline = random_field(domain, 1, rng),
                            .masks = games::PartitionOfUnity::from_values(domain, values),
                            .query = {.point = 5}};
    const Partition cells = random_cells(domain, 5, rng);
    Partition relabelled = cells;
    for (std::size_t point = 0; point < 12; ++point)
      if (rng.below(2) == 0) std::swap(relabelled.player_of[point], relabelled.player_of[point + 12]);
    const auto game = question.smooth(cells), other = question.smooth(relabelled);
    RC_ASSERT(mismatch(as_table(*game).values, as_table(*other).values, rounded) == "");
    RC_ASSERT(mismatch(shapley_values(*game), shapley_values(*other), rounded) == "");
    RC_ASSERT(mismatch(aumann_shapley_values(*game), aumann_shapley_values(*other), rounded) == "");
    // Cells 0 and 1 are the two copies of one set: coalitions with either of them hold the same, and the two are worth
    // the same.
    std::vector<std::int64_t> twins(24, 2);
    for (std::size_t point = 0; point < 12; ++point) {
      if (point % 4 != 0) continue;
      twins[point] = 0;
      twins[point + 12] = 1;
    }
    twins[1] = 3;
    const auto twin_game = question.smooth(Partition::from_labels(domain, twins));
    const Table table = as_table(*twin_game);
    for (const std::size_t rest : {0U, 4U, 8U, 12U})
      RC_ASSERT(mismatch(table.values[rest | 1], table.values[rest | 2], rounded) == "");
    const std::vector<double> shapley = shapley_values(*twin_game);
    RC_ASSERT(mismatch(shapley[0], shapley[1], rounded) == "");
  });
}

TEST(SmoothOperatorGame, StaysTheSameGameWhenCellsAreRefined) {
  for_all_questions([](const Question& question, Rng& rng) {
    const Partition fine = random_cells(question.domain, 6, rng);
    std::vector<std::int64_t> labels;
    for (const int player : fine.player_of) labels.push_back(player / 2);
    const Table of_fine = as_table(*question.smooth(fine));
    const Table of_coarse = as_table(*question.smooth(Partition::from_labels(question.domain, labels)));
    std::vector<double> expected;
    for (std::size_t coalition = 0; coalition < 8; ++coalition) {
      expected.push_back(of_fine.values[(coalition & 1) * 3 + (coalition >> 1 & 1) * 12 + (coalition >> 2 & 1) * 48]);
    }
    RC_ASSERT(mismatch(expected, of_coarse.values, rounded) == "");
  });
}

// φ(B_k) = Σ_i μ_i(B_k) Σ_q w_q DG(u_b + t_q h)[η_i h], written out; for every rule and number of nodes.
TEST(SmoothOperatorGame, HasTheDiagonalFormulaAsItsIntegratedGradients) {
  for_all_questions([](const Question& question, Rng& rng) {
    const Partition cells = random_cells(question.domain, 1 + static_cast<int>(rng.below(5)), rng);
    const estimators::Rule rule = rng.below(2) == 0 ? estimators::Rule::midpoint : estimators::Rule::gauss_legendre;
    const int nodes = 1 + static_cast<int>(rng.below(6));
    const estimators::Quadrature path = estimators::quadrature(rule, nodes);
    const std::vector<double> masks = question.masks.values();
    std::vector<double> along(question.mask_count(), 0.0);
    for (std::size_t q = 0; q < path.nodes.size(); ++q) {
      const FieldBatch field = question.shown(std::vector<double>(question.points(), path.nodes[q]));
      const FieldBatch gradient = question.op.gradient_at(field, question.query).gradient;
      for (std::size_t mask = 0; mask < along.size(); ++mask)
        for (std::size_t i = 0; i < field.values.size(); ++i)
          along[mask] += path.weights[q] * gradient.values[i] *
                         masks[mask * question.points() + i % question.points()] *
                         (question.input.values[i] - question.baseline.values[i]);
    }
    std::vector<double> expected;
    for (int player = 0; player < cells.players; ++player) {
      const auto shares = question.shares([&](std::size_t point) { return cells.player_of[point] == player; });
      expected.push_back(std::inner_product(shares.begin(), shares.end(), along.begin(), 0.0));
    }
    RC_ASSERT(mismatch(expected, aumann_shapley_values(*question.smooth(cells), rule, nodes), rounded) == "");
    RC_ASSERT(mismatch(along, aumann_shapley_values(*question.diagonal(), rule, nodes), rounded) == "");
    const std::vector<double> attributions = games::masked_attributions(
        question.op, question.input, question.baseline, question.query, masks, path.nodes, path.weights);
    RC_ASSERT(mismatch(along, attributions, rounded) == "");
  });
}

// ∂f/∂a_k at (t, …, t) of the three f by central differences, whose error is h²/6 times a third derivative, below 600
// here.
TEST(OperatorGames, HaveTheGradientsOfTheirExtensions) {
  for_all_questions([](const Question& question, Rng& rng) {
    constexpr double h = 1e-4;
    const Partition cells = random_cells(question.domain, 3, rng);
    const std::vector<double> nodes = {0.2, 0.9};
    const auto check = [&](const Game& game, const std::vector<double>& masks_of_players) {
      std::vector<double> expected;
      for (const double t : nodes)
        for (std::size_t first = 0; first < masks_of_players.size(); first += question.points()) {
          std::vector<double> above(question.points(), t), below = above;
          for (std::size_t point = 0; point < question.points(); ++point) {
            above[point] += h * masks_of_players[first + point];
            below[point] -= h * masks_of_players[first + point];
          }
          expected.push_back((question.answer(above) - question.answer(below)) / (2 * h));
        }
      RC_ASSERT(mismatch(expected, game.extension()->gradients(on_diagonal(nodes, game.players())),
                         discretisation(100, h, 2)) == "");
    };
    check(*question.diagonal(), question.masks.values());
    std::vector<double> of_cells, of_shares;
    for (int player = 0; player < cells.players; ++player) {
      for (const int owner : cells.player_of) of_cells.push_back(owner == player ? 1 : 0);
      const auto shares = question.shares([&](std::size_t point) { return cells.player_of[point] == player; });
      const std::vector<double> held = question.combined(shares);
      of_shares.insert(of_shares.end(), held.begin(), held.end());
    }
    check(*games::cell_mask_game(question.op, {question.input, question.baseline, cells, question.query}), of_cells);
    check(*question.smooth(cells), of_shares);
  });
}

TEST(SmoothOperatorGame, HasAnEfficientAndAdditiveDiagonalFormula) {
  for_all_questions([](const Question& question, Rng& rng) {
    const Partition cells = random_cells(question.domain, 6, rng);
    std::vector<std::int64_t> labels;
    for (const int player : cells.player_of) labels.push_back(player % 2);
    const std::vector<double> fine = aumann_shapley_values(*question.smooth(cells));
    const auto coarse = aumann_shapley_values(*question.smooth(Partition::from_labels(question.domain, labels)));
    RC_ASSERT(mismatch({fine[0] + fine[2] + fine[4], fine[1] + fine[3] + fine[5]}, coarse, rounded) == "");
    const Table table = as_table(*question.smooth(cells));
    RC_ASSERT(mismatch(table.gain(), sum(shapley_values(*question.smooth(cells))), rounded) == "");
    // Each node of Gauss and Legendre gains digits, so 50 of them are nearer to the integral than to the sum of 25.
    const double half_way = sum(aumann_shapley_values(*question.smooth(cells), estimators::Rule::gauss_legendre, 25));
    RC_ASSERT(mismatch(table.gain(), sum(fine), discretisation(std::abs(sum(fine) - half_way) + rounded.bound, 1, 1)) ==
              "");
  });
}

// G = m + c·m³ with baseline 0 makes v = ℓ + c·ℓ³ with the signed measure ℓ(S) = Σ_i μ_i(S) m(η_i u), L = ℓ(Ω):
// the Aumann-Shapley value is ℓ_k(1 + cL²), the Shapley value ℓ_k(1 + cL²) + cℓ_k(M2 − Lℓ_k)/2 with M2 = Σ ℓ².
TEST(SmoothOperatorGame, OfACubicOperatorHasItsClosedForms) {
  const WeightedMeanOperator op(0.7);
  const Domain domain = Domain::unit({32});
  for_all_streams([&](Rng& rng) {
    const FieldBatch input = random_field(domain, 1, rng);
    const games::PartitionOfUnity masks = random_partition_of_unity(domain, rng);
    const Partition cells = Partition::graded(domain, 8, 3);
    const std::vector<double> values = masks.values();
    std::vector<double> part(8, 0.0);
    for (std::size_t mask = 0; mask < values.size() / 32; ++mask) {
      double mean = 0, whole = 0;
      for (int point = 0; point < 32; ++point) {
        const auto p = static_cast<std::size_t>(point);
        mean += WeightedMeanOperator::weight(9, point, 32) * values[mask * 32 + p] * input.values[p];
        whole += values[mask * 32 + p];
      }
      for (std::size_t point = 0; point < 32; ++point)
        part[static_cast<std::size_t>(cells.player_of[point])] += values[mask * 32 + point] / whole * mean;
    }
    const auto [aumann_shapley, shapley] = op.solution(part);
    const auto game =
        games::smooth_operator_game(op, input, FieldBatch::zeros(domain, 1, 1), masks, cells, Query{.point = 9});
    RC_ASSERT(mismatch(aumann_shapley, aumann_shapley_values(*game), rounded) == "");
    RC_ASSERT(mismatch(shapley, shapley_values(*game), rounded) == "");
  });
}

// Finer and finer graded cells of one game: the value of a fixed half of the line converges to the diagonal formula
// like 1/n.
TEST(SmoothOperatorGame, OfFinerCellsHasShapleyValuesNearerToTheDiagonalFormula) {
  Rng rng(11);
  const Domain domain = Domain::unit({256});
  const TwoLayerOperator op(1, 1);
  FieldBatch input = random_field(domain, 1, rng);
  for (double& value : input.values) value += 1;
  const games::PartitionOfUnity masks = games::PartitionOfUnity::bumps(domain, {games::graded_centres(5, 1, 2)});
  std::vector<double> errors, halves;
  for (const int players : {2, 4, 8}) {
    const auto game = games::smooth_operator_game(op, input, FieldBatch::zeros(domain, 1, 1), masks,
                                                  Partition::graded(domain, players, 4), Query{.point = 80});
    const auto half = [&](const std::vector<double>& values) {
      return std::accumulate(values.begin(), values.begin() + players / 2, 0.0);
    };
    halves.push_back(half(aumann_shapley_values(*game)));
    errors.push_back(half(shapley_values(*game)) - halves.back());
  }
  EXPECT_EQ("", mismatch(std::vector<double>(3, halves[0]), halves, rounded)) << "additive: the same for all cells";
  EXPECT_GT(std::abs(errors[0]), 0.01);
  EXPECT_GT(std::abs(errors[0]), std::abs(errors[1]));
  EXPECT_NEAR(2, errors[1] / errors[2], 0.2) << "the next term is 1/n²: a tenth of the first one";
}

TEST(DiagonalGame, ShowsTheMasksOfACoalition) {
  for_all_questions([](const Question& question, Rng&) {
    if (question.mask_count() > 6) return;
    std::vector<double> expected;
    for (std::size_t coalition = 0; coalition < std::size_t{1} << question.mask_count(); ++coalition) {
      std::vector<double> shown(question.mask_count());
      for (std::size_t mask = 0; mask < shown.size(); ++mask) shown[mask] = static_cast<double>(coalition >> mask & 1);
      expected.push_back(question.answer(question.combined(shown)));
    }
    const auto game = question.diagonal();
    RC_ASSERT(mismatch(expected, as_table(*game).values, rounded) == "");
    RC_ASSERT(mismatch(expected.back() - expected.front(), sum(shapley_values(*game)), rounded) == "");
  });
}

// Indicators that are smoothed over less than a cell of the grid are the indicators.
TEST(DiagonalGame, OfSharpMasksIsTheGameOfHardMasks) {
  for_all_questions([](const Question& question, Rng& rng) {
    const Partition cells = random_cells(question.domain, 5, rng);
    const auto hard = games::cell_mask_game(question.op, {question.input, question.baseline, cells, question.query});
    const auto sharp =
        games::diagonal_game(question.op, question.input, question.baseline,
                             games::PartitionOfUnity::smoothed_cells(question.domain, cells, 1e-3), question.query);
    RC_ASSERT(as_table(*hard).values == as_table(*sharp).values);
    RC_ASSERT(mismatch(aumann_shapley_values(*hard), aumann_shapley_values(*sharp), rounded) == "");
  });
}

// One operator, one input, the same cells: three games. They agree on ∅ and N only.
TEST(OperatorGames, AreThreeGames) {
  Rng rng(5);
  const Domain domain = Domain::unit({24});
  const TwoLayerOperator op(1, 1);
  const FieldBatch input = random_field(domain, 1, rng), baseline = random_field(domain, 1, rng);
  const Partition cells = Partition::blocks(domain, 4);
  const games::PartitionOfUnity masks = games::PartitionOfUnity::smoothed_cells(domain, cells, 0.2);
  const std::vector<std::vector<double>> values = {
      as_table(*games::cell_mask_game(op, {input, baseline, cells, {}})).values,
      as_table(*smooth_operator_game(op, input, baseline, masks, cells, {})).values,
      as_table(*diagonal_game(op, input, baseline, masks, {})).values};
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_EQ("", mismatch({values[a].front(), values[a].back()}, {values[b].front(), values[b].back()}, rounded));
      for (std::size_t coalition = 1; coalition < 15; ++coalition)
        EXPECT_NE("", mismatch(values[a][coalition], values[b][coalition], rounding(1e9, 2))) << a << b << coalition;
    }
}

// Σ_j Attr^{η_j} = Σ_q w_q DG(u_b + t_q h)[h] for every partition of unity and every rule; with enough nodes that is
// G(u) − G(u_b).
TEST(MaskedAttributions, AddUpToTheSameForEveryPartitionOfUnity) {
  for (const auto& shape : std::vector<std::vector<int>>{{24}, {6, 6}}) {
    const Domain domain = Domain::unit(shape);
    const TwoLayerOperator op(domain.dimension(), 2);
    Rng rng(7, "partition of unity", static_cast<std::uint32_t>(shape.size()));
    const FieldBatch input = random_field(domain, 2, rng), baseline = random_field(domain, 2, rng);
    const Query query{.point = 10, .channel = 1};
    const double gain = op.values_at(input, query).front() - op.values_at(baseline, query).front();
    const std::vector<double> ones(static_cast<std::size_t>(domain.points()), 1.0);
    const estimators::Quadrature coarse = estimators::quadrature(estimators::Rule::midpoint, 2),
                                 fine = estimators::quadrature(estimators::Rule::gauss_legendre, 5);
    const auto total = [&](std::span<const double> masks, const estimators::Quadrature& rule) {
      return sum(games::masked_attributions(op, input, baseline, query, masks, rule.nodes, rule.weights));
    };
    for (int trial = 0; trial < 200; ++trial) {
      const games::PartitionOfUnity masks = random_partition_of_unity(domain, rng);
      for (const estimators::Quadrature& rule : {coarse, fine})
        ASSERT_EQ("", mismatch(total(ones, rule), total(masks.values(), rule), rounded)) << trial;
      const auto game = games::diagonal_game(op, input, baseline, masks, query);
      ASSERT_EQ(
          "", mismatch(total(ones, coarse), sum(aumann_shapley_values(*game, estimators::Rule::midpoint, 2)), rounded));
    }
    const double half_way = total(ones, estimators::quadrature(estimators::Rule::gauss_legendre, 25));
    const double whole = total(ones, estimators::quadrature(estimators::Rule::gauss_legendre, 50));
    EXPECT_EQ("", mismatch(gain, whole, discretisation(std::abs(whole - half_way) + rounded.bound, 1, 1)));
    EXPECT_LT(std::abs(whole - half_way), 1e-6) << "the bound above is a tight one";
    EXPECT_NE("", mismatch(gain, total(ones, coarse), rounded))
        << "two nodes are not enough: the law above is no accident";
  }
}

TEST(MaskedAttributions, AreLinearInTheMask) {
  for_all_questions([](const Question& question, Rng& rng) {
    const estimators::Quadrature rule = estimators::quadrature(estimators::Rule::midpoint, 3);
    std::vector<double> masks = random_field(question.domain, 2, rng).values;
    for (std::size_t point = 0; point < question.points(); ++point)
      masks.push_back(2 * masks[point] - 3 * masks[question.points() + point]);
    const std::vector<double> found = games::masked_attributions(question.op, question.input, question.baseline,
                                                                 question.query, masks, rule.nodes, rule.weights);
    RC_ASSERT(mismatch(2 * found[0] - 3 * found[1], found[2], rounding(1e4, 10)) == "");
  });
}

TEST(OperatorGames, RefuseWhatDoesNotFit) {
  const Domain domain = Domain::unit({8}), other = Domain::unit({16});
  const TwoLayerOperator op(1, 1);
  const FieldBatch field = FieldBatch::zeros(domain, 1, 1);
  const games::PartitionOfUnity masks = games::PartitionOfUnity::bumps(domain, {{0, 0.5}});
  const games::PartitionOfUnity of_other = games::PartitionOfUnity::bumps(other, {{0, 0.5}});
  const Partition cells = Partition::blocks(domain, 4);
  const std::vector<double> one = {1}, half = {0.5}, ones(8, 1.0);
  FieldBatch broken = field;
  broken.values[3] = std::numeric_limits<double>::quiet_NaN();
  const auto refuses = [&](const auto& make) {
    EXPECT_NO_THROW(make(field, field, Query{.point = 7}));
    for (const Query query : {Query{.point = 8}, {.point = -1}, {.point = 0, .channel = 2}})
      EXPECT_THROW(make(field, field, query), InvalidArgument) << query.point;
    EXPECT_THROW(make(FieldBatch::zeros(domain, 2, 1), field, Query{}), InvalidArgument);
    EXPECT_THROW(make(FieldBatch::zeros(domain, 1, 2), FieldBatch::zeros(domain, 1, 2), Query{}), InvalidArgument);
    EXPECT_THROW(make(field, FieldBatch::zeros(other, 1, 1), Query{}), InvalidArgument);
    EXPECT_THROW(make(FieldBatch::zeros(other, 1, 1), FieldBatch::zeros(other, 1, 1), Query{}), InvalidArgument);
    EXPECT_THROW(make(broken, field, Query{}), DataError);
    EXPECT_THROW(make(field, broken, Query{}), DataError);
  };
  refuses([&](const FieldBatch& input, const FieldBatch& baseline, Query query) {
    games::smooth_operator_game(op, input, baseline, masks, cells, query);
  });
  refuses([&](const FieldBatch& input, const FieldBatch& baseline, Query query) {
    games::diagonal_game(op, input, baseline, masks, query);
  });
  refuses([&](const FieldBatch& input, const FieldBatch& baseline, Query query) {
    games::masked_attributions(op, input, baseline, query, ones, half, one);
  });
  EXPECT_THROW(games::smooth_operator_game(op, field, field, of_other, cells, {}), InvalidArgument);
  EXPECT_THROW(games::smooth_operator_game(op, field, field, masks, Partition::blocks(other, 4), {}), InvalidArgument);
  EXPECT_THROW(games::diagonal_game(op, field, field, of_other, {}), InvalidArgument);
  const std::vector<double> two = {0.5, 0.5}, heavy = {1.5}, infinite(8, std::numeric_limits<double>::infinity());
  EXPECT_THROW(games::masked_attributions(op, field, field, {}, std::vector<double>(9, 1.0), half, one),
               InvalidArgument);
  EXPECT_THROW(games::masked_attributions(op, field, field, {}, infinite, half, one), InvalidArgument);
  EXPECT_THROW(games::masked_attributions(op, field, field, {}, ones, half, two), InvalidArgument);
  EXPECT_THROW(games::masked_attributions(op, field, field, {}, ones, half, heavy), InvalidArgument);
  EXPECT_THROW(games::masked_attributions(op, field, field, {}, ones, {}, {}), InvalidArgument);
  EXPECT_TRUE(games::masked_attributions(op, field, field, {}, {}, half, one).empty());
}

/// Counts the engines that are asked for.
class OperatorWithEngines final : public WeightedMeanOperator {
 public:
  OperatorWithEngines() : WeightedMeanOperator(1) {}

  std::unique_ptr<CoalitionEngine> coalition_engine(const FieldBatch&, const FieldBatch&, const Partition&,
                                                    const Readout&) const override {
    ++engines;
    return std::make_unique<Sizes>();
  }

  mutable int engines = 0;

 private:
  class Sizes final : public CoalitionEngine {
   public:
    void values(const Coalitions& coalitions, std::size_t first, std::span<double> values) const override {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = coalitions.cardinality(first + i);
    }
    std::size_t batch() const override { return 2; }
  };
};

TEST(CellMaskGame, PreparesItsEngineOnceAndOnlyWhenItIsAsked) {
  const OperatorWithEngines op;
  const auto game = games::cell_mask_game(op, make_scenario({}, FieldBatch::zeros(Domain::unit({5}), 1, 1), {5}));
  EXPECT_EQ(5, game->players());
  EXPECT_EQ(op.coalition_path(), game->path());
  EXPECT_EQ(0, op.engines);
  EXPECT_EQ((std::vector<double>{0, 1, 1, 2, 1}), game->values(Coalitions::enumerate(5, 0, 5)));
  game->values(Coalitions::enumerate(5, 0, 32));
  EXPECT_EQ(1, op.engines);
}

TEST(CellMaskGame, HasTheKinksOfItsOperator) {
  class Kinked final : public WeightedMeanOperator {
   public:
    Kinked() : WeightedMeanOperator(1) {}
    bool has_kinks() const override { return true; }
  };
  const Kinked kinked;
  const OperatorWithEngines smooth;
  const auto has_kinks = [](const Operator& op) {
    const auto game = games::cell_mask_game(op, make_scenario({}, FieldBatch::zeros(Domain::unit({5}), 1, 1)));
    EXPECT_EQ(game->extension()->has_kinks(), game->mean_field()->has_kinks());
    return game->extension()->has_kinks();
  };
  EXPECT_TRUE(has_kinks(kinked));
  EXPECT_FALSE(has_kinks(smooth));
}

TEST(CellMaskGame, KnowsWhoChangesNothing) {
  const OperatorWithEngines op;
  FieldBatch input = FieldBatch::zeros(Domain::unit({6}), 1, 1);
  input.values = {0, 2, 1e-10, 0, 1e-8, 0};
  const auto active = [&](const ScenarioRule& rule) {
    return games::cell_mask_game(op, make_scenario(rule, input))->active_players();
  };
  EXPECT_EQ((std::vector<int>{1, 4}), active({}));
  EXPECT_EQ((std::vector<int>{0, 2}), active({.players = ScenarioRule::Players::blocks, .blocks = 3}));
  EXPECT_EQ((std::vector<int>{0, 2, 3, 4, 5}), active({.baseline = ScenarioRule::Hidden::constant, .constants = {2}}));
}

}  // namespace
}  // namespace opshap
