#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "reporting/scoreboard.hpp"

namespace opshap::reporting {

/// The sample numbers of the test inputs of a row of backbone errors, in the order of these errors. A row does not say
/// them: an evaluation goes through its test inputs by ascending number, and the attributions on the same grid name
/// them. None when the attributions are not of as many inputs as the row.
std::optional<std::vector<std::int64_t>> samples_of(const Scoreboard& scores, const runs::OperatorRow& errors);

/// The backbone's relative error of each test input on a grid, by sample number, where it is defined. Empty when the
/// run does not say which input an error belongs to.
std::map<std::int64_t, double> backbone_errors(const Scoreboard& scores, const std::vector<int>& shape);

}  // namespace opshap::reporting
