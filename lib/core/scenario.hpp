#pragma once

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/domain.hpp"
#include "core/field.hpp"
#include "core/operator.hpp"

namespace opshap {

/// A box of a domain: the points whose index, or whose coordinate, is at least the first and below the second number on
/// each axis.
struct Region {
  bool by_place = false;  ///< coordinates, else indices; of a mesh the only index is the number of the point
  std::vector<std::pair<double, double>> ranges;

  bool operator==(const Region&) const = default;
};

/// The region of "mean:20..40" or "mean:20..40,0..8" (indices), "mean:0.2..0.4@x" or "mean:0..1,0..1@x" (coordinates);
/// nothing for a text that does not begin with "mean:". `who` starts the messages. Throws InvalidArgument for one that
/// does and is no region, or an empty one.
std::optional<Region> parse_region(std::string_view who, const std::string& text);

/// The mean of an output's channel over the region's points, each weighted by its volume. Throws InvalidArgument for a
/// region of another number of axes, one that leaves the grid, and one without a point.
Readout mean_over(const Region& region, const Domain& domain, int channel);

/// The width of a blurred baseline that nobody gives one.
inline constexpr double default_blur = 0.15;

/// The width of "blur" (the default) or "blur:0.1"; nothing for another text. `who` starts the messages. Throws
/// InvalidArgument for a width that is no number in (0, 1].
std::optional<double> parse_blur(std::string_view who, const std::string& text);

/// What parse_blur() reads.
std::string blur_in_words(double width);

/// How one field becomes one game: who plays, what hides a player, which output is explained. Comes from a profile or
/// the command line; the only such rule in the house.
struct ScenarioRule {
  enum class Players {
    points,  ///< each point of the domain
    blocks,  ///< contiguous groups of equal size, on a mesh the blocks of its bounding box (Partition::blocks)
    labels,  ///< the groups of a labelling
  };
  enum class Hidden {
    zero,      ///< every channel 0
    mean,      ///< each channel its own constant, the mean over a training set
    constant,  ///< each channel its own constant, given as a number
    rest,      ///< each channel its own constant, the state at rest of the data's problem
    blur,      ///< the input itself, smoothed: what it has on a large scale
    field,     ///< a field of the input's own shape
    node_mean  ///< such a field: each point its own mean over a training set whose samples are on one mesh
  };
  enum class Where {
    centre,    ///< Domain::centre()
    index,     ///< indices of the grid
    position,  ///< the point nearest to coordinates
    region,    ///< no point: the mean over a region
    weights,   ///< no point: a weighted sum of the output's numbers
  };

  Players players = Players::points;
  int blocks = 0;                    ///< how many, with Players::blocks
  std::vector<std::int64_t> labels;  ///< one per point, with Players::labels
  Hidden baseline = Hidden::zero;
  /// One per channel, with Hidden::mean, constant and rest. What a data set knows is empty until data::rule_for().
  std::vector<double> constants;
  double blur = default_blur;  ///< the width of smoothed(), with Hidden::blur
  FieldBatch hidden;           ///< a batch of one, with Hidden::field and, from data::rule_for() on, node_mean
  Where query = Where::centre;
  std::vector<int> index;        ///< with Where::index
  std::vector<double> position;  ///< with Where::position
  std::string target;            ///< with Where::region and Where::weights: "mean:20..40", or the name of a file
  Region region;                 ///< with Where::region
  std::vector<double> weights;   ///< one for each number of the output, [C, points], with Where::weights
  int channel = 0;               ///< of the output
  std::vector<int> masked;  ///< channels of the input that players hide; the others always show the input. Empty: all

  /// Whether what hides a player is a field that does not depend on the input.
  bool hides_by_field() const { return baseline == Hidden::field || baseline == Hidden::node_mean; }
  /// Whether it is a function of the input, so that each input has its own v(∅).
  bool baseline_depends_on_input() const { return baseline == Hidden::blur || !masked.empty(); }

  /// What hides a player: "zero", "mean (0.5,2)", "constant (1,0)", "rest (1,0)", "blur:0.15", "a field".
  std::string baseline_in_words() const;

  /// For manifests and reports: "players: points; baseline: zero; query: centre, channel 0; masked channels: all".
  std::string describe() const;
};

/// One game of a field: input and baseline (batches of one on one domain), who owns each point, and the explained
/// output.
struct Scenario {
  FieldBatch input, baseline;
  Partition partition;
  Readout readout;
};

/// The players who own a point where the input is not the baseline, in order: a channel differs there by more than a
/// billionth of its largest difference. What the others change is lost in rounding. Input and baseline are batches of
/// one.
std::vector<int> active_players(const FieldBatch& input, const FieldBatch& baseline, const Partition& partition);

/// The scenario of a field (a batch of one) under a rule, on the field's own domain.
///
/// Channels that are not masked have the input in the baseline, so no coalition changes them.
/// Throws InvalidArgument when the rule does not fit the field: more blocks than the grid has points, labels of another
/// domain, constants of another number of channels or that are not finite, a width of a blur that the grid cannot have
/// (require_smoothing()), a baseline of another shape, a query or a region outside, weights of another number, a masked
/// channel that is not there.
Scenario make_scenario(const ScenarioRule& rule, const FieldBatch& field);

/// The same after taking every s-th point of the field's grid (strided()). A baseline field may be on the field's own
/// grid and is strided with it. A blurred baseline is the strided input, smoothed.
Scenario make_scenario(const ScenarioRule& rule, const FieldBatch& field, const std::vector<int>& shape);

/// Points per axis at which fields are served. A grid has many resolutions, one for each stride. A mesh has one, the
/// number of its points. Every domain has own(), which is the domain as it is: fields on meshes of different sizes have
/// no other one in common.
///
/// One number stands for every axis. It is how files write a resolution whose axes are equal; another one is written
/// [nx, ny]. In words and on command lines it is "16" or "24x40", and own() is "own". Ordered by the first axis.
class Resolution {
 public:
  /// None.
  Resolution() = default;
  /// So many points on each axis. Implicit, since a number is a resolution.
  Resolution(int points) : numbers_{points} {}
  /// Points per axis; equal ones become one number.
  explicit Resolution(std::vector<int> shape);
  /// The domain as it is.
  static Resolution own() { return {0}; }
  /// "16", "24x40" or "own". Throws InvalidArgument, whose message `who` starts, for another text.
  static Resolution parse(std::string_view who, std::string_view text);

  bool is_own() const { return numbers_ == std::vector{0}; }
  /// One number, or one per axis; 0 for own().
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

/// "16", "24x40" or "own".
std::ostream& operator<<(std::ostream& out, const Resolution& resolution);

/// As files write it: 16, [24,40] or "own".
template <typename Json>
void to_json(Json& json, const Resolution& resolution) {
  json = resolution.is_own()                ? Json("own")
         : resolution.numbers().size() == 1 ? Json(resolution.numbers().front())
                                            : Json(resolution.numbers());
}
template <typename Json>
void from_json(const Json& json, Resolution& resolution) {
  resolution = json.is_string() && json.template get<std::string>() == "own" ? Resolution::own()
               : json.is_array() ? Resolution(json.template get<std::vector<int>>())
                                 : Resolution(json.template get<int>());
}

/// Points per axis of a grid; of a mesh the number of its points: what rows and messages call the shape of a domain.
std::vector<int> shape_of(const Domain& domain);

/// The same of a domain that was served at a resolution: {0} for own(), whatever the domain.
std::vector<int> shape_at(const Domain& domain, const Resolution& resolution);

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
