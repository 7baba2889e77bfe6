#include "reporting/discretisation.hpp"

#include <fmt/format.h>

#include "runs/results.hpp"

namespace opshap::reporting {

bool Discretisation::every_point_plays() const { return runs::points_of(shape) == players; }

std::string Discretisation::label() const {
  if (is_line() || shape.empty()) return std::to_string(players);
  const std::string grid = runs::shape_in_words(shape);
  return every_point_plays() ? fmt::format("{} ({})", players, grid) : fmt::format("{} (of {} points)", players, grid);
}

std::string Discretisation::id() const {
  return is_line() ? std::to_string(players) : fmt::format("{}-of-{}", players, fmt::join(shape, "x"));
}

}  // namespace opshap::reporting
