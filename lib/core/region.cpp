#include "core/region.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/error.hpp"

namespace opshap {

namespace {

/// "mean:20..40", for messages.
std::string words(const Region& region) {
  std::string text = "mean:";
  for (const auto& [from, to] : region.ranges) text += message(text.back() == ':' ? "" : ",", from, "..", to);
  return text + (region.by_place ? "@x" : "");
}

/// The indices of a point of a grid, or the number of a mesh's.
std::vector<double> indices(const Domain& domain, std::int64_t point) {
  if (!domain.is_grid()) return {static_cast<double>(point)};
  std::vector<double> found(domain.shape().size());
  for (std::size_t axis = found.size(); axis-- > 0; point /= domain.shape()[axis])
    found[axis] = static_cast<double>(point % domain.shape()[axis]);
  return found;
}

bool parse_number(std::string_view text, bool whole, double& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size() && std::isfinite(number) &&
         (!whole || number == std::floor(number));
}

}  // namespace

std::optional<Region> parse_region(std::string_view who, const std::string& text) {
  constexpr std::string_view prefix = "mean:", places = "@x";
  if (!text.starts_with(prefix)) return std::nullopt;
  Region region{.by_place = text.ends_with(places), .ranges = {}};
  std::string_view rest = text;
  rest = rest.substr(prefix.size());
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    std::string_view one = rest.substr(0, comma);
    // It ends the text, and may stand behind each range.
    if (region.by_place && one.ends_with(places)) one.remove_suffix(places.size());
    const std::size_t dots = one.find("..");
    auto& [from, to] = region.ranges.emplace_back();
    const bool read = dots != std::string_view::npos && parse_number(one.substr(0, dots), !region.by_place, from) &&
                      parse_number(one.substr(dots + 2), !region.by_place, to);
    require(read && from < to, who, "=", text, " (\"", one,
            "\" is no range). Write mean:20..40 for the indices 20 to "
            "39, mean:0.2..0.4@x for coordinates, mean:0..8,0..8 or mean:0..0.5,0..0.5@x on two axes.");
    more = comma != std::string_view::npos;
    if (more) rest = rest.substr(comma + 1);
  }
  return region;
}

Readout mean_over(const Region& region, const Domain& domain, int channel) {
  const std::size_t axes = region.by_place ? static_cast<std::size_t>(domain.dimension()) : indices(domain, 0).size();
  require(region.ranges.size() == axes, "target: ", words(region), " (has ", region.ranges.size(), " ranges, and the ",
          "output ", axes, domain.is_grid() || region.by_place ? " axes" : " number for each point",
          "). Give one for each.");
  for (std::size_t axis = 0; !region.by_place && axis < axes; ++axis) {
    const double most = domain.is_grid() ? domain.shape()[axis] : static_cast<double>(domain.points());
    require(region.ranges[axis].first >= 0 && region.ranges[axis].second <= most, "target: ", words(region), " (axis ",
            axis, " has the indices 0..", most - 1, "). Give a range of them.");
  }
  std::vector<Readout::Term> terms;
  double volume = 0;
  for (std::int64_t point = 0; point < domain.points(); ++point) {
    const std::vector<double> at = region.by_place ? domain.position(point) : indices(domain, point);
    bool inside = true;
    for (std::size_t axis = 0; axis < axes; ++axis)
      inside = inside && at[axis] >= region.ranges[axis].first && at[axis] < region.ranges[axis].second;
    if (!inside) continue;
    terms.push_back({{.point = point, .channel = channel}, domain.volume(point)});
    volume += domain.volume(point);
  }
  require(!terms.empty(), "target: ", words(region), " (holds no point of the ", domain.describe(),
          "). Give a larger region.");
  require(volume > 0, "target: ", words(region), " (its points have no volume). Give a larger region.");
  for (Readout::Term& term : terms) term.weight /= volume;
  return Readout(terms);
}

}  // namespace opshap
