#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pde/problem.hpp"
#include "pde/trajectories.hpp"

namespace opshap::pde {

/// Every problem with its default parameters, in the order of registry.def.
const std::vector<std::unique_ptr<Problem>>& all();
/// Every kind of trajectories, in the same way.
const std::vector<std::unique_ptr<Trajectories>>& all_trajectories();

/// Of both: problems first.
std::vector<std::string> names();
/// All of these throw InvalidArgument, naming the nearest one, when there is none of that name. A name of the other
/// kind is refused as such by the first two.
const Problem& find(std::string_view name);
const Trajectories& find_trajectories(std::string_view name);
const Equation& find_equation(std::string_view name);
/// Whether the name is that of trajectories.
bool has_trajectories(std::string_view name);
/// The channels of the fields that go into an operator.
std::vector<Channel> input_channels(const Equation& equation);
/// The equation with other parameters. Throws as find_equation() and with().
std::unique_ptr<Equation> equation_with(std::string_view name, const ParameterValues& changes);

}  // namespace opshap::pde
