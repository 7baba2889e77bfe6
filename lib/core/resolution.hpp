#pragma once

#include <vector>

#include "core/field.hpp"
#include "core/scenario.hpp"

namespace opshap {

/// A resolution is one number: on a grid the points of every axis, on a mesh the number of its points. A grid has many
/// resolutions and is strided to them. A mesh has one, its own.

/// Points per axis of a grid; of a mesh the number of its points: what rows and messages call the shape of a domain.
std::vector<int> shape_of(const Domain& domain);

/// The domain at a resolution. Throws InvalidArgument as Domain::strided(), and for another resolution than its own of
/// a mesh.
Domain at_resolution(const Domain& domain, int points);
/// The same fields at a resolution, as strided() takes them. Throws as above.
FieldBatch at_resolution(const FieldBatch& fields, int points);

/// The scenario of a field at a resolution. Throws as make_scenario() and as above.
Scenario scenario_at(const ScenarioRule& rule, const FieldBatch& field, int points);

}  // namespace opshap
