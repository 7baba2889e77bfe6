#pragma once

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "core/field.hpp"
#include "core/scenario.hpp"

namespace opshap {

/// Points per axis at which fields are served. A grid has many resolutions, one for each stride. A mesh has one, the
/// number of its points.
///
/// One number stands for every axis. It is how files write a resolution whose axes are equal; another one is written
/// [nx, ny]. In words and on command lines it is "16" or "24x40". Ordered by the first axis.
class Resolution {
 public:
  /// None.
  Resolution() = default;
  /// So many points on each axis. Implicit, since a number is a resolution.
  Resolution(int points) : numbers_{points} {}
  /// Points per axis; equal ones become one number.
  explicit Resolution(std::vector<int> shape);
  /// "16" or "24x40". Throws InvalidArgument, whose message `who` starts, for another text.
  static Resolution parse(std::string_view who, std::string_view text);

  /// One number, or one per axis.
  const std::vector<int>& numbers() const { return numbers_; }
  /// Points per axis of a grid with so many axes. Throws InvalidArgument where it names another number of axes.
  std::vector<int> shape(int dimension) const;
  /// Points of the axis that has the fewest.
  int fewest() const;
  /// A number that tells resolutions apart, for streams of random numbers; of one number that number.
  std::uint64_t key() const;

  auto operator<=>(const Resolution&) const = default;

 private:
  std::vector<int> numbers_;
};

/// "16" or "24x40".
std::ostream& operator<<(std::ostream& out, const Resolution& resolution);

/// As files write it: 16 or [24,40].
template <typename Json>
void to_json(Json& json, const Resolution& resolution) {
  if (resolution.numbers().size() == 1)
    json = resolution.numbers().front();
  else
    json = resolution.numbers();
}
template <typename Json>
void from_json(const Json& json, Resolution& resolution) {
  resolution =
      json.is_array() ? Resolution(json.template get<std::vector<int>>()) : Resolution(json.template get<int>());
}

/// Points per axis of a grid; of a mesh the number of its points: what rows and messages call the shape of a domain.
std::vector<int> shape_of(const Domain& domain);

/// Whether at_resolution() can serve a domain so.
bool has_resolution(const Domain& domain, const Resolution& resolution);

/// The domain at a resolution. Throws InvalidArgument as Domain::strided(), and for another resolution than its own of
/// a mesh.
Domain at_resolution(const Domain& domain, const Resolution& resolution);
/// The same fields at a resolution, as strided() takes them. Throws as above.
FieldBatch at_resolution(const FieldBatch& fields, const Resolution& resolution);

/// The grid itself and every second, fourth, .. point of it as far as all axes have such strides and the whole grid
/// keeps `fewest_points` points; ascending. Throws InvalidArgument for a mesh.
std::vector<Resolution> halved_resolutions(const Domain& grid, std::int64_t fewest_points);

/// The scenario of a field at a resolution. Throws as make_scenario() and as above.
Scenario scenario_at(const ScenarioRule& rule, const FieldBatch& field, const Resolution& resolution);

}  // namespace opshap
