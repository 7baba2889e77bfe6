#include "core/resolution.hpp"

#include <algorithm>
#include <charconv>
#include <ostream>
#include <utility>

#include "core/error.hpp"

namespace opshap {

namespace {

void require_own(const Domain& mesh, const Resolution& resolution) {
  require(resolution == Resolution(static_cast<int>(mesh.points())), "resolution: points=", resolution,
          " (the domain is a ", mesh.describe(), ", which has one resolution). Use ", mesh.points(), ".");
}

}  // namespace

Resolution::Resolution(std::vector<int> shape) : numbers_(std::move(shape)) {
  const auto differs = [this](int points) { return points != numbers_.front(); };
  if (!numbers_.empty() && std::ranges::none_of(numbers_, differs))
    numbers_.erase(numbers_.begin() + 1, numbers_.end());
}

Resolution Resolution::parse(std::string_view who, std::string_view text) {
  std::vector<int> shape;
  const char *at = text.data(), *const end = at + text.size();
  while (at != end && shape.size() < 3) {
    int points = 0;
    const auto [next, error] = std::from_chars(at, end, points);
    if (error != std::errc() || points < 1 || (next != end && (*next != 'x' || next + 1 == end))) break;
    shape.push_back(points);
    at = next == end ? end : next + 1;
  }
  require(at == end && !shape.empty(), who, ": resolution=", text,
          " (is neither a number of points for each axis nor one such as 24x40). Write 64 or 24x40.");
  return Resolution(std::move(shape));
}

std::vector<int> Resolution::shape(int dimension) const {
  const auto axes = static_cast<std::size_t>(dimension);
  require(numbers_.size() == 1 || numbers_.size() == axes, "resolution: points=", *this, " (the grid has ", dimension,
          dimension == 1 ? " axis" : " axes", "). Give a number, or one for each axis.");
  return numbers_.size() == 1 ? std::vector<int>(axes, numbers_.front()) : numbers_;
}

int Resolution::fewest() const { return *std::ranges::min_element(numbers_); }

std::uint64_t Resolution::key() const {
  std::uint64_t key = 0;
  for (std::size_t axis = numbers_.size(); axis-- > 0;) key = key << 16 | static_cast<std::uint64_t>(numbers_[axis]);
  return key;
}

std::ostream& operator<<(std::ostream& out, const Resolution& resolution) {
  for (std::size_t axis = 0; axis < resolution.numbers().size(); ++axis)
    out << (axis == 0 ? "" : "x") << resolution.numbers()[axis];
  return out;
}

std::vector<int> shape_of(const Domain& domain) {
  return domain.is_grid() ? domain.shape() : std::vector{static_cast<int>(domain.points())};
}

bool has_resolution(const Domain& domain, const Resolution& resolution) {
  if (!domain.is_grid()) return resolution == Resolution(static_cast<int>(domain.points()));
  const std::size_t axes = domain.axes().size(), numbers = resolution.numbers().size();
  if (numbers != 1 && numbers != axes) return false;
  const std::vector<int> shape = resolution.shape(domain.dimension());
  for (std::size_t axis = 0; axis < axes; ++axis)
    if (domain.axes()[axis].stride_to(shape[axis]) == 0) return false;
  return true;
}

Domain at_resolution(const Domain& domain, const Resolution& resolution) {
  if (domain.is_grid()) return domain.strided(resolution.shape(domain.dimension()));
  require_own(domain, resolution);
  return domain;
}

FieldBatch at_resolution(const FieldBatch& fields, const Resolution& resolution) {
  if (fields.domain.is_grid()) return strided(fields, resolution.shape(fields.domain.dimension()));
  require_own(fields.domain, resolution);
  return fields;
}

std::vector<Resolution> halved_resolutions(const Domain& grid, std::int64_t fewest_points) {
  std::vector<Resolution> all = {Resolution(grid.shape())};
  for (int stride = 2;; stride *= 2) {
    std::vector<Axis> axes;
    for (const Axis& axis : grid.axes()) {
      if (axis.divided() % stride != 0) return all;
      axes.push_back(axis.strided(stride));
    }
    const Domain coarse = Domain::grid(std::move(axes));
    if (coarse.points() < fewest_points) return all;
    all.insert(all.begin(), Resolution(coarse.shape()));
  }
}

Scenario scenario_at(const ScenarioRule& rule, const FieldBatch& field, const Resolution& resolution) {
  if (field.domain.is_grid()) return make_scenario(rule, field, resolution.shape(field.domain.dimension()));
  require_own(field.domain, resolution);
  return make_scenario(rule, field);
}

}  // namespace opshap
