#include "games/cell_mask_game.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/coalition_engine.hpp"
#include "core/error.hpp"
#include "core/threads.hpp"
#include "games/masked_operator.hpp"

namespace opshap::games {

namespace {

class CellMaskGame final : public DifferentiableGame, public MeanField {
 public:
  CellMaskGame(const Operator& op, MaskedOperator masked, std::unique_ptr<CoalitionEngine> engine, Partition partition)
      : operator_(op), masked_(std::move(masked)), engine_(std::move(engine)), partition_(std::move(partition)) {}

  int players() const override { return partition_.players; }

  std::string path() const override { return operator_.coalition_path(); }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    if (engine_) return engine_values(coalitions);
    return masked_.values(coalitions.size(), [&](std::size_t index, std::span<double> weights) {
      const auto row = coalitions.row(index);
      for (std::size_t point = 0; point < weights.size(); ++point)
        weights[point] = contains(row, partition_.player_of[point]) ? 1 : 0;
    });
  }

  std::vector<double> diagonal_gradients(std::span<const double> nodes) const override {
    std::vector<double> gradients(nodes.size() * static_cast<std::size_t>(players()), 0.0);
    const auto use = by_player(gradients);
    if (!engine_ || !engine_->has_slopes()) {
      masked_.diagonal_slopes(nodes, use);
    } else {
      for_each_node(nodes, use, [&](double t, std::span<double> slopes) { engine_->diagonal_slopes(t, slopes); });
    }
    return gradients;
  }

  const MeanField* mean_field() const override { return masked_.has_mean_field() ? this : nullptr; }

  std::vector<double> mean_field_gradients(std::span<const double> nodes) const override {
    std::vector<double> gradients(nodes.size() * static_cast<std::size_t>(players()), 0.0);
    const auto use = by_player(gradients);
    if (!engine_ || !engine_->has_slopes()) {
      masked_.mean_field_slopes(nodes, use);
    } else {
      for_each_node(nodes, use, [&](double t, std::span<double> slopes) { engine_->mean_field_slopes(t, slopes); });
    }
    return gradients;
  }

 private:
  std::vector<double> engine_values(const Coalitions& coalitions) const {
    std::vector<double> values(coalitions.size());
    const std::size_t size = engine_->batch();
    parallel_for((values.size() + size - 1) / size, [&](std::size_t chunk) {
      const std::size_t first = chunk * size;
      engine_->values(coalitions, first, std::span(values).subspan(first, std::min(size, values.size() - first)));
    });
    return values;
  }

  template <typename Slopes>
  void for_each_node(std::span<const double> nodes, const MaskedOperator::UseSlopes& use, const Slopes& compute) const {
    parallel_for(nodes.size(), [&](std::size_t node) {
      std::vector<double> slopes(partition_.player_of.size());
      compute(nodes[node], slopes);
      use(node, slopes);
    });
  }

  /// Adds the slopes of each player's points to the row of the node.
  MaskedOperator::UseSlopes by_player(std::vector<double>& gradients) const {
    return [&](std::size_t node, std::span<const double> slopes) {
      double* of_node = gradients.data() + node * static_cast<std::size_t>(players());
      for (std::size_t point = 0; point < slopes.size(); ++point) of_node[partition_.player_of[point]] += slopes[point];
    };
  }

  const Operator& operator_;
  MaskedOperator masked_;
  std::unique_ptr<CoalitionEngine> engine_;  ///< null where the operator has none
  Partition partition_;
};

}  // namespace

std::unique_ptr<Game> cell_mask_game(const Operator& op, Scenario scenario) {
  const Query query = scenario.query;
  Partition partition = std::move(scenario.partition);
  MaskedOperator masked("cell_mask_game", op, std::move(scenario.input), std::move(scenario.baseline), query);
  require(static_cast<std::int64_t>(partition.player_of.size()) == masked.domain().points(),
          "cell_mask_game: partition=", partition.player_of.size(), " points (the domain has ",
          masked.domain().points(), "). Make the partition from the domain of the input.");
  auto engine = op.coalition_engine(masked.input(), masked.baseline(), partition, query);
  return std::make_unique<CellMaskGame>(op, std::move(masked), std::move(engine), std::move(partition));
}

}  // namespace opshap::games
