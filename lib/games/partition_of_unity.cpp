#include "games/partition_of_unity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "core/gauss_legendre.hpp"

namespace opshap::games {

namespace {

using Entries = std::vector<std::pair<int, double>>;

/// The indices of a point, one per axis.
std::vector<int> indices_of(const Domain& domain, std::int64_t point) {
  if (domain.dimension() == 1) return {static_cast<int>(point)};
  return {static_cast<int>(point / domain.shape()[1]), static_cast<int>(point % domain.shape()[1])};
}

std::string place(const Domain& domain, std::int64_t point) {
  const std::vector<double> at = domain.position(point);
  std::string text = message("point ", point, ", x=", at[0]);
  if (at.size() == 2) text += message(", y=", at[1]);
  return text;
}

/// A C^∞ function that climbs from 0 at t <= 0 to 1 at t >= 1; step(t) + step(1 − t) = 1.
double step(double t) {
  if (t <= 0) return 0;
  if (t >= 1) return 1;
  return 1 / (1 + std::exp(1 / t - 1 / (1 - t)));
}

/// The bumps of one axis that are not 0 at x.
Entries bumps_at(double x, const std::vector<double>& centres, double extent, bool periodic) {
  const int count = static_cast<int>(centres.size());
  const int right = static_cast<int>(std::ranges::upper_bound(centres, x) - centres.begin());
  if (count == 1) return {{0, 1.0}};
  if (!periodic && right == 0) return {{0, 1.0}};
  if (!periodic && right == count) return {{count - 1, 1.0}};
  const int left = (right + count - 1) % count;
  double from = centres[static_cast<std::size_t>(left)], to = centres[static_cast<std::size_t>(right % count)];
  if (right == 0) from -= extent;
  if (right == count) to += extent;
  const double t = (x - from) / (to - from);
  return {{left, step(1 - t)}, {right % count, step(t)}};
}

/// Whether a number can be a coordinate of the axis.
bool on_axis(double x, const Domain& domain, std::size_t axis) {
  const Axis& line = domain.axes()[axis];
  return x >= line.origin && x <= line.origin + line.extent;
}

/// One entry of the smoothing kernel: by how much to move on each axis, and the weight.
struct Offset {
  std::array<int, 2> steps;
  double weight;
};

std::vector<Offset> kernel(const Domain& domain, double radius) {
  std::vector<double> spacing;
  std::vector<int> reach;
  for (std::size_t axis = 0; axis < domain.shape().size(); ++axis) {
    spacing.push_back(domain.axes()[axis].spacing());
    reach.push_back(static_cast<int>(std::min<double>(radius / spacing.back(), domain.shape()[axis])));
  }
  reach.resize(2, 0);  // no steps along an axis that is not there
  std::vector<Offset> offsets;
  for (int i = -reach[0]; i <= reach[0]; ++i) {
    for (int j = -reach[1]; j <= reach[1]; ++j) {
      const std::array steps = {i, j};
      double square = 0;
      for (std::size_t axis = 0; axis < spacing.size(); ++axis)
        square += std::pow(steps[axis] * spacing[axis] / radius, 2);
      if (square < 1) offsets.push_back({steps, std::exp(-1 / (1 - square))});
    }
  }
  return offsets;
}

/// The point `steps` away, or -1 when that is beyond a border.
std::int64_t moved(const Domain& domain, const std::vector<int>& indices, const std::array<int, 2>& steps) {
  std::int64_t point = 0;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    const int size = domain.shape()[axis];
    int index = indices[axis] + steps[axis];
    if (domain.axes()[axis].periodic) index = (index % size + size) % size;
    if (index < 0 || index >= size) return -1;
    point = point * size + index;
  }
  return point;
}

}  // namespace

PartitionOfUnity::PartitionOfUnity(const Domain& domain, int masks, SparseRows at_points)
    : domain_(domain), at_points_(std::move(at_points)), integrals_(static_cast<std::size_t>(masks), 0.0) {
  for (std::size_t point = 0; point < at_points_.rows(); ++point)
    at_points_.add_to(integrals_, point, domain_.volume(static_cast<std::int64_t>(point)));
  const auto empty = std::ranges::find(integrals_, 0.0);
  require(empty == integrals_.end(), "partition_of_unity: mask=", empty - integrals_.begin(), " (0 at each of the ",
          domain_.points(), " points, so no share of it can be taken). Use fewer or wider masks, or a finer grid.");
}

PartitionOfUnity PartitionOfUnity::from_values(const Domain& domain, std::span<const double> values) {
  const auto points = static_cast<std::size_t>(domain.points());
  require(!values.empty() && values.size() % points == 0, "partition_of_unity: values=", values.size(),
          " (the grid has ", points, " points, and a mask has one value for each). Give m x ", points, " values.");
  const std::size_t masks = values.size() / points;
  const double allowed = 4 * static_cast<double>(masks) * std::numeric_limits<double>::epsilon();
  double worst = 0;
  std::size_t worst_point = 0;
  SparseRows at_points;
  Entries entries;
  for (std::size_t point = 0; point < points; ++point) {
    entries.clear();
    double sum = 0;
    for (std::size_t mask = 0; mask < masks; ++mask) {
      const double value = values[mask * points + point];
      require(value >= 0 && std::isfinite(value), "partition_of_unity: value=", value, " (mask ", mask, " at ",
              place(domain, static_cast<std::int64_t>(point)), "; masks are in [0, 1]). Repair the mask.");
      sum += value;
      entries.emplace_back(static_cast<int>(mask), value);
    }
    if (std::abs(sum - 1) > std::abs(worst)) {
      worst = sum - 1;
      worst_point = point;
    }
    at_points.append(entries);
  }
  require(std::abs(worst) <= allowed, "partition_of_unity: deviation=", worst, " (the ", masks,
          " masks add up to 1 plus that at ", place(domain, static_cast<std::int64_t>(worst_point)),
          ", where it is largest; rounding explains ", allowed, "). Divide the masks by their sum at each point.");
  return {domain, static_cast<int>(masks), std::move(at_points)};
}

PartitionOfUnity PartitionOfUnity::bumps(const Domain& domain, const std::vector<std::vector<double>>& centres) {
  require(centres.size() == domain.shape().size(), "partition_of_unity: axes=", centres.size(), " (the grid has ",
          domain.shape().size(), "). Give one list of centres for each axis.");
  std::vector<std::vector<Entries>> of_axis(centres.size());
  int masks = 1;
  for (std::size_t axis = 0; axis < centres.size(); ++axis) {
    const Axis& line = domain.axes()[axis];
    require(!centres[axis].empty(), "partition_of_unity: centres=0 (axis ", axis, "). Give at least one centre.");
    require(static_cast<int>(centres[axis].size()) <= domain.shape()[axis],
            "partition_of_unity: centres=", centres[axis].size(), " (axis ", axis, " has ", domain.shape()[axis],
            " points, too few for as many bumps). Use fewer bumps or a finer grid.");
    for (std::size_t i = 0; i < centres[axis].size(); ++i) {
      require(on_axis(centres[axis][i], domain, axis), "partition_of_unity: centre=", centres[axis][i], " (axis ", axis,
              " is ", line.origin, "..", line.origin + line.extent, "). Give a coordinate of the axis.");
      require(i == 0 || centres[axis][i] > centres[axis][i - 1], "partition_of_unity: centre=", centres[axis][i],
              " (not after ", i == 0 ? 0.0 : centres[axis][i - 1], " on axis ", axis, "). Sort the centres.");
    }
    require(!line.periodic || centres[axis].back() - centres[axis].front() < line.extent,
            "partition_of_unity: centre=", centres[axis].back(), " (the same place as ", centres[axis].front(),
            " on the periodic axis ", axis, "). Leave one of them out.");
    masks *= static_cast<int>(centres[axis].size());
    for (int index = 0; index < domain.shape()[axis]; ++index)
      of_axis[axis].push_back(bumps_at(line.coordinate(index), centres[axis], line.extent, line.periodic));
  }
  SparseRows at_points;
  Entries products;
  for (std::int64_t point = 0; point < domain.points(); ++point) {
    const std::vector<int> indices = indices_of(domain, point);
    products = of_axis[0][static_cast<std::size_t>(indices[0])];
    for (std::size_t axis = 1; axis < indices.size(); ++axis) {
      Entries further;
      for (const auto& [mask, value] : products) {
        for (const auto& [of_this, factor] : of_axis[axis][static_cast<std::size_t>(indices[axis])])
          further.emplace_back(mask * static_cast<int>(centres[axis].size()) + of_this, value * factor);
      }
      products = std::move(further);
    }
    at_points.append(products);
  }
  return {domain, masks, std::move(at_points)};
}

PartitionOfUnity PartitionOfUnity::gaussians(const Domain& domain, std::span<const double> centres, double width) {
  const std::size_t axes = domain.shape().size();
  require(!centres.empty() && centres.size() % axes == 0, "partition_of_unity: centres=", centres.size(),
          " numbers (a centre has ", axes, "). Give m x ", axes, " coordinates.");
  require(width > 0 && std::isfinite(width), "partition_of_unity: width=", width,
          " (a Gaussian needs a positive one). Give a positive width.");
  for (std::size_t i = 0; i < centres.size(); ++i) {
    require(on_axis(centres[i], domain, i % axes), "partition_of_unity: centre=", centres[i], " (axis ", i % axes,
            " of centre ", i / axes, " is ", domain.axes()[i % axes].origin, "..",
            domain.axes()[i % axes].origin + domain.axes()[i % axes].extent, "). Give a point of the box.");
  }
  const std::size_t masks = centres.size() / axes;
  SparseRows at_points;
  Entries entries;
  std::vector<double> exponents(masks);
  for (std::int64_t point = 0; point < domain.points(); ++point) {
    const std::vector<int> indices = indices_of(domain, point);
    for (std::size_t mask = 0; mask < masks; ++mask) {
      double square = 0;
      for (std::size_t axis = 0; axis < axes; ++axis) {
        double distance = domain.axes()[axis].coordinate(indices[axis]) - centres[mask * axes + axis];
        const double turn = domain.axes()[axis].extent / std::numbers::pi;
        if (domain.axes()[axis].periodic) distance = turn * std::sin(distance / turn);
        square += distance / width * (distance / width);
      }
      exponents[mask] = -square / 2;
    }
    // Relative to the nearest centre: far from all of them, every exponential would underflow.
    const double nearest = *std::ranges::max_element(exponents);
    double sum = 0;
    for (double& exponent : exponents) sum += exponent = std::exp(exponent - nearest);
    entries.clear();
    for (std::size_t mask = 0; mask < masks; ++mask) entries.emplace_back(static_cast<int>(mask), exponents[mask]);
    at_points.append(entries, sum);
  }
  return {domain, static_cast<int>(masks), std::move(at_points)};
}

PartitionOfUnity PartitionOfUnity::smoothed_cells(const Domain& domain, const Partition& partition, double radius) {
  require(static_cast<std::int64_t>(partition.player_of.size()) == domain.points(),
          "partition_of_unity: partition=", partition.player_of.size(), " points (the grid has ", domain.points(),
          "). Make the partition from this grid.");
  require(radius > 0, "partition_of_unity: radius=", radius, " (needs a positive one). Give a positive radius.");
  for (const Axis& axis : domain.axes()) {
    require(!axis.periodic || radius < axis.extent / 2, "partition_of_unity: radius=", radius,
            " (a periodic axis of length ", axis.extent, " would meet itself). Use less than half the length.");
  }
  const std::vector<Offset> offsets = kernel(domain, radius);
  SparseRows at_points;
  Entries entries;
  for (std::int64_t point = 0; point < domain.points(); ++point) {
    const std::vector<int> indices = indices_of(domain, point);
    entries.clear();
    double sum = 0;
    for (const Offset& offset : offsets) {
      const std::int64_t other = moved(domain, indices, offset.steps);
      if (other < 0) continue;
      entries.emplace_back(partition.player_of[static_cast<std::size_t>(other)], offset.weight);
      sum += offset.weight;
    }
    at_points.append(entries, sum);
  }
  return {domain, partition.players, std::move(at_points)};
}

std::vector<double> PartitionOfUnity::values() const {
  std::vector<double> values(integrals_.size() * at_points_.rows(), 0.0);
  for (std::size_t point = 0; point < at_points_.rows(); ++point)
    at_points_.for_each(point,
                        [&](std::size_t mask, double value) { values[mask * at_points_.rows() + point] = value; });
  return values;
}

void PartitionOfUnity::combine(std::span<const double> coefficients, std::span<double> field) const {
  for (std::size_t point = 0; point < field.size(); ++point) field[point] = at_points_.dot(point, coefficients);
}

void PartitionOfUnity::integrate(std::span<const double> field, std::span<double> moments) const {
  std::ranges::fill(moments, 0.0);
  for (std::size_t point = 0; point < field.size(); ++point) at_points_.add_to(moments, point, field[point]);
}

SparseRows PartitionOfUnity::shares(const Partition& partition) const {
  std::vector<std::vector<std::size_t>> points_of(static_cast<std::size_t>(partition.players));
  for (std::size_t point = 0; point < partition.player_of.size(); ++point)
    points_of[static_cast<std::size_t>(partition.player_of[point])].push_back(point);
  SparseRows shares;
  Entries entries;
  for (const std::vector<std::size_t>& points : points_of) {
    entries.clear();
    for (const std::size_t point : points) {
      const double volume = domain_.volume(static_cast<std::int64_t>(point));
      at_points_.for_each(point, [&](std::size_t mask, double value) {
        entries.emplace_back(static_cast<int>(mask), value * volume / integrals_[mask]);
      });
    }
    shares.append(entries);
  }
  return shares;
}

std::vector<double> graded_centres(int count, double extent, double ratio) {
  require(count >= 1, "graded_centres: count=", count, " (needs at least one). Give a positive count.");
  const Grading grading(ratio);
  std::vector<double> centres;
  for (int i = 0; i < count; ++i) centres.push_back(extent * grading.inverse((i + 0.5) / count));
  return centres;
}

namespace {

/// Players who hold shares of masks: a row of `shares` each.
class SmoothOperatorGame final : public Game, public Extension {
 public:
  SmoothOperatorGame(MaskedOperator masked, PartitionOfUnity masks, SparseRows shares)
      : masked_(std::move(masked)), masks_(std::move(masks)), shares_(std::move(shares)) {}

  int players() const override { return static_cast<int>(shares_.rows()); }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    const std::vector<double> points = corners(coalitions);
    return masked_.values(coalitions.size(), weights_at(points));
  }

  const Extension* extension() const override { return masked_.has_gradients() ? this : nullptr; }

  std::vector<double> gradients(std::span<const double> points) const override {
    const std::size_t n = shares_.rows();
    std::vector<double> gradients(points.size()), along_masks(static_cast<std::size_t>(masks_.masks()));
    masked_.slopes(points.size() / n, weights_at(points), [&](std::size_t index, std::span<const double> slopes) {
      masks_.integrate(slopes, along_masks);
      for (std::size_t player = 0; player < n; ++player)
        gradients[index * n + player] = shares_.dot(player, along_masks);
    });
    return gradients;
  }

 private:
  /// The masks, each by what the players hold of it. Refers to the points.
  MaskedOperator::Weigh weights_at(std::span<const double> points) const {
    return [this, points, held = std::vector<double>(static_cast<std::size_t>(masks_.masks()))](
               std::size_t index, std::span<double> weights) mutable {
      std::ranges::fill(held, 0.0);
      const std::size_t n = shares_.rows();
      for (std::size_t player = 0; player < n; ++player)
        if (points[index * n + player] != 0) shares_.add_to(held, player, points[index * n + player]);
      masks_.combine(held, weights);
    };
  }

  MaskedOperator masked_;
  PartitionOfUnity masks_;
  SparseRows shares_;
};

}  // namespace

std::unique_ptr<Game> diagonal_game(const Operator& op, FieldBatch input, FieldBatch baseline, PartitionOfUnity masks,
                                    Readout readout) {
  MaskedOperator masked("diagonal_game", op, std::move(input), std::move(baseline), std::move(readout));
  require(masks.domain() == masked.domain(),
          "diagonal_game: masks (they are of another grid than the input). Make them from the input's grid.");
  require(masks.masks() <= Coalitions::max_players, "diagonal_game: masks=", masks.masks(), " (a game has at most ",
          Coalitions::max_players, " players). Use fewer masks.");
  SparseRows shares;
  for (int player = 0; player < masks.masks(); ++player) {
    Entries own_mask = {{player, 1.0}};
    shares.append(own_mask);
  }
  return std::make_unique<SmoothOperatorGame>(std::move(masked), std::move(masks), std::move(shares));
}

std::vector<double> masked_attributions(const Operator& op, const FieldBatch& input, const FieldBatch& baseline,
                                        const Readout& readout, std::span<const double> masks,
                                        std::span<const double> nodes, std::span<const double> weights) {
  const MaskedOperator masked("masked_attributions", op, input, baseline, readout);
  const auto points = static_cast<std::size_t>(masked.domain().points());
  require(masks.size() % points == 0, "masked_attributions: masks=", masks.size(), " values (a mask has ", points,
          ", one for each point). Give m x ", points, " values.");
  for (std::size_t i = 0; i < masks.size(); ++i) {
    require(std::isfinite(masks[i]), "masked_attributions: value=", masks[i], " (mask ", i / points, " at point ",
            i % points, " is not a finite number). Repair the mask.");
  }
  require(nodes.size() == weights.size(), "masked_attributions: weights=", weights.size(), " (there are ", nodes.size(),
          " nodes). Give one weight for each node.");
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  require(std::abs(total - 1) < 1e-9, "masked_attributions: weights=", total,
          " (their sum; a rule for [0, 1] has 1). Divide the weights by their sum.");
  std::vector<double> density(points, 0.0);
  masked.slopes(nodes.size(), MaskedOperator::constant(nodes), [&](std::size_t node, std::span<const double> slopes) {
    for (std::size_t point = 0; point < points; ++point) density[point] += weights[node] * slopes[point];
  });
  std::vector<double> attributions;
  for (std::size_t first = 0; first < masks.size(); first += points) {
    attributions.push_back(
        std::inner_product(density.begin(), density.end(), masks.begin() + static_cast<std::ptrdiff_t>(first), 0.0));
  }
  return attributions;
}

std::unique_ptr<Game> smooth_operator_game(const Operator& op, FieldBatch input, FieldBatch baseline,
                                           PartitionOfUnity masks, const Partition& partition, Readout readout) {
  MaskedOperator masked("smooth_operator_game", op, std::move(input), std::move(baseline), std::move(readout));
  require(masks.domain() == masked.domain(),
          "smooth_operator_game: masks (they are of another grid than the input). Make them from the input's grid.");
  require(static_cast<std::int64_t>(partition.player_of.size()) == masked.domain().points(),
          "smooth_operator_game: partition=", partition.player_of.size(), " points (the grid has ",
          masked.domain().points(), "). Make the partition from the input's grid.");
  SparseRows shares = masks.shares(partition);
  return std::make_unique<SmoothOperatorGame>(std::move(masked), std::move(masks), std::move(shares));
}

}  // namespace opshap::games
