#include "games/cell_mask_game.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/operator.hpp"
#include "core/threads.hpp"
#include "games/masked_operator.hpp"

namespace opshap::games {

namespace {

class CellMaskGame final : public DifferentiableGame, public MeanField, public CoalitionSlopes {
 public:
  CellMaskGame(const Operator& op, MaskedOperator masked, Partition partition, Readout readout)
      : operator_(op), masked_(std::move(masked)), partition_(std::move(partition)), readout_(std::move(readout)) {}

  int players() const override { return partition_.players; }

  std::string path() const override { return operator_.coalition_path(readout_); }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    if (engine() != nullptr) return engine_values(coalitions);
    return masked_.values(coalitions.size(), mask_of(coalitions));
  }

  std::vector<double> diagonal_gradients(std::span<const double> nodes) const override {
    if (engine_has_slopes()) {
      return by_engine(nodes.size(), [&](std::size_t node, std::span<double> slopes) {
        engine()->diagonal_slopes(nodes[node], slopes);
      });
    }
    return by_operator(&MaskedOperator::slopes, nodes.size(), MaskedOperator::constant(nodes));
  }

  const MeanField* mean_field() const override { return masked_.has_mean_field() ? this : nullptr; }

  std::vector<double> mean_field_gradients(std::span<const double> nodes) const override {
    if (engine_has_slopes()) {
      return by_engine(nodes.size(), [&](std::size_t node, std::span<double> slopes) {
        engine()->mean_field_slopes(nodes[node], slopes);
      });
    }
    return by_operator(&MaskedOperator::mean_field_slopes, nodes.size(), MaskedOperator::constant(nodes));
  }

  /// Those of the closure where there is one: a hard mask is far from the diagonal, and it knows both states of a cell.
  const CoalitionSlopes* slopes() const override { return this; }

  std::vector<double> coalition_slopes(const Coalitions& coalitions) const override {
    if (!masked_.has_mean_field()) return by_operator(&MaskedOperator::slopes, coalitions.size(), mask_of(coalitions));
    if (!engine_has_slopes())
      return by_operator(&MaskedOperator::mean_field_slopes, coalitions.size(), mask_of(coalitions));
    return by_engine(coalitions.size(), [&](std::size_t row, std::span<double> slopes) {
      engine()->mean_field_slopes(coalitions, row, slopes);
    });
  }
  std::vector<double> mean_slopes(std::span<const double> nodes) const override {
    return masked_.has_mean_field() ? mean_field_gradients(nodes) : diagonal_gradients(nodes);
  }
  std::int64_t pass_cost() const override { return masked_.has_mean_field() ? 6 : 3; }

 private:
  std::vector<double> engine_values(const Coalitions& coalitions) const {
    std::vector<double> values(coalitions.size());
    const CoalitionEngine& engine = *this->engine();
    const std::size_t size = engine.batch();
    parallel_for((values.size() + size - 1) / size, [&](std::size_t chunk) {
      const std::size_t first = chunk * size;
      engine.values(coalitions, first, std::span(values).subspan(first, std::min(size, values.size() - first)));
    });
    return values;
  }

  /// Null where the operator has none. Made by the first question that needs it: an asker who knows v(∅) and v(N) has
  /// none, and another one may do something else meanwhile.
  const CoalitionEngine* engine() const {
    std::call_once(once_, [this] {
      engine_ = operator_.coalition_engine(masked_.input(), masked_.baseline(), partition_, readout_);
    });
    return engine_.get();
  }
  bool engine_has_slopes() const { return engine() != nullptr && engine()->has_slopes(); }

  MaskedOperator::Weigh mask_of(const Coalitions& coalitions) const {
    return [&](std::size_t index, std::span<double> weights) {
      const auto row = coalitions.row(index);
      for (std::size_t point = 0; point < weights.size(); ++point)
        weights[point] = contains(row, partition_.player_of[point]) ? 1 : 0;
    };
  }

  /// [count, n], from compute(index, slopes of the points) on all threads.
  template <typename Compute>
  std::vector<double> by_engine(std::size_t count, const Compute& compute) const {
    std::vector<double> gradients(count * static_cast<std::size_t>(players()), 0.0);
    parallel_for(count, [&](std::size_t index) {
      std::vector<double> slopes(partition_.player_of.size());
      compute(index, slopes);
      add_to_players(slopes, index, gradients);
    });
    return gradients;
  }

  using Slopes = void (MaskedOperator::*)(std::size_t, const MaskedOperator::Weigh&,
                                          const MaskedOperator::UseSlopes&) const;
  /// The same by the operator's own reverse passes.
  std::vector<double> by_operator(Slopes slopes, std::size_t count, const MaskedOperator::Weigh& weigh) const {
    std::vector<double> gradients(count * static_cast<std::size_t>(players()), 0.0);
    (masked_.*slopes)(count, weigh, [&](std::size_t index, std::span<const double> of_points) {
      add_to_players(of_points, index, gradients);
    });
    return gradients;
  }

  /// Adds the slopes of each player's points to the row with that number.
  void add_to_players(std::span<const double> slopes, std::size_t row, std::vector<double>& gradients) const {
    double* of_row = gradients.data() + row * static_cast<std::size_t>(players());
    for (std::size_t point = 0; point < slopes.size(); ++point) of_row[partition_.player_of[point]] += slopes[point];
  }

  const Operator& operator_;
  MaskedOperator masked_;
  Partition partition_;
  Readout readout_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<CoalitionEngine> engine_;
};

}  // namespace

std::unique_ptr<Game> cell_mask_game(const Operator& op, Scenario scenario) {
  const Readout readout = scenario.readout;
  Partition partition = std::move(scenario.partition);
  MaskedOperator masked("cell_mask_game", op, std::move(scenario.input), std::move(scenario.baseline), readout);
  require(static_cast<std::int64_t>(partition.player_of.size()) == masked.domain().points(),
          "cell_mask_game: partition=", partition.player_of.size(), " points (the domain has ",
          masked.domain().points(), "). Make the partition from the domain of the input.");
  return std::make_unique<CellMaskGame>(op, std::move(masked), std::move(partition), readout);
}

}  // namespace opshap::games
