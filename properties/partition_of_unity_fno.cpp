// Masked attributions of Fourier neural operators add up to F(u)(x*) − F(u_b)(x*) for every partition of unity
// (OperatorSHAP, theorem on partitions of unity).

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <vector>

#include "estimators/diagonal.hpp"
#include "games/partition_of_unity.hpp"
#include "operators/fno.hpp"
#include "operators/weights.hpp"
#include "support/operator_inputs.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// A network with random parameters and a question to it.
struct Question {
  std::unique_ptr<Operator> op;
  FieldBatch input, baseline;
  Query query;

  double gain() const { return op->values_at(input, query).front() - op->values_at(baseline, query).front(); }
  double total(std::span<const double> masks, const estimators::Quadrature& rule) const {
    return sum(games::masked_attributions(*op, input, baseline, query, masks, rule.nodes, rule.weights));
  }
};

Question random_question(const std::vector<int>& shape) {
  operators::FnoConfig config{
      .n_modes = {}, .hidden_channels = 8, .n_layers = 3, .in_channels = 2, .domain_padding = 0.5};
  config.n_modes.assign(shape.size(), 6);
  const Domain domain = Domain::unit(shape);
  Rng rng(9, "partition of unity", static_cast<std::uint32_t>(shape.size()));
  return {.op = operators::untrained_operator(config, 3, networks::Precision::float64),
          .input = random_field(domain, 2, rng),
          .baseline = random_field(domain, 2, rng),
          .query = {.point = domain.centre()}};
}

const std::vector<std::vector<int>> shapes = {{32}, {8, 8}};

TEST(PartitionOfUnityFno, MaskedAttributionsAddUpToTheSame) {
  for (const std::vector<int>& shape : shapes) {
    const Question question = random_question(shape);
    const estimators::Quadrature rule = estimators::quadrature(estimators::Rule::midpoint, 3);
    const std::vector<double> ones(static_cast<std::size_t>(question.input.domain.points()), 1.0);
    const double expected = question.total(ones, rule);
    Rng rng(1, "partitions");
    for (int trial = 0; trial < 200; ++trial) {
      const games::PartitionOfUnity masks = random_partition_of_unity(question.input.domain, rng);
      // Sums over 64 points and 2 channels of slopes below 1, which are the same for all partitions.
      ASSERT_EQ("", mismatch(expected, question.total(masks.values(), rule), rounding(1e3, 1))) << trial;
    }
    EXPECT_NE("", mismatch(expected, question.gain(), rounding(1e3, 1))) << "three nodes are not the integral";
  }
}

TEST(PartitionOfUnityFno, MaskedAttributionsAddUpToTheGainUpToTheQuadrature) {
  for (const std::vector<int>& shape : shapes) {
    const Question question = random_question(shape);
    const std::vector<double> ones(static_cast<std::size_t>(question.input.domain.points()), 1.0);
    std::vector<double> errors;
    for (const int nodes : {25, 50, 100})
      errors.push_back(question.total(ones, estimators::quadrature(estimators::Rule::midpoint, nodes)) -
                       question.gain());
    // The midpoint rule's error is C/K² with the next term in K⁻⁴.
    EXPECT_NEAR(4, errors[0] / errors[1], 0.1);
    EXPECT_NEAR(4, errors[1] / errors[2], 0.1);
    EXPECT_EQ("", mismatch(question.gain(),
                           question.total(ones, estimators::quadrature(estimators::Rule::gauss_legendre, 50)),
                           rounding(1e4, 1)));
  }
}

TEST(PartitionOfUnityFno, GamesAgreeWithTheMaskedAttributions) {
  for (const std::vector<int>& shape : shapes) {
    const Question question = random_question(shape);
    const Domain& domain = question.input.domain;
    Rng rng(2, "partitions");
    for (int trial = 0; trial < 10; ++trial) {
      const games::PartitionOfUnity masks = random_partition_of_unity(domain, rng);
      const Partition cells = random_cells(domain, 5, rng);
      const estimators::Quadrature rule = estimators::quadrature(estimators::Rule::midpoint, 2);
      const std::vector<double> attributions = games::masked_attributions(
          *question.op, question.input, question.baseline, question.query, masks.values(), rule.nodes, rule.weights);
      const auto estimator = estimators::integrated_gradients(estimators::Rule::midpoint, 2);
      const auto diagonal =
          games::diagonal_game(*question.op, question.input, question.baseline, masks, question.query);
      EXPECT_EQ("", mismatch(attributions, attribute(*estimator, *diagonal, {0}, 1).values, rounding(1e3, 1)));
      const auto smooth =
          games::smooth_operator_game(*question.op, question.input, question.baseline, masks, cells, question.query);
      const games::SparseRows shares = masks.shares(cells);
      std::vector<double> expected;
      for (std::size_t player = 0; player < 5; ++player) expected.push_back(shares.dot(player, attributions));
      EXPECT_EQ("", mismatch(expected, attribute(*estimator, *smooth, {0}, 1).values, rounding(1e3, 1)));
      Coalitions outer(5);
      outer.append_empty();
      outer.append_grand();
      const std::vector<double> ends = {question.op->values_at(question.baseline, question.query).front(),
                                        question.op->values_at(question.input, question.query).front()};
      EXPECT_EQ("", mismatch(ends, smooth->values(outer), rounding(1e4, 1)));
    }
  }
}

}  // namespace
}  // namespace opshap
