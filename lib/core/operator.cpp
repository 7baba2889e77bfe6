#include "core/operator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "core/gauss_legendre.hpp"

namespace opshap {

Partition Partition::one_player_per_point(const Domain& domain) {
  std::vector<std::int64_t> labels(static_cast<std::size_t>(domain.points()));
  std::iota(labels.begin(), labels.end(), std::int64_t{0});
  return from_labels(domain, labels);
}

namespace {

/// Products of the axes' blocks, numbered row-major. block_of(axis, index) is non-decreasing in the index.
template <typename BlockOf>
std::vector<std::int64_t> block_labels(const Domain& domain, int per_axis, const BlockOf& block_of) {
  std::vector<std::int64_t> labels(static_cast<std::size_t>(domain.points()));
  const int columns = domain.shape().back();
  for (std::size_t point = 0; point < labels.size(); ++point) {
    const int column = static_cast<int>(point) % columns, row = static_cast<int>(point) / columns;
    labels[point] =
        domain.dimension() == 1 ? block_of(0, column) : std::int64_t{block_of(0, row)} * per_axis + block_of(1, column);
  }
  return labels;
}

std::size_t index(Query query, std::int64_t points) {
  return static_cast<std::size_t>(query.channel * points + query.point);
}

}  // namespace

Partition Partition::blocks(const Domain& domain, int players) {
  if (!domain.is_grid()) return from_labels(domain, mesh_blocks(domain.as_mesh(), players).player_of);
  const int per_axis = blocks_per_axis(domain.dimension(), players);
  for (const int points : domain.shape()) {
    require(points >= per_axis, "partition: players=", players, " (an axis of ", points, " points has no ", per_axis,
            " blocks). Use fewer players, or a finer grid.");
  }
  return from_labels(domain, block_labels(domain, per_axis, [&](std::size_t axis, int index) {
                       return static_cast<int>(std::int64_t{index} * per_axis / domain.shape()[axis]);
                     }));
}

Partition Partition::graded(const Domain& domain, int players, double ratio) {
  const int per_axis = blocks_per_axis(domain.dimension(), players);
  const Grading grading(ratio);
  // The middle of a point's own cell, whatever the centring: then no point is on the border of a block of equal blocks.
  const auto block_of = [&](std::size_t axis, int index) {
    return static_cast<int>(per_axis * grading((index + 0.5) / domain.shape()[axis]));
  };
  for (std::size_t axis = 0; axis < domain.shape().size(); ++axis) {
    int next = 0;
    for (int index = 0; index < domain.shape()[axis]; ++index) {
      require(block_of(axis, index) <= next, "partition: players=", players, " (block ", next, " of axis ", axis,
              " is so narrow at ratio ", ratio, " that none of the ", domain.shape()[axis],
              " points is in it). Use fewer players, a ratio nearer to 1, or a finer grid.");
      if (block_of(axis, index) == next) ++next;
    }
    require(next == per_axis, "partition: players=", players, " (block ", next, " of axis ", axis, " at ratio ", ratio,
            " has none of the ", domain.shape()[axis],
            " points). Use fewer players, a ratio nearer to 1, or a finer grid.");
  }
  return from_labels(domain, block_labels(domain, per_axis, block_of));
}

Partition Partition::from_labels(const Domain& domain, const std::vector<std::int64_t>& labels) {
  require(static_cast<std::int64_t>(labels.size()) == domain.points(), "partition: labels=", labels.size(),
          " (the domain has ", domain.points(), " points). Give one label per point.");
  const auto [bottom, top] = std::ranges::minmax(labels);
  require(bottom >= 0, "partition: label=", bottom, " (players are numbered from 0). Relabel the points.");
  require(top < Coalitions::max_players, "partition: label=", top, " (at most ", Coalitions::max_players,
          " players). Group more points.");
  Partition partition;
  partition.players = static_cast<int>(top) + 1;
  partition.volumes.assign(static_cast<std::size_t>(partition.players), 0.0);
  for (std::int64_t point = 0; point < domain.points(); ++point) {
    const std::int64_t label = labels[static_cast<std::size_t>(point)];
    partition.player_of.push_back(static_cast<int>(label));
    partition.volumes[static_cast<std::size_t>(label)] += domain.volume(point);
  }
  for (std::size_t player = 0; player < partition.volumes.size(); ++player) {
    require(partition.volumes[player] > 0, "partition: player=", player,
            " (owns no point, so its value is 0 by definition). Number the players without gaps.");
  }
  return partition;
}

namespace {

/// [players][axes]: the mean of the indices of a player's grid points, or of the positions of its mesh points.
std::vector<std::vector<double>> middles_of(const Partition& partition, const Domain& domain) {
  const auto axes = static_cast<std::size_t>(domain.dimension());
  std::vector<std::vector<double>> middles(static_cast<std::size_t>(partition.players), std::vector<double>(axes, 0.0));
  std::vector<double> counts(middles.size(), 0.0);
  for (std::int64_t point = 0; point < domain.points(); ++point) {
    const auto player = static_cast<std::size_t>(partition.player_of[static_cast<std::size_t>(point)]);
    counts[player] += 1;
    // Sums of indices are exact, so blocks of one column have the same middle to the bit.
    std::vector<double> place = domain.is_grid() ? std::vector<double>(axes) : domain.position(point);
    for (std::int64_t axis = domain.is_grid() ? domain.dimension() : 0, rest = point; axis-- > 0;) {
      const int points = domain.shape()[static_cast<std::size_t>(axis)];
      place[static_cast<std::size_t>(axis)] = static_cast<double>(rest % points);
      rest /= points;
    }
    for (std::size_t axis = 0; axis < axes; ++axis) middles[player][axis] += place[axis];
  }
  for (std::size_t player = 0; player < middles.size(); ++player)
    for (double& coordinate : middles[player]) coordinate /= counts[player];
  return middles;
}

}  // namespace

std::vector<std::int64_t> Partition::places(const Domain& domain) const {
  const std::vector<std::vector<double>> middles = middles_of(*this, domain);
  const std::size_t axes = static_cast<std::size_t>(domain.dimension());
  std::vector<std::int64_t> codes(middles.size(), 0);
  std::size_t cells = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::vector<double> along;
    for (const std::vector<double>& middle : middles) along.push_back(middle[axis]);
    std::ranges::sort(along);
    along.erase(std::ranges::unique(along).begin(), along.end());
    cells *= along.size();
    for (std::size_t player = 0; player < middles.size(); ++player) {
      const auto rank =
          static_cast<std::uint64_t>(std::ranges::lower_bound(along, middles[player][axis]) - along.begin());
      for (std::size_t bit = 0; rank >> bit != 0; ++bit)
        codes[player] |= static_cast<std::int64_t>((rank >> bit & 1) << (bit * axes + axes - 1 - axis));
    }
  }
  if (cells == middles.size()) return codes;
  std::vector<std::size_t> order(codes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t player) { return codes[player]; });
  for (std::size_t rank = 0; rank < order.size(); ++rank) codes[order[rank]] = static_cast<std::int64_t>(rank);
  return codes;
}

Readout::Readout(const std::vector<Term>& terms) {
  for (const Term& term : terms) {
    require(std::isfinite(term.weight), "target: weight=", term.weight, " (of point ", term.query.point, ", channel ",
            term.query.channel, " is not a finite number). Repair the weights.");
    if (term.weight != 0) terms_.push_back(term);
  }
  require(!terms_.empty(), "target: weights=0 (all of them, so there is nothing to explain). Give one that is not 0.");
}

Readout Readout::of_weights(std::span<const double> weights, std::int64_t points) {
  require(points > 0 && !weights.empty() && static_cast<std::int64_t>(weights.size()) % points == 0,
          "target: weights=", weights.size(), " (an output has ", points,
          " points a channel). Give one for each number of the output.");
  std::vector<Term> terms;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    terms.push_back({{.point = number % points, .channel = static_cast<int>(number / points)}, weights[i]});
  }
  return Readout(terms);
}

Query Readout::query() const {
  if (!is_query()) throw std::logic_error("the query of a readout of several");
  return terms_.front().query;
}

std::string Readout::describe() const {
  if (!is_query()) return message("a weighted sum of ", terms_.size(), " numbers of the output");
  return message("the value at point ", query().point, ", channel ", query().channel);
}

double Readout::of(std::span<const double> output, std::int64_t points) const {
  if (is_query()) return output[index(terms_.front().query, points)];
  double sum = 0;
  for (const Term& term : terms_) sum += term.weight * output[index(term.query, points)];
  return sum;
}

void CoalitionEngine::slopes(std::span<const double>, std::span<double>) const {
  throw std::logic_error("coalition engine: slopes (it has none). Ask has_slopes() first.");
}

void CoalitionEngine::mean_field_slopes(std::span<const double>, std::span<double>) const {
  throw std::logic_error("coalition engine: mean_field_slopes (it has none). Ask has_slopes() first.");
}

std::vector<double> Operator::values_at(const FieldBatch& inputs, const Readout& readout) const {
  require_readout(*this, inputs.domain, readout);
  const FieldBatch outputs = apply(inputs);
  std::vector<double> values;
  for (std::int64_t index = 0; index < outputs.batch; ++index)
    values.push_back(readout.of(outputs.field(index), outputs.domain.points()));
  return values;
}

Operator::Gradient Operator::by_queries(const Readout& readout, const std::function<Gradient(Query)>& at) {
  Gradient sum;
  for (const Readout::Term& term : readout.terms()) {
    Gradient found = at(term.query);
    if (sum.values.empty()) {
      sum = std::move(found);
      for (double& value : sum.values) value *= term.weight;
      for (double& slope : sum.gradient.values) slope *= term.weight;
      continue;
    }
    for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += term.weight * found.values[i];
    for (std::size_t i = 0; i < sum.gradient.values.size(); ++i)
      sum.gradient.values[i] += term.weight * found.gradient.values[i];
  }
  return sum;
}

Operator::Gradient Operator::mean_field_at(const FieldBatch&, const FieldBatch&, const FieldBatch&,
                                           const Readout&) const {
  throw InvalidArgument(
      message(describe(),
              ": mean_field (its layers are not pointwise maps between integrals of the whole field). "
              "Use a sampling method such as permutation_antithetic."));
}

void require_readout(const Operator& op, const Domain& domain, const Readout& readout) {
  for (const auto& [query, weight] : readout.terms()) {
    require(query.point >= 0 && query.point < domain.points(), "query: point=", query.point,
            " (the grid has the points 0..", domain.points() - 1, "). Give a point of the grid.");
    require(query.channel >= 0 && query.channel < op.output_channels(), "query: channel=", query.channel,
            " (the operator's outputs have the channels 0..", op.output_channels() - 1, "). Give one of them.");
  }
}

}  // namespace opshap
