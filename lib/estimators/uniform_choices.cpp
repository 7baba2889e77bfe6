#include "estimators/uniform_choices.hpp"

#include <numeric>

#include "core/coalitions.hpp"

namespace opshap::estimators {

UniformChoices random_choices(Rng& rng, int players) {
  return {.below = [&rng](std::uint64_t bound) { return rng.below(bound); },
          .ordering =
              [&rng](std::span<int> ordering) {
                std::iota(ordering.begin(), ordering.end(), 0);
                rng.shuffle(ordering);
              },
          .members = [&rng, subsets = KernelLaw(players)](
                         int size, std::span<std::uint64_t> row) { subsets.draw_subset(rng, size, row); }};
}

}  // namespace opshap::estimators
