#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/domain.hpp"
#include "core/measured.hpp"
#include "core/operator.hpp"
#include "runs/results.hpp"

namespace opshap::evaluation {

/// How far an answer depends on the grid: the relative distance ‖d − d'‖₂/‖d'‖₂ of two densities of one field, on a
/// grid and on a finer one that has its points, at the points of the former.
///
/// The explained point is left out where there is one, and so is a constant, which the normalisation to v(N) − v(∅)
/// sets. 0 where the answer does not depend on the grid, and undefined where the finer density alone is constant.
/// `readout` is of the coarse grid. Throws InvalidArgument unless the sizes fit and the finer grid has the points of
/// the coarse one.
Measured drift(std::span<const double> density, const Domain& domain, std::span<const double> finer,
               const Domain& finer_domain, const Readout& readout);

/// A grid of a run and what is explained on it.
struct ExplainedGrid {
  Domain domain;
  Readout readout;
};

/// The drift of every trained explainer of a run from each grid to the last one, over the inputs, from its stored
/// attributions. A player's value over its volume is its density, so each point must be a player: other runs have no
/// such rows. `grids` ascend, and the last one has the points of all.
std::vector<runs::DriftRow> drift_rows(const std::vector<runs::ValuesRow>& values,
                                       const std::vector<ExplainedGrid>& grids);

}  // namespace opshap::evaluation
