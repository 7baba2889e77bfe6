#include "pde/registry.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/names.hpp"

namespace opshap::pde {

#define PROBLEM(name) std::unique_ptr<Problem> name();
#define TRAJECTORIES(name) std::unique_ptr<Trajectories> name();
#include "pde/registry.def"
#undef PROBLEM
#undef TRAJECTORIES

namespace {

template <typename Kind>
const Kind* find_in(const std::vector<std::unique_ptr<Kind>>& list, std::string_view name) {
  const auto found = std::ranges::find_if(list, [name](const auto& item) { return item->name() == name; });
  return found == list.end() ? nullptr : found->get();
}

}  // namespace

const std::vector<std::unique_ptr<Problem>>& all() {
  static const std::vector<std::unique_ptr<Problem>> problems = [] {
    std::vector<std::unique_ptr<Problem>> made;
#define PROBLEM(name) made.push_back(name());
#define TRAJECTORIES(name)
#include "pde/registry.def"
#undef PROBLEM
#undef TRAJECTORIES
    return made;
  }();
  return problems;
}

const std::vector<std::unique_ptr<Trajectories>>& all_trajectories() {
  static const std::vector<std::unique_ptr<Trajectories>> trajectories = [] {
    std::vector<std::unique_ptr<Trajectories>> made;
#define PROBLEM(name)
#define TRAJECTORIES(name) made.push_back(name());
#include "pde/registry.def"
#undef PROBLEM
#undef TRAJECTORIES
    return made;
  }();
  return trajectories;
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& problem : all()) names.emplace_back(problem->name());
  for (const auto& trajectories : all_trajectories()) names.emplace_back(trajectories->name());
  return names;
}

const Equation& find_equation(std::string_view name) {
  if (const Problem* problem = find_in(all(), name)) return *problem;
  if (const Trajectories* trajectories = find_in(all_trajectories(), name)) return *trajectories;
  throw_unknown_name("pde", name, names());
}

const Problem& find(std::string_view name) {
  const auto* problem = dynamic_cast<const Problem*>(&find_equation(name));
  require(problem != nullptr, "pde: ", name, " (is a flow on meshes, and no field on one grid is asked for it). ",
          "Choose another one.");
  return *problem;
}

const Trajectories& find_trajectories(std::string_view name) {
  const auto* trajectories = dynamic_cast<const Trajectories*>(&find_equation(name));
  require(trajectories != nullptr, "pde: ", name, " (is a problem on one grid, and has no trajectories). ",
          "Choose another one.");
  return *trajectories;
}

bool has_trajectories(std::string_view name) { return find_in(all_trajectories(), name) != nullptr; }

std::vector<Channel> input_channels(const Equation& equation) {
  const auto* trajectories = dynamic_cast<const Trajectories*>(&equation);
  return trajectories != nullptr ? trajectories->channels() : dynamic_cast<const Problem&>(equation).input().channels;
}

std::unique_ptr<Equation> equation_with(std::string_view name, const ParameterValues& changes) {
  if (has_trajectories(name)) return find_trajectories(name).with(changes);
  return find(name).with(changes);
}

}  // namespace opshap::pde
