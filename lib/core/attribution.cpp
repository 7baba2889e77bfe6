#include "core/attribution.hpp"

#include <numeric>

namespace opshap {

double Attribution::efficiency_gap() const {
  return std::accumulate(values.begin(), values.end(), 0.0) - (grand - empty);
}

}  // namespace opshap
