#include "core/scenario.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <ostream>

#include "core/error.hpp"
#include "core/names.hpp"
#include "core/smoothing.hpp"

namespace opshap {

namespace {

/// "mean:20..40", for messages.
std::string words(const Region& region) {
  std::string text = "mean:";
  for (const auto& [from, to] : region.ranges) text += message(text.back() == ':' ? "" : ",", from, "..", to);
  return text + (region.by_place ? "@x" : "");
}

constexpr std::string_view blur_word = "blur", blur_prefix = "blur:";

/// With all the digits that tell the numbers from others: the identity of a training rests on them.
std::string numbers_in_words(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) text += message(text.empty() ? "" : ",", shortest(number));
  return text;
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
  number = number_of<double>(text).value_or(std::nan(""));
  return std::isfinite(number) && (!whole || number == std::floor(number));
}

void require_own(const Domain& mesh, const Resolution& resolution) {
  require(resolution == Resolution(static_cast<int>(mesh.points())), "resolution: points=", resolution,
          " (the domain is a ", mesh.describe(), ", which has one resolution). Use ", mesh.points(), ".");
}

Partition partition_of(const ScenarioRule& rule, const Domain& domain) {
  if (rule.players == ScenarioRule::Players::blocks) return Partition::blocks(domain, rule.blocks);
  if (rule.players == ScenarioRule::Players::labels) return Partition::from_labels(domain, rule.labels);
  return Partition::one_player_per_point(domain);
}

bool hides_by_constants(const ScenarioRule& rule) {
  using Hidden = ScenarioRule::Hidden;
  return rule.baseline == Hidden::mean || rule.baseline == Hidden::constant || rule.baseline == Hidden::rest;
}

FieldBatch baseline_of(const ScenarioRule& rule, const FieldBatch& input) {
  FieldBatch baseline = FieldBatch::zeros(input.domain, 1, input.channels);
  if (hides_by_constants(rule)) {
    require(static_cast<int>(rule.constants.size()) == input.channels, "scenario: baseline=", rule.baseline_in_words(),
            " (has numbers: ", rule.constants.size(), ", channels of the input: ", input.channels,
            "). Give one number for each channel.");
    for (const double constant : rule.constants)
      require(std::isfinite(constant), "scenario: baseline=", rule.baseline_in_words(), " (", constant,
              " is not a finite number). Give one for each channel.");
    for (std::size_t i = 0; i < baseline.values.size(); ++i)
      baseline.values[i] = rule.constants[i / static_cast<std::size_t>(input.domain.points())];
  }
  if (rule.baseline == ScenarioRule::Hidden::blur) {
    require_smoothing("scenario", input.domain, rule.blur);
    baseline = smoothed(input, rule.blur);
  }
  if (rule.hides_by_field()) {
    require(rule.hidden.batch == 1 && rule.hidden.channels == input.channels &&
                rule.hidden.domain.points() == input.domain.points(),
            "scenario: baseline=", rule.hidden.channels, " channels of ", rule.hidden.domain.points(),
            " points (the input has ", input.channels, " of ", input.domain.points(),
            "). Give a baseline of the input's shape.");
    baseline.values = rule.hidden.values;
  }
  if (rule.masked.empty()) return baseline;
  for (const int channel : rule.masked) {
    require(channel >= 0 && channel < input.channels, "scenario: masked channel=", channel,
            " (the input has the channels 0..", input.channels - 1, "). Name one of them.");
  }
  const auto points = static_cast<std::ptrdiff_t>(input.domain.points());
  for (int channel = 0; channel < input.channels; ++channel) {
    if (std::ranges::find(rule.masked, channel) != rule.masked.end()) continue;
    std::copy_n(input.values.begin() + channel * points, points, baseline.values.begin() + channel * points);
  }
  return baseline;
}

Readout readout_of(const ScenarioRule& rule, const Domain& domain) {
  if (rule.query == ScenarioRule::Where::region) return mean_over(rule.region, domain, rule.channel);
  if (rule.query == ScenarioRule::Where::weights) return Readout::of_weights(rule.weights, domain.points());
  const std::int64_t point = rule.query == ScenarioRule::Where::index      ? domain.point(rule.index)
                             : rule.query == ScenarioRule::Where::position ? domain.nearest(rule.position)
                                                                           : domain.centre();
  return Query{.point = point, .channel = rule.channel};
}

}  // namespace

std::optional<Region> parse_region(std::string_view who, const std::string& text) {
  constexpr std::string_view prefix = "mean:", places = "@x";
  if (!text.starts_with(prefix)) return std::nullopt;
  Region region{.by_place = text.ends_with(places), .ranges = {}};
  std::string_view rest = std::string_view(text).substr(prefix.size());
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

std::optional<double> parse_blur(std::string_view who, const std::string& text) {
  if (text == blur_word) return default_blur;
  if (!text.starts_with(blur_prefix)) return std::nullopt;
  double width = 0;
  const bool read = parse_number(std::string_view(text).substr(blur_prefix.size()), false, width);
  require(read && width > 0 && width <= 1, who, "=", text,
          " (the width of a blur is a part of the domain's length, more than 0 and at most 1). Write blur, which is "
          "blur:0.15, or another width.");
  return width;
}

std::string blur_in_words(double width) {
  return width == default_blur ? std::string(blur_word) : message(blur_prefix, shortest(width));
}

std::string ScenarioRule::baseline_in_words() const {
  switch (baseline) {
    case Hidden::zero:
      return "zero";
    case Hidden::mean:
      return message("mean (", joined(constants, ","), ")");
    case Hidden::constant:
      return message("constant (", numbers_in_words(constants), ")");
    case Hidden::rest:
      return constants.empty() ? "rest" : message("rest (", numbers_in_words(constants), ")");
    case Hidden::blur:
      return message(blur_prefix, shortest(blur));
    case Hidden::field:
      return "a field";
    case Hidden::node_mean:
      return "mean of each node";
  }
  return "";
}

std::string ScenarioRule::describe() const {
  const std::string who = players == Players::blocks   ? message(blocks, " blocks")
                          : players == Players::labels ? "labels"
                                                       : "points";
  const std::string at = !target.empty()            ? "target " + target
                         : query == Where::index    ? message("index ", joined(index, ","))
                         : query == Where::position ? message("position ", joined(position, ","))
                                                    : "centre";
  return message("players: ", who, "; baseline: ", baseline_in_words(), "; query: ", at, ", channel ", channel,
                 "; masked channels: ", masked.empty() ? "all" : joined(masked, ","));
}

std::vector<int> active_players(const FieldBatch& input, const FieldBatch& baseline, const Partition& partition) {
  constexpr double negligible = 1e-9;
  const std::size_t points = partition.player_of.size();
  std::vector<bool> active(static_cast<std::size_t>(partition.players));
  for (std::size_t channel = 0; channel < input.values.size(); channel += points) {
    const auto difference = [&](std::size_t point) {
      return std::abs(input.values[channel + point] - baseline.values[channel + point]);
    };
    double largest = 0;
    for (std::size_t point = 0; point < points; ++point) largest = std::max(largest, difference(point));
    for (std::size_t point = 0; point < points; ++point)
      if (difference(point) > negligible * largest) active[static_cast<std::size_t>(partition.player_of[point])] = true;
  }
  std::vector<int> players;
  for (int player = 0; player < partition.players; ++player)
    if (active[static_cast<std::size_t>(player)]) players.push_back(player);
  return players;
}

Scenario make_scenario(const ScenarioRule& rule, const FieldBatch& field) {
  require(field.batch == 1, "scenario: batch=", field.batch, " (a game explains one input). Take one sample.");
  return {.input = field,
          .baseline = baseline_of(rule, field),
          .partition = partition_of(rule, field.domain),
          .readout = readout_of(rule, field.domain)};
}

Scenario make_scenario(const ScenarioRule& rule, const FieldBatch& field, const std::vector<int>& shape) {
  if (!rule.hides_by_field() || rule.hidden.domain != field.domain) return make_scenario(rule, strided(field, shape));
  ScenarioRule coarse = rule;
  coarse.hidden = strided(rule.hidden, shape);
  return make_scenario(coarse, strided(field, shape));
}

namespace {

constexpr std::string_view own_word = "own";

}  // namespace

Resolution::Resolution(std::vector<int> shape) : numbers_(std::move(shape)) {
  const auto differs = [this](int points) { return points != numbers_.front(); };
  if (!numbers_.empty() && std::ranges::none_of(numbers_, differs))
    numbers_.erase(numbers_.begin() + 1, numbers_.end());
}

Resolution Resolution::parse(std::string_view who, std::string_view text) {
  if (text == own_word) return own();
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
  return resolution.is_own() ? out << own_word : out << joined(resolution.numbers(), "x");
}

std::vector<int> shape_of(const Domain& domain) {
  return domain.is_grid() ? domain.shape() : std::vector{static_cast<int>(domain.points())};
}

std::vector<int> shape_at(const Domain& domain, const Resolution& resolution) {
  return resolution.is_own() ? resolution.numbers() : shape_of(domain);
}

bool has_resolution(const Domain& domain, const Resolution& resolution) {
  if (resolution.is_own()) return true;
  if (!domain.is_grid()) return resolution == Resolution(static_cast<int>(domain.points()));
  const std::size_t axes = domain.axes().size(), numbers = resolution.numbers().size();
  if (numbers != 1 && numbers != axes) return false;
  const std::vector<int> shape = resolution.shape(domain.dimension());
  for (std::size_t axis = 0; axis < axes; ++axis)
    if (domain.axes()[axis].stride_to(shape[axis]) == 0) return false;
  return true;
}

Domain at_resolution(const Domain& domain, const Resolution& resolution) {
  if (resolution.is_own()) return domain;
  if (domain.is_grid()) return domain.strided(resolution.shape(domain.dimension()));
  require_own(domain, resolution);
  return domain;
}

FieldBatch at_resolution(const FieldBatch& fields, const Resolution& resolution) {
  if (resolution.is_own()) return fields;
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
  if (resolution.is_own()) return make_scenario(rule, field);
  if (field.domain.is_grid()) return make_scenario(rule, field, resolution.shape(field.domain.dimension()));
  require_own(field.domain, resolution);
  return make_scenario(rule, field);
}

}  // namespace opshap
