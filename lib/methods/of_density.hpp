#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "methods/method.hpp"

namespace opshap::methods {

/// The attribution of a density on the question's domain, shifted to v(N) − v(∅): cell_values() with what the two
/// evaluations cost, or those of them that the question leaves open. `density` is called once, beside the evaluations;
/// what it takes longer than they do is the estimator's time. `who` starts the message of the InvalidArgument for a
/// game without a scenario.
Attribution of_density(std::string_view who, const std::function<std::vector<double>()>& density,
                       const Question& question);

/// The question's scenario. Throws InvalidArgument, starting with `who`, where there is none.
const Scenario& scenario_of(std::string_view who, const Question& question);

}  // namespace opshap::methods
