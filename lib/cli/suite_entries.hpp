#pragma once

#include "cli/globals.hpp"
#include "cli/suite_run.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"
#include "methods/method.hpp"

namespace opshap::cli {

/// The maker of "explainer:FILE": trained explainers of the operator, for the game of this scenario, which the rule
/// made. With `force` also those that were trained for something else. It refers to operator and scenario.
methods::Kinds explainer_kinds(const Operator& op, const Scenario& scenario, const ScenarioRule& rule, bool force,
                               const Globals& globals);

/// The maker of a suite's games of operators. The input is a random one of the problem that no data set has, taken at
/// every s-th point of its native grid, so that every point is a player. The rule is the problem's usual one. `force`
/// as above.
///
/// The maker throws as load_operator(), and InvalidArgument where the operator, the problem and the number of players
/// do not go together.
OperatorEntries operator_entries(bool force, const Globals& globals);

}  // namespace opshap::cli
