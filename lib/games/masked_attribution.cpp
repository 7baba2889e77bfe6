#include "games/masked_attribution.hpp"

#include <cmath>
#include <cstddef>
#include <numeric>

#include "core/error.hpp"
#include "games/cell_mask_game.hpp"

namespace opshap::games {

std::vector<double> masked_attributions(const Operator& op, const FieldBatch& input, const FieldBatch& baseline,
                                        const Readout& readout, std::span<const double> masks,
                                        std::span<const double> nodes, std::span<const double> weights) {
  const MaskedOperator masked("masked_attributions", op, input, baseline, readout);
  const auto points = static_cast<std::size_t>(masked.domain().points());
  require(masks.size() % points == 0, "masked_attributions: masks=", masks.size(), " values (a mask has ", points,
          ", one for each point). Give m x ", points, " values.");
  for (std::size_t i = 0; i < masks.size(); ++i) {
    require(std::isfinite(masks[i]), "masked_attributions: value=", masks[i], " (mask ", i / points, " at point ",
            i % points, " is not a finite number). Repair the mask.");
  }
  require(nodes.size() == weights.size(), "masked_attributions: weights=", weights.size(), " (there are ", nodes.size(),
          " nodes). Give one weight for each node.");
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  require(std::abs(total - 1) < 1e-9, "masked_attributions: weights=", total,
          " (their sum; a rule for [0, 1] has 1). Divide the weights by their sum.");
  std::vector<double> density(points, 0.0);
  masked.slopes(nodes.size(), MaskedOperator::constant(nodes), [&](std::size_t node, std::span<const double> slopes) {
    for (std::size_t point = 0; point < points; ++point) density[point] += weights[node] * slopes[point];
  });
  std::vector<double> attributions;
  for (std::size_t first = 0; first < masks.size(); first += points) {
    attributions.push_back(
        std::inner_product(density.begin(), density.end(), masks.begin() + static_cast<std::ptrdiff_t>(first), 0.0));
  }
  return attributions;
}

}  // namespace opshap::games
