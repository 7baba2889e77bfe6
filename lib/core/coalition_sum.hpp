#pragma once

#include <cstdint>
#include <span>

namespace opshap {

/// Σ_{i∈S} values_i for a row of Coalitions. O(|S|).
double coalition_sum(std::span<const double> values, std::span<const std::uint64_t> row);

}  // namespace opshap
