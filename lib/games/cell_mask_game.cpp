#include "games/cell_mask_game.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/error.hpp"

namespace opshap {

namespace {

class CellMaskGame final : public DifferentiableGame, public MeanField {
 public:
  CellMaskGame(const Operator& op, FieldBatch input, FieldBatch baseline, Partition partition, Query query)
      : operator_(op),
        input_(std::move(input)),
        baseline_(std::move(baseline)),
        partition_(std::move(partition)),
        query_(query) {}

  int players() const override { return partition_.players; }

  std::vector<double> values(const Coalitions& coalitions) const override {
    std::vector<double> values;
    values.reserve(coalitions.size());
    const std::size_t points = partition_.player_of.size();
    for_each_batch(coalitions.size(), [&](std::size_t first, FieldBatch& fields) {
      for (std::int64_t index = 0; index < fields.batch; ++index) {
        const auto row = coalitions.row(first + static_cast<std::size_t>(index));
        const auto field = fields.field(index);
        for (std::size_t i = 0; i < field.size(); ++i) {
          field[i] = contains(row, partition_.player_of[i % points]) ? input_.values[i] : baseline_.values[i];
        }
      }
      const std::vector<double> found = operator_.values_at(fields, query_);
      values.insert(values.end(), found.begin(), found.end());
    });
    return values;
  }

  const MeanField* mean_field() const override { return operator_.has_mean_field() ? this : nullptr; }

  std::vector<double> mean_field_gradients(std::span<const double> nodes) const override {
    const auto n = static_cast<std::size_t>(players());
    const std::size_t points = partition_.player_of.size();
    FieldBatch inclusion = FieldBatch::zeros(input_.domain, static_cast<std::int64_t>(nodes.size()), 1);
    for (std::size_t node = 0; node < nodes.size(); ++node)
      std::ranges::fill(inclusion.field(static_cast<std::int64_t>(node)), nodes[node]);
    const FieldBatch slopes = operator_.mean_field_at(input_, baseline_, inclusion, query_).gradient;
    std::vector<double> gradients(nodes.size() * n, 0.0);
    for (std::size_t i = 0; i < slopes.values.size(); ++i)
      gradients[i / points * n + static_cast<std::size_t>(partition_.player_of[i % points])] += slopes.values[i];
    return gradients;
  }

  std::vector<double> diagonal_gradients(std::span<const double> nodes) const override {
    const auto n = static_cast<std::size_t>(players());
    const std::size_t points = partition_.player_of.size();
    std::vector<double> gradients(nodes.size() * n, 0.0);
    for_each_batch(nodes.size(), [&](std::size_t first, FieldBatch& fields) {
      for (std::int64_t index = 0; index < fields.batch; ++index) {
        const double t = nodes[first + static_cast<std::size_t>(index)];
        const auto field = fields.field(index);
        for (std::size_t i = 0; i < field.size(); ++i)
          field[i] = baseline_.values[i] + t * (input_.values[i] - baseline_.values[i]);
      }
      const FieldBatch slopes = operator_.gradient_at(fields, query_).gradient;
      for (std::int64_t index = 0; index < fields.batch; ++index) {
        double* of_node = gradients.data() + (first + static_cast<std::size_t>(index)) * n;
        const auto slope = slopes.field(index);
        for (std::size_t i = 0; i < slope.size(); ++i) {
          of_node[partition_.player_of[i % points]] += slope[i] * (input_.values[i] - baseline_.values[i]);
        }
      }
    });
    return gradients;
  }

 private:
  /// Calls work(first, fields) for batches of the size the operator likes; `fields` is one buffer, used again for each.
  template <typename Work>
  void for_each_batch(std::size_t count, const Work& work) const {
    const auto preferred =
        static_cast<std::size_t>(std::max<std::int64_t>(1, operator_.preferred_batch(input_.domain)));
    FieldBatch fields = FieldBatch::zeros(input_.domain, 0, input_.channels);
    for (std::size_t first = 0; first < count; first += preferred) {
      fields.batch = static_cast<std::int64_t>(std::min(preferred, count - first));
      fields.values.resize(static_cast<std::size_t>(fields.batch) * fields.field_size());
      work(first, fields);
    }
  }

  const Operator& operator_;
  FieldBatch input_, baseline_;
  Partition partition_;
  Query query_;
};

}  // namespace

std::unique_ptr<Game> cell_mask_game(const Operator& op, FieldBatch input, FieldBatch baseline, Partition partition,
                                     Query query) {
  require(input.batch == 1 && baseline.batch == 1, "cell_mask_game: batch=", input.batch, " and ", baseline.batch,
          " (a game explains one input against one baseline). Take one sample of each.");
  require(input.domain.shape == baseline.domain.shape && input.channels == baseline.channels,
          "cell_mask_game: baseline (its grid or channels are not those of the input). Give a baseline of the input's "
          "shape.");
  require(input.domain.dimension() == op.dimension() && input.channels == op.input_channels(),
          "cell_mask_game: channels=", input.channels, ", axes=", input.domain.dimension(), " (", op.describe(),
          " takes ", op.input_channels(), " channels on ", op.dimension(), " axes). Give a field it takes.");
  require(static_cast<std::int64_t>(partition.player_of.size()) == input.domain.points(),
          "cell_mask_game: partition=", partition.player_of.size(), " points (the grid has ", input.domain.points(),
          "). Make the partition from the input's grid.");
  require_query(op, input.domain, query);
  require_finite(input, "cell_mask_game: input");
  require_finite(baseline, "cell_mask_game: baseline");
  return std::make_unique<CellMaskGame>(op, std::move(input), std::move(baseline), std::move(partition), query);
}

}  // namespace opshap
