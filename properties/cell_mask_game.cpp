// The game of an operator whose players are cells: how it asks the operator's engine.

#include "games/cell_mask_game.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <vector>

#include "core/operator.hpp"
#include "core/scenario.hpp"
#include "support/weighted_mean_operator.hpp"

namespace opshap {
namespace {

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
  const FieldBatch field = FieldBatch::zeros(Domain::unit({5}), 1, 1);
  const auto game = games::cell_mask_game(op, make_scenario({}, field, {5}));
  EXPECT_EQ(5, game->players());
  EXPECT_EQ(op.coalition_path(), game->path());
  EXPECT_EQ(0, op.engines);
  EXPECT_EQ((std::vector<double>{0, 1, 1, 2, 1}), game->values(Coalitions::enumerate(5, 0, 5)));
  game->values(Coalitions::enumerate(5, 0, 32));
  EXPECT_EQ(1, op.engines);
}

}  // namespace
}  // namespace opshap
