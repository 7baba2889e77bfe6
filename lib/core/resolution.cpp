#include "core/resolution.hpp"

#include "core/error.hpp"

namespace opshap {

namespace {

std::vector<int> on_every_axis(const Domain& grid, int points) { return std::vector<int>(grid.shape().size(), points); }

void require_own(const Domain& mesh, int points) {
  require(points == mesh.points(), "resolution: points=", points, " (the domain is a ", mesh.describe(),
          ", which has one resolution). Use ", mesh.points(), ".");
}

}  // namespace

std::vector<int> shape_of(const Domain& domain) {
  return domain.is_grid() ? domain.shape() : std::vector{static_cast<int>(domain.points())};
}

Domain at_resolution(const Domain& domain, int points) {
  if (domain.is_grid()) return domain.strided(on_every_axis(domain, points));
  require_own(domain, points);
  return domain;
}

FieldBatch at_resolution(const FieldBatch& fields, int points) {
  if (fields.domain.is_grid()) return strided(fields, on_every_axis(fields.domain, points));
  require_own(fields.domain, points);
  return fields;
}

Scenario scenario_at(const ScenarioRule& rule, const FieldBatch& field, int points) {
  if (field.domain.is_grid()) return make_scenario(rule, field, on_every_axis(field.domain, points));
  require_own(field.domain, points);
  return make_scenario(rule, field);
}

}  // namespace opshap
