#include <algorithm>
#include <cmath>

#include "metrics/registry.hpp"

namespace opshap::metrics {

Metric describe_efficiency_gap() {
  return {.name = "efficiency_gap",
          .symbol = "efficiency gap",
          .range = "[0, 2]",
          .better = Better::lower,
          .tolerance = 1e-9,
          .definition =
              "|sum of the attribution - (v(N) - v(empty))| / max(|v(N) - v(empty)|, |attribution|_1); rounding for "
              "efficient methods, the quadrature error "
              "for integrated gradients",
          .score = [](const Scored& scored) { return efficiency_gap(scored.attribution); },
          .shown = Shown::largest};
}

Measured efficiency_gap(const Attribution& attribution) {
  const double gain = std::abs(attribution.grand - attribution.empty);
  double sum = 0;
  for (const double value : attribution.values) sum += std::abs(value);
  if (!std::isfinite(gain + sum)) return Measured::undefined("an attribution value is not finite");
  const double size = std::max(gain, sum);
  return Measured::of(size == 0 ? 0 : std::abs(attribution.efficiency_gap()) / size);
}

}  // namespace opshap::metrics
