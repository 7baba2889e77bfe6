#pragma once

#include <string>

#include "core/error.hpp"
#include "estimators/least_squares.hpp"

namespace opshap {

/// attribute(), with the minimum-norm solution for a sample whose rank the estimator refuses, as Guarantees::refusal
/// says. These are the samples that bias and mse_rate are promised for. Any other refusal is thrown.
inline Attribution attribute_every_sample(const Estimator& estimator, const Game& game, Budget budget,
                                          std::uint64_t seed) {
  try {
    return attribute(estimator, game, budget, seed);
  } catch (const InvalidArgument& error) {
    const bool by_rank = std::string(error.what()).starts_with(std::string(estimator.name()) + ": rank=");
    if (estimator.guarantees().refusal != Refusal::by_rank || !by_rank) throw;
  }
  return attribute(*dynamic_cast<const estimators::LeastSquares&>(estimator).with_minimum_norm(), game, budget, seed);
}

}  // namespace opshap
