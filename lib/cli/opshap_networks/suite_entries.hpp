#pragma once

#include "cli/globals.hpp"
#include "cli/suite_run.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"
#include "methods/method.hpp"

namespace opshap::cli {

/// The maker of "explainer:FILE": trained explainers of the operator. It refers to operator and scenario.
methods::Kinds explainer_kinds(const Operator& op, const Scenario& scenario, const Globals& globals);

/// The maker of a suite's games of operators. The input is a random one of the problem that no data set has, taken at
/// every s-th point of its native grid, so that every point is a player. The rule is the problem's usual one.
///
/// The maker throws as load_operator(), and InvalidArgument where the operator, the problem and the number of players
/// do not go together.
OperatorEntries operator_entries(const Globals& globals);

}  // namespace opshap::cli
