#include "games/diagonal_game.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "games/cell_mask_game.hpp"

namespace opshap::games {

namespace {

class DiagonalGame final : public DifferentiableGame {
 public:
  DiagonalGame(MaskedOperator masked, PartitionOfUnity masks) : masked_(std::move(masked)), masks_(std::move(masks)) {}

  int players() const override { return masks_.masks(); }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> shown(static_cast<std::size_t>(players()));
    return masked_.values(coalitions.size(), [&](std::size_t index, std::span<double> weights) {
      const auto row = coalitions.row(index);
      for (int player = 0; player < players(); ++player)
        shown[static_cast<std::size_t>(player)] = contains(row, player) ? 1 : 0;
      masks_.combine(shown, weights);
    });
  }

  std::vector<double> diagonal_gradients(std::span<const double> nodes) const override {
    const auto n = static_cast<std::size_t>(players());
    std::vector<double> gradients(nodes.size() * n);
    masked_.slopes(nodes.size(), MaskedOperator::constant(nodes),
                   [&](std::size_t node, std::span<const double> slopes) {
                     masks_.integrate(slopes, std::span(gradients).subspan(node * n, n));
                   });
    return gradients;
  }

 private:
  MaskedOperator masked_;
  PartitionOfUnity masks_;
};

}  // namespace

std::unique_ptr<Game> diagonal_game(const Operator& op, FieldBatch input, FieldBatch baseline, PartitionOfUnity masks,
                                    Readout readout) {
  MaskedOperator masked("diagonal_game", op, std::move(input), std::move(baseline), std::move(readout));
  require(masks.domain() == masked.domain(),
          "diagonal_game: masks (they are of another grid than the input). Make them from the input's grid.");
  require(masks.masks() <= Coalitions::max_players, "diagonal_game: masks=", masks.masks(), " (a game has at most ",
          Coalitions::max_players, " players). Use fewer masks.");
  return std::make_unique<DiagonalGame>(std::move(masked), std::move(masks));
}

}  // namespace opshap::games
