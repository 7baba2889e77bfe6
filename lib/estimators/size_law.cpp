#include "estimators/size_law.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/error.hpp"

namespace opshap::estimators {

namespace {

/// 1/(s(n−s)).
double kernel(int players, int size) { return 1 / (static_cast<double>(size) * (players - size)); }

}  // namespace

SizeLaw::SizeLaw(SizeMass mass, int players) : mass_(mass), players_(players) {
  require(players >= 2, "size law: players=", players,
          " (no coalition lies between ∅ and N). Use at least two players.");
  double sum = 0;
  for (int size = 1; size < players; ++size) {
    total_ += this->mass(size);
    // 1/(s(n−s)) = (1/s + 1/(n−s))/n: the kernel's half is drawn, which makes the same sizes from the same numbers as
    // KernelLaw.
    sum += mass == SizeMass::shapley_kernel ? 1.0 / size : this->mass(size);
    cumulative_.push_back(sum);
  }
  for (double& value : cumulative_) value /= sum;
}

double SizeLaw::mass(int size) const {
  switch (mass_) {
    case SizeMass::shapley_kernel:
      return kernel(players_, size);
    case SizeMass::uniform:
      return 1;
    case SizeMass::square_root:
      return std::sqrt(kernel(players_, size));
  }
  return 0;
}

double SizeLaw::kernel_over_mass(int size) const {
  switch (mass_) {
    case SizeMass::shapley_kernel:
      return 1;
    case SizeMass::uniform:
      return kernel(players_, size);
    case SizeMass::square_root:
      return std::sqrt(kernel(players_, size));
  }
  return 0;
}

int SizeLaw::draw(Rng& rng) const {
  const auto place = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, rng.uniform());
  const int size = static_cast<int>(place - cumulative_.begin()) + 1;
  return (rng.bits32() & 1) != 0 ? size : players_ - size;
}

}  // namespace opshap::estimators
