#include <cmath>

#include "core/error.hpp"
#include "core/measured.hpp"
#include "metrics/registry.hpp"

namespace opshap::metrics {

Metric describe_nrmse() {
  return {.name = "nrmse",
          .symbol = "NRMSE",
          .range = "[0, inf)",
          .better = Better::lower,
          .tolerance = 0.05,
          .definition =
              "|attribution - reference|_2 / |reference|_2 over the players (the paper's figures show its square, "
              "NMSE); undefined for a zero reference",
          .score = [](const Scored& scored) { return nrmse(scored.reference, scored.attribution.values); }};
}

Measured nrmse(std::span<const double> reference, std::span<const double> estimate) {
  require(reference.size() == estimate.size() && !reference.empty(), "nrmse: estimate=", estimate.size(),
          " players (the reference has ", reference.size(), "). Score attributions of one game.");
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    difference = std::hypot(difference, estimate[i] - reference[i]);
    size = std::hypot(size, reference[i]);
  }
  if (!std::isfinite(difference) || !std::isfinite(size))
    return Measured::undefined("an attribution value is not finite");
  const Measured ratio = relative(difference, size);
  return ratio.value ? ratio : Measured::undefined("zero reference");
}

}  // namespace opshap::metrics
