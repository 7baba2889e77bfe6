#include "games/smooth_operator_game.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "games/cell_mask_game.hpp"

namespace opshap::games {

namespace {

class SmoothOperatorGame final : public DifferentiableGame {
 public:
  SmoothOperatorGame(MaskedOperator masked, PartitionOfUnity masks, const Partition& partition)
      : masked_(std::move(masked)), masks_(std::move(masks)), shares_(masks_.shares(partition)) {}

  int players() const override { return static_cast<int>(shares_.rows()); }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> held(static_cast<std::size_t>(masks_.masks()));
    return masked_.values(coalitions.size(), [&](std::size_t index, std::span<double> weights) {
      std::ranges::fill(held, 0.0);
      const auto row = coalitions.row(index);
      for (int player = 0; player < players(); ++player) {
        if (contains(row, player)) shares_.add_to(held, static_cast<std::size_t>(player));
      }
      masks_.combine(held, weights);
    });
  }

  std::vector<double> diagonal_gradients(std::span<const double> nodes) const override {
    const std::size_t n = shares_.rows();
    std::vector<double> gradients(nodes.size() * n), along_masks(static_cast<std::size_t>(masks_.masks()));
    masked_.slopes(nodes.size(), MaskedOperator::constant(nodes),
                   [&](std::size_t node, std::span<const double> slopes) {
                     masks_.integrate(slopes, along_masks);
                     for (std::size_t player = 0; player < n; ++player)
                       gradients[node * n + player] = shares_.dot(player, along_masks);
                   });
    return gradients;
  }

 private:
  MaskedOperator masked_;
  PartitionOfUnity masks_;
  SparseRows shares_;
};

}  // namespace

std::unique_ptr<Game> smooth_operator_game(const Operator& op, FieldBatch input, FieldBatch baseline,
                                           PartitionOfUnity masks, const Partition& partition, Readout readout) {
  MaskedOperator masked("smooth_operator_game", op, std::move(input), std::move(baseline), std::move(readout));
  require(masks.domain() == masked.domain(),
          "smooth_operator_game: masks (they are of another grid than the input). Make them from the input's grid.");
  require(static_cast<std::int64_t>(partition.player_of.size()) == masked.domain().points(),
          "smooth_operator_game: partition=", partition.player_of.size(), " points (the grid has ",
          masked.domain().points(), "). Make the partition from the input's grid.");
  return std::make_unique<SmoothOperatorGame>(std::move(masked), std::move(masks), partition);
}

}  // namespace opshap::games
