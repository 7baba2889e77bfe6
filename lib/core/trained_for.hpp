#pragma once

#include <map>
#include <string>

#include "core/operator.hpp"
#include "core/scenario.hpp"

namespace opshap {

/// What an explainer was trained for, fact by fact; weights carry them. "operator" is Operator::checksum(), "players"
/// the rule and not their number, "baseline" the values that hide a player, "masked channels", "channel" of the output,
/// "query" ("any" where it explains every point, "target" with the target's words where it explains no point), and "problem" and "data" for people. Weights of before say nothing.
using TrainedFor = std::map<std::string, std::string>;

/// The facts of an operator and a rule. A mean baseline must have its means.
TrainedFor trained_for(const Operator& op, const ScenarioRule& rule);

/// In what the question differs from what an explainer was trained for, in words: "baseline 0.5 instead of zero". Empty
/// where nothing differs. Facts that one side does not know are passed over, and so is the query, which an explainer
/// itself accepts or refuses.
std::string differences(const TrainedFor& known, const TrainedFor& asked);

}  // namespace opshap
