#include "core/coalition_engine.hpp"

#include <stdexcept>

namespace opshap {

void CoalitionEngine::diagonal_slopes(double, std::span<double>) const {
  throw std::logic_error("coalition engine: diagonal_slopes (it has none). Ask has_slopes() first.");
}

void CoalitionEngine::mean_field_slopes(double, std::span<double>) const {
  throw std::logic_error("coalition engine: mean_field_slopes (it has none). Ask has_slopes() first.");
}

void CoalitionEngine::mean_field_slopes(const Coalitions&, std::size_t, std::span<double>) const {
  throw std::logic_error("coalition engine: mean_field_slopes (it has none). Ask has_slopes() first.");
}

}  // namespace opshap
