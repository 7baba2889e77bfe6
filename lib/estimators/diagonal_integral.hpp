#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/estimator.hpp"
#include "estimators/quadrature.hpp"

namespace opshap::estimators {

/// ∫₀¹ g_i(t) dt by a quadrature, with gradients g(t) that a game gives on the diagonal (t, …, t) of the unit cube: of
/// itself, or of its mean-field closure.
///
/// Deterministic. Cost: one gradient a node, plus v(∅) and v(N), which the sum of the values meets up to the quadrature
/// error.
class DiagonalIntegral final : public Estimator {
 public:
  /// [K, n] at K nodes.
  using Gradients = std::vector<double> (CountedGame::*)(std::span<const double> nodes);

  /// `name` and `summary` must outlive the estimator. Throws InvalidArgument unless 1 <= nodes <= 1000.
  DiagonalIntegral(std::string_view name, std::string_view summary, Gradients gradients, Rule rule, int nodes);

  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return summary_; }
  Guarantees guarantees() const override;
  Budget minimum(int) const override { return {2}; }
  Attribution estimate(CountedGame& game, Rng&) const override;

 private:
  std::string_view name_, summary_;
  Gradients gradients_;
  Quadrature quadrature_;
};

}  // namespace opshap::estimators
