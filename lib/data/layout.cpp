#include "data/layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.hpp"
#include "data/dataset.hpp"

namespace opshap::data {

namespace {

constexpr std::int64_t most_samples = 10'000'000;

}  // namespace

nlohmann::ordered_json resolved_layout(std::string_view who, const LayoutRequest& request, const Domain& domain) {
  require(request.samples >= 1 && request.samples <= most_samples, who, ": --samples=", request.samples,
          " (a data set has 1 to ", most_samples, "). Give another number.");
  std::int64_t train = request.train, validation = request.validation, test = request.test;
  if (train == 0 && validation == 0 && test == 0) {
    const LayoutRequest::Division& division = request.division;
    const double whole = division.train + division.validation + division.test;
    const auto share = [&](double part) { return std::llround(part / whole * static_cast<double>(request.samples)); };
    test = std::max<std::int64_t>(division.fewest_test, share(division.test));
    validation = std::max<std::int64_t>(1, share(division.validation));
    train = request.samples - validation - test;
    require(train >= 1, who, ": --samples=", request.samples, " (no sample is left for training after ", validation,
            " for validation and ", test, " for testing). Give at least ", division.fewest_test + 2,
            ", or the three counts.");
  }
  const auto possible = [&](std::int64_t count) { return count >= 0 && count <= request.samples; };
  require(possible(train) && possible(validation) && possible(test) && train + validation + test == request.samples,
          who, ": --train=", train, ", --validation=", validation, ", --test=", test,
          " (must add up to --samples=", request.samples, "). Correct one of them.");

  const std::vector<Resolution> resolutions =
      request.resolutions.empty() ? halved_resolutions(domain, request.fewest_points) : request.resolutions;
  require(resolutions.size() >= 1 && resolutions.size() <= 255, who, ": resolutions=", resolutions.size(),
          " (a data set has 1 to 255). Name them with --resolutions.");
  for (const Resolution& resolution : resolutions) {
    require(has_resolution(domain, resolution), who, ": resolution=", resolution, " (no stride of the native ",
            domain.describe(), " has so many points). Give others",
            std::ranges::any_of(domain.axes(), &Axis::keeps_ends)
                ? ": on an axis with both ends one more than a divisor of its intervals."
                : ": divisors of its points.");
  }
  return {{"samples", request.samples},
          {"train", train},
          {"validation", validation},
          {"test", test},
          {"resolutions", resolutions}};
}

std::vector<std::int64_t> field_shape(const pde::Space& space, std::int64_t samples) {
  std::vector<std::int64_t> shape = {samples};
  if (space.channel_count() > 1) shape.push_back(space.channel_count());
  shape.insert(shape.end(), space.domain.shape().begin(), space.domain.shape().end());
  return shape;
}

void append_layout(std::vector<Column>& columns, const nlohmann::ordered_json& layout, const Domain& domain) {
  for (int axis = 0; axis < domain.dimension(); ++axis) {
    std::vector<double> coordinates;
    for (int i = 0; i < domain.shape()[static_cast<std::size_t>(axis)]; ++i)
      coordinates.push_back(domain.coordinate(axis, i));
    columns.push_back(
        {axis == 0 ? "/x" : "/y", {static_cast<std::int64_t>(coordinates.size())}, std::move(coordinates)});
  }
  const auto samples = layout["samples"].get<std::int64_t>(), train = layout["train"].get<std::int64_t>();
  const std::int64_t before_test = train + layout["validation"].get<std::int64_t>();
  std::vector<std::uint8_t> split, slot;
  for (std::int64_t i = 0; i < samples; ++i) {
    split.push_back(static_cast<std::uint8_t>(i < train         ? Split::train
                                              : i < before_test ? Split::validation
                                                                : Split::test));
    slot.push_back(static_cast<std::uint8_t>(static_cast<std::size_t>(i) % layout["resolutions"].size()));
  }
  columns.push_back({"/split", {samples}, std::move(split)});
  columns.push_back({"/resolution_slot", {samples}, std::move(slot)});
}

}  // namespace opshap::data
