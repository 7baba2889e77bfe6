#include "games/cell_mask_game.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>

#include "core/error.hpp"
#include "core/threads.hpp"

namespace opshap::games {

void SparseRows::append(std::vector<std::pair<int, double>>& entries, double divisor) {
  // Stable, so that equal columns are added up in the order given.
  std::ranges::stable_sort(entries, {}, &std::pair<int, double>::first);
  for (std::size_t next = 0; next < entries.size();) {
    const int column = entries[next].first;
    double value = 0;
    for (; next < entries.size() && entries[next].first == column; ++next) value += entries[next].second;
    if (value == 0) continue;
    columns_.push_back(column);
    values_.push_back(value / divisor);
  }
  first_.push_back(columns_.size());
}

MaskedOperator::MaskedOperator(std::string_view who, const Operator& op, FieldBatch input, FieldBatch baseline,
                               Readout readout)
    : operator_(op), input_(std::move(input)), baseline_(std::move(baseline)), readout_(std::move(readout)) {
  require(input_.batch == 1 && baseline_.batch == 1, who, ": batch=", input_.batch, " and ", baseline_.batch,
          " (a game explains one input against one baseline). Take one sample of each.");
  require(input_.domain == baseline_.domain && input_.channels == baseline_.channels, who,
          ": baseline (its domain or channels are not those of the input). Give a baseline of the input's shape.");
  require(input_.domain.dimension() == op.dimension() && input_.channels == op.input_channels(), who,
          ": channels=", input_.channels, ", axes=", input_.domain.dimension(), " (", op.describe(), " takes ",
          op.input_channels(), " channels on ", op.dimension(), " axes). Give a field it takes.");
  require_readout(op, input_.domain, readout_);
  require_finite(input_, std::string(who).append(": input").c_str());
  require_finite(baseline_, std::string(who).append(": baseline").c_str());
}

template <typename Work>
void MaskedOperator::for_each_batch(std::size_t count, int channels, const Weigh& fill, const Work& work) const {
  const auto preferred = static_cast<std::size_t>(std::max<std::int64_t>(1, operator_.preferred_batch(input_.domain)));
  FieldBatch fields = FieldBatch::zeros(input_.domain, 0, channels);
  for (std::size_t first = 0; first < count; first += preferred) {
    fields.batch = static_cast<std::int64_t>(std::min(preferred, count - first));
    fields.values.resize(static_cast<std::size_t>(fields.batch) * fields.field_size());
    for (std::int64_t index = 0; index < fields.batch; ++index)
      fill(first + static_cast<std::size_t>(index), fields.field(index));
    work(first, fields);
  }
}

MaskedOperator::Weigh MaskedOperator::constant(std::span<const double> nodes) {
  return [nodes](std::size_t index, std::span<double> weights) { std::ranges::fill(weights, nodes[index]); };
}

MaskedOperator::Weigh MaskedOperator::mixed(const Weigh& weigh) const {
  return [this, &weigh, weights = std::vector<double>(static_cast<std::size_t>(input_.domain.points()))](
             std::size_t index, std::span<double> field) mutable {
    weigh(index, weights);
    for (std::size_t channel = 0; channel < field.size(); channel += weights.size()) {
      for (std::size_t point = 0; point < weights.size(); ++point) {
        // Not u_b + w·h: this is exactly u for w = 1.
        field[channel + point] =
            (1 - weights[point]) * baseline_.values[channel + point] + weights[point] * input_.values[channel + point];
      }
    }
  };
}

std::vector<double> MaskedOperator::values(std::size_t count, const Weigh& weigh) const {
  std::vector<double> values;
  values.reserve(count);
  for_each_batch(count, input_.channels, mixed(weigh), [&](std::size_t, const FieldBatch& fields) {
    const std::vector<double> found = operator_.values_at(fields, readout_);
    values.insert(values.end(), found.begin(), found.end());
  });
  return values;
}

void MaskedOperator::slopes(std::size_t count, const Weigh& weigh, const UseSlopes& use) const {
  std::vector<double> slopes(static_cast<std::size_t>(input_.domain.points()));
  for_each_batch(count, input_.channels, mixed(weigh), [&](std::size_t first, const FieldBatch& fields) {
    const FieldBatch gradients = operator_.gradient_at(fields, readout_).gradient;
    for (std::int64_t index = 0; index < fields.batch; ++index) {
      const auto gradient = gradients.field(index);
      std::ranges::fill(slopes, 0.0);
      for (std::size_t i = 0; i < gradient.size(); ++i)
        slopes[i % slopes.size()] += gradient[i] * (input_.values[i] - baseline_.values[i]);
      use(first + static_cast<std::size_t>(index), slopes);
    }
  });
}

void MaskedOperator::mean_field_slopes(std::size_t count, const Weigh& weigh, const UseSlopes& use) const {
  for_each_batch(count, 1, weigh, [&](std::size_t first, const FieldBatch& inclusion) {
    const FieldBatch slopes = operator_.mean_field_at(input_, baseline_, inclusion, readout_).gradient;
    for (std::int64_t index = 0; index < inclusion.batch; ++index)
      use(first + static_cast<std::size_t>(index), slopes.field(index));
  });
}

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

  const DifferentiableGame* differentiable() const override { return masked_.has_gradients() ? this : nullptr; }

  std::vector<double> diagonal_gradients(std::span<const double> nodes) const override {
    return by_engine(
        nodes.size(), &MaskedOperator::slopes, MaskedOperator::constant(nodes),
        [&](std::size_t node, std::span<double> slopes) { engine()->diagonal_slopes(nodes[node], slopes); });
  }

  const MeanField* mean_field() const override { return masked_.has_mean_field() ? this : nullptr; }

  std::vector<double> mean_field_gradients(std::span<const double> nodes) const override {
    return by_engine(
        nodes.size(), &MaskedOperator::mean_field_slopes, MaskedOperator::constant(nodes),
        [&](std::size_t node, std::span<double> slopes) { engine()->mean_field_slopes(nodes[node], slopes); });
  }

  /// Those of the closure where there is one: a hard mask is far from the diagonal, and it knows both states of a cell.
  const CoalitionSlopes* slopes() const override {
    return masked_.has_gradients() || masked_.has_mean_field() ? this : nullptr;
  }

  std::vector<double> coalition_slopes(const Coalitions& coalitions) const override {
    if (!masked_.has_mean_field()) return by_operator(coalitions.size(), &MaskedOperator::slopes, mask_of(coalitions));
    return by_engine(
        coalitions.size(), &MaskedOperator::mean_field_slopes, mask_of(coalitions),
        [&](std::size_t row, std::span<double> slopes) { engine()->mean_field_slopes(coalitions, row, slopes); });
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

  MaskedOperator::Weigh mask_of(const Coalitions& coalitions) const {
    return [&](std::size_t index, std::span<double> weights) {
      const auto row = coalitions.row(index);
      for (std::size_t point = 0; point < weights.size(); ++point)
        weights[point] = contains(row, partition_.player_of[point]) ? 1 : 0;
    };
  }

  using Slopes = void (MaskedOperator::*)(std::size_t, const MaskedOperator::Weigh&,
                                          const MaskedOperator::UseSlopes&) const;
  /// [count, n], by the operator's own reverse passes.
  std::vector<double> by_operator(std::size_t count, Slopes slopes, const MaskedOperator::Weigh& weigh) const {
    std::vector<double> gradients(count * static_cast<std::size_t>(players()), 0.0);
    (masked_.*slopes)(count, weigh, [&](std::size_t index, std::span<const double> of_points) {
      add_to_players(of_points, index, gradients);
    });
    return gradients;
  }

  /// The same from compute(index, slopes of the points) on all threads, where there is an engine that has slopes.
  template <typename Compute>
  std::vector<double> by_engine(std::size_t count, Slopes slopes_otherwise, const MaskedOperator::Weigh& weigh,
                                const Compute& compute) const {
    if (engine() == nullptr || !engine()->has_slopes()) return by_operator(count, slopes_otherwise, weigh);
    std::vector<double> gradients(count * static_cast<std::size_t>(players()), 0.0);
    parallel_for(count, [&](std::size_t index) {
      std::vector<double> slopes(partition_.player_of.size());
      compute(index, slopes);
      add_to_players(slopes, index, gradients);
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
  MaskedOperator masked("cell_mask_game", op, std::move(scenario.input), std::move(scenario.baseline),
                        scenario.readout);
  require(static_cast<std::int64_t>(scenario.partition.player_of.size()) == masked.domain().points(),
          "cell_mask_game: partition=", scenario.partition.player_of.size(), " points (the domain has ",
          masked.domain().points(), "). Make the partition from the domain of the input.");
  return std::make_unique<CellMaskGame>(op, std::move(masked), std::move(scenario.partition), scenario.readout);
}

}  // namespace opshap::games
