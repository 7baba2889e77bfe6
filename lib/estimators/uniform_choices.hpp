#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/rng.hpp"

namespace opshap::estimators {

/// The random decisions of an estimator. Each is uniform on a finite set, so what is usually drawn can also be gone
/// through without exception.
struct UniformChoices {
  std::function<std::uint64_t(std::uint64_t bound)> below;  ///< one of 0..bound−1
  std::function<void(std::span<int> ordering)> ordering;    ///< fills it with an ordering of 0..size−1
  std::function<void(int size, std::span<std::uint64_t> row)>
      members;  ///< puts so many of the players into an empty row
};

/// Choices drawn from `rng`, which must outlive them; `members` are some of the first `players` players, at least two.
UniformChoices random_choices(Rng& rng, int players);

}  // namespace opshap::estimators
