#pragma once

#include "pde/problem.hpp"

namespace opshap::pde {

/// u_t = κ Δu on a periodic domain of one or two dimensions: each Fourier mode times e^{-κ|k|²t}, exact for the grid's
/// modes. What heat1d and heat2d add is their domain and their random fields.
class HeatEquation : public Evolution {
 public:
  /// The parameter `kappa` is among them, and not negative.
  using Evolution::Evolution;

  std::string_view scheme() const override { return "each Fourier mode times its decay, exact for the grid's modes"; }
  std::vector<Invariant> invariants() const override;
  double target_time() const override { return 0.5; }
  /// Every constant stays. The inputs are waves about 0.
  Rest rest() const override { return {.state = {0}, .reason = {}}; }
  Solution solve(const FieldBatch& initial, double time) const override;
  std::vector<PairLaw> pair_laws(const FieldBatch& initial, const FieldBatch& later) const override;
};

}  // namespace opshap::pde
