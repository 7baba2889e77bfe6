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

namespace {

/// Throws as the constructor of MaskedOperator.
void require_game(std::string_view who, const Operator& op, const FieldBatch& input, const FieldBatch& baseline,
                  const Readout& readout) {
  require(input.batch == 1 && baseline.batch == 1, who, ": batch=", input.batch, " and ", baseline.batch,
          " (a game explains one input against one baseline). Take one sample of each.");
  require(input.domain == baseline.domain && input.channels == baseline.channels, who,
          ": baseline (its domain or channels are not those of the input). Give a baseline of the input's shape.");
  require(input.domain.dimension() == op.dimension() && input.channels == op.input_channels(), who,
          ": channels=", input.channels, ", axes=", input.domain.dimension(), " (", op.describe(), " takes ",
          op.input_channels(), " channels on ", op.dimension(), " axes). Give a field it takes.");
  require_readout(op, input.domain, readout);
  require_finite(input, std::string(who).append(": input").c_str());
  require_finite(baseline, std::string(who).append(": baseline").c_str());
}

void require_players(std::string_view who, const Partition& partition, const Domain& domain) {
  require(static_cast<std::int64_t>(partition.player_of.size()) == domain.points(), who,
          ": partition=", partition.player_of.size(), " points (the domain has ", domain.points(),
          "). Make the partition from the domain of the input.");
}

}  // namespace

MaskedOperator::MaskedOperator(std::string_view who, const Operator& op, FieldBatch input, FieldBatch baseline,
                               Readout readout)
    : operator_(op), input_(std::move(input)), baseline_(std::move(baseline)), readout_(std::move(readout)) {
  require_game(who, op, input_, baseline_, readout_);
}

MaskedOperator::MaskedOperator(const Operator& op, std::span<const Scenario> scenarios)
    : operator_(op), readout_(scenarios.front().readout) {
  constexpr const char* who = "games";
  const Scenario& first = scenarios.front();
  input_ = baseline_ = FieldBatch::zeros(first.input.domain, 0, first.input.channels);
  bool one_baseline = true;
  for (const Scenario& scenario : scenarios) {
    require_game(who, op, scenario.input, scenario.baseline, scenario.readout);
    require_players(who, scenario.partition, scenario.input.domain);
    require(scenario.input.domain == first.input.domain && scenario.readout == first.readout &&
                scenario.partition.player_of == first.partition.player_of,
            who, ": scenario ", input_.batch,
            " (differs from the first one in domain, players or readout). Ask it alone.");
    input_.append(scenario.input);
    baseline_.append(scenario.baseline);
    one_baseline = one_baseline && scenario.baseline.values == first.baseline.values;
  }
  if (one_baseline) baseline_ = first.baseline;
}

std::size_t MaskedOperator::owner(std::size_t index, std::size_t count) const {
  return index / (count / static_cast<std::size_t>(input_.batch));
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

MaskedOperator::Weigh MaskedOperator::mixed(const Weigh& weigh, std::size_t count) const {
  return [this, &weigh, count, weights = std::vector<double>(static_cast<std::size_t>(input_.domain.points()))](
             std::size_t index, std::span<double> field) mutable {
    weigh(index, weights);
    const auto shown = static_cast<std::int64_t>(owner(index, count));
    const auto input = input_.field(shown), baseline = baseline_.field(std::min(shown, baseline_.batch - 1));
    for (std::size_t channel = 0; channel < field.size(); channel += weights.size()) {
      for (std::size_t point = 0; point < weights.size(); ++point) {
        // Not u_b + w·h: this is exactly u for w = 1.
        field[channel + point] =
            (1 - weights[point]) * baseline[channel + point] + weights[point] * input[channel + point];
      }
    }
  };
}

std::vector<double> MaskedOperator::values(std::size_t count, const Weigh& weigh) const {
  std::vector<double> values;
  values.reserve(count);
  for_each_batch(count, input_.channels, mixed(weigh, count), [&](std::size_t, const FieldBatch& fields) {
    const std::vector<double> found = operator_.values_at(fields, readout_);
    values.insert(values.end(), found.begin(), found.end());
  });
  return values;
}

void MaskedOperator::slopes(std::size_t count, const Weigh& weigh, const UseSlopes& use) const {
  std::vector<double> slopes(static_cast<std::size_t>(input_.domain.points()));
  for_each_batch(count, input_.channels, mixed(weigh, count), [&](std::size_t first, const FieldBatch& fields) {
    const FieldBatch gradients = operator_.gradient_at(fields, readout_).gradient;
    for (std::int64_t at = 0; at < fields.batch; ++at) {
      const std::size_t index = first + static_cast<std::size_t>(at);
      const auto shown = static_cast<std::int64_t>(owner(index, count));
      const auto gradient = gradients.field(at), input = input_.field(shown),
                 baseline = baseline_.field(std::min(shown, baseline_.batch - 1));
      std::ranges::fill(slopes, 0.0);
      for (std::size_t i = 0; i < gradient.size(); ++i)
        slopes[i % slopes.size()] += gradient[i] * (input[i] - baseline[i]);
      use(index, slopes);
    }
  });
}

void MaskedOperator::mean_field_slopes(std::size_t count, const Weigh& weigh, const UseSlopes& use) const {
  // Of several inputs each field of weights gets its own.
  const auto of = [&](const FieldBatch& states, std::size_t first, std::int64_t fields) {
    if (states.batch == 1) return states;
    FieldBatch own = FieldBatch::zeros(states.domain, 0, states.channels);
    for (std::size_t index = first; index < first + static_cast<std::size_t>(fields); ++index)
      own.append(states.one(static_cast<std::int64_t>(owner(index, count))));
    return own;
  };
  for_each_batch(count, 1, weigh, [&](std::size_t first, const FieldBatch& inclusion) {
    const FieldBatch slopes = operator_
                                  .mean_field_at(of(input_, first, inclusion.batch),
                                                 of(baseline_, first, inclusion.batch), inclusion, readout_)
                                  .gradient;
    for (std::int64_t index = 0; index < inclusion.batch; ++index)
      use(first + static_cast<std::size_t>(index), slopes.field(index));
  });
}

std::vector<double> MaskedOperator::gradients(const Partition& partition, std::span<const double> points,
                                              const Pass& pass) {
  const auto n = static_cast<std::size_t>(partition.players);
  std::vector<double> gradients(points.size(), 0.0);
  const auto weigh = [&](std::size_t index, std::span<double> weights) {
    for (std::size_t point = 0; point < weights.size(); ++point)
      weights[point] = points[index * n + static_cast<std::size_t>(partition.player_of[point])];
  };
  const auto use = [&](std::size_t index, std::span<const double> slopes) {
    for (std::size_t point = 0; point < slopes.size(); ++point)
      gradients[index * n + static_cast<std::size_t>(partition.player_of[point])] += slopes[point];
  };
  pass(points.size() / n, weigh, use);
  return gradients;
}

std::vector<double> values_by(const CoalitionEngine& engine, const Coalitions& coalitions) {
  std::vector<double> values(coalitions.size());
  const std::size_t size = engine.batch();
  parallel_for((values.size() + size - 1) / size, [&](std::size_t chunk) {
    const std::size_t first = chunk * size;
    engine.values(coalitions, first, std::span(values).subspan(first, std::min(size, values.size() - first)));
  });
  return values;
}

namespace {

/// Fields of weights that an engine is asked for in one call, if there are enough for all threads.
constexpr std::size_t fields_that_share_work = 4;

class CellMaskGame final : public Game {
 public:
  CellMaskGame(const Operator& op, MaskedOperator masked, Partition partition, Readout readout)
      : operator_(op), masked_(std::move(masked)), partition_(std::move(partition)), readout_(std::move(readout)) {}

  int players() const override { return partition_.players; }

  std::string path() const override { return operator_.coalition_path(readout_); }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    if (engine() != nullptr) return values_by(*engine(), coalitions);
    return masked_.values(coalitions.size(), mask_of(coalitions));
  }

  const Extension* extension() const override { return masked_.has_gradients() ? &of_input_ : nullptr; }
  const Extension* mean_field() const override { return masked_.has_mean_field() ? &of_mean_field_ : nullptr; }

  std::vector<std::int64_t> places() const override { return partition_.places(masked_.domain()); }

  std::vector<int> active_players() const override {
    return opshap::active_players(masked_.input(), masked_.baseline(), partition_);
  }

 private:
  using OfOperator = void (MaskedOperator::*)(std::size_t, const MaskedOperator::Weigh&,
                                              const MaskedOperator::UseSlopes&) const;
  using OfEngine = void (CoalitionEngine::*)(std::span<const double>, std::span<double>) const;

  /// One of the two functions of the players' weights.
  class Slopes final : public Extension {
   public:
    Slopes(const CellMaskGame& game, OfEngine of_engine, OfOperator of_operator, std::int64_t pass_cost)
        : game_(game), of_engine_(of_engine), of_operator_(of_operator), pass_cost_(pass_cost) {}

    std::vector<double> gradients(std::span<const double> points) const override {
      return game_.gradients(points, of_engine_, of_operator_);
    }
    std::int64_t pass_cost() const override { return pass_cost_; }
    bool has_kinks() const override { return game_.operator_.has_kinks(); }

   private:
    const CellMaskGame& game_;
    OfEngine of_engine_;
    OfOperator of_operator_;
    std::int64_t pass_cost_;
  };

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

  /// By the engine on all threads, where there is one that has slopes, else by the operator's own reverse passes.
  std::vector<double> gradients(std::span<const double> points, OfEngine of_engine, OfOperator of_operator) const {
    const CoalitionEngine* engine = this->engine();
    return MaskedOperator::gradients(partition_, points, [&](std::size_t count, const auto& weigh, const auto& use) {
      if (engine == nullptr || !engine->has_slopes()) return (masked_.*of_operator)(count, weigh, use);
      // A thread gets as many fields as share work, unless other threads would have none.
      const std::size_t cells = partition_.player_of.size(),
                        size = std::clamp<std::size_t>(count / static_cast<std::size_t>(threads()), 1,
                                                       fields_that_share_work);
      parallel_for((count + size - 1) / size, [&](std::size_t chunk) {
        const std::size_t first = chunk * size, fields = std::min(size, count - first);
        std::vector<double> weights(fields * cells), slopes(weights.size());
        for (std::size_t field = 0; field < fields; ++field)
          weigh(first + field, std::span(weights).subspan(field * cells, cells));
        (engine->*of_engine)(weights, slopes);
        for (std::size_t field = 0; field < fields; ++field)
          use(first + field, std::span<const double>(slopes).subspan(field * cells, cells));
      });
    });
  }

  const Operator& operator_;
  MaskedOperator masked_;
  Partition partition_;
  Readout readout_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<CoalitionEngine> engine_;
  Slopes of_input_{*this, &CoalitionEngine::slopes, &MaskedOperator::slopes, 3};
  Slopes of_mean_field_{*this, &CoalitionEngine::mean_field_slopes, &MaskedOperator::mean_field_slopes, 6};
};

}  // namespace

std::unique_ptr<Game> cell_mask_game(const Operator& op, Scenario scenario) {
  MaskedOperator masked("cell_mask_game", op, std::move(scenario.input), std::move(scenario.baseline),
                        scenario.readout);
  require_players("cell_mask_game", scenario.partition, masked.domain());
  return std::make_unique<CellMaskGame>(op, std::move(masked), std::move(scenario.partition), scenario.readout);
}

}  // namespace opshap::games
