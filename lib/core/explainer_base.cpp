#include "core/explainer_base.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "core/error.hpp"
#include "core/gauss_legendre.hpp"
#include "core/measured.hpp"
#include "core/names.hpp"

namespace opshap {

namespace {

/// The points next to one on each axis of a grid, one time each. A periodic axis goes on at its other end.
std::vector<std::size_t> neighbours(const Domain& domain, std::int64_t point) {
  std::vector<std::size_t> found;
  std::int64_t stride = 1;
  for (std::size_t axis = domain.axes().size(); axis-- > 0;) {
    const std::int64_t points = domain.axes()[axis].points, index = point / stride % points;
    for (const std::int64_t step : {-1, 1}) {
      std::int64_t next = index + step;
      if (domain.axes()[axis].periodic) next = (next + points) % points;
      const auto place = static_cast<std::size_t>(point + (next - index) * stride);
      const bool inside = next >= 0 && next < points && next != index;
      if (inside && std::ranges::find(found, place) == found.end()) found.push_back(place);
    }
    stride *= points;
  }
  return found;
}

/// The input less the baseline. A channel in which the two are the same is not hidden, and stays as it is.
void put_field(const Scenario& scenario, FieldBatch& to) {
  const std::vector<double>&input = scenario.input.values, &baseline = scenario.baseline.values;
  const auto points = static_cast<std::size_t>(scenario.input.domain.points());
  for (std::size_t first = 0; first < input.size(); first += points) {
    const auto begin = static_cast<std::ptrdiff_t>(first), end = static_cast<std::ptrdiff_t>(first + points);
    const bool shown = std::equal(input.begin() + begin, input.begin() + end, baseline.begin() + begin);
    for (std::size_t i = first; i < first + points; ++i) to.values[i] = shown ? input[i] : input[i] - baseline[i];
  }
}

}  // namespace

std::string ExplainerBase::describe() const {
  if (!any()) return name_of(kind);
  return message(name_of(kind), " of ", nodes, nodes == 1 ? " node" : " nodes", coarse ? ", order 1/n" : "");
}

std::int64_t ExplainerBase::evaluations() const {
  if (!any()) return 0;
  return std::int64_t{kind == Kind::mean_field ? 6 : 3} * nodes;
}

const std::vector<std::string>& base_names() {
  static const std::vector<std::string> names = {"none", "integrated_gradients", "mean_field"};
  return names;
}

const std::string& name_of(ExplainerBase::Kind kind) { return base_names()[static_cast<std::size_t>(kind)]; }

ExplainerBase::Kind find_base(std::string_view name) {
  const auto found = std::ranges::find(base_names(), name);
  if (found == base_names().end()) throw_unknown_name("base", name, base_names());
  return static_cast<ExplainerBase::Kind>(found - base_names().begin());
}

void require_base(const ExplainerBase& base, const Operator& op) {
  require(!base.any() || op.has_gradients(), "explainer: base=", name_of(base.kind), " (", op.describe(),
          " has no gradients). Use base = \"none\".");
  require(base.kind != ExplainerBase::Kind::mean_field || op.has_mean_field(), "explainer: base=mean_field (",
          op.describe(), " has no mean-field closure). Use base = \"integrated_gradients\".");
}

void require_base(const ExplainerBase& base, const Scenario& scenario) {
  if (!base.any()) return;
  const Domain& domain = scenario.input.domain;
  require(domain.is_grid(), "explainer: base=", name_of(base.kind), " (the domain is a ", domain.describe(),
          "; a base is corrected on grids alone). Use base = \"none\".");
  require(scenario.partition.player_of == Partition::one_player_per_point(domain).player_of,
          "explainer: base=", name_of(base.kind), ", players=", scenario.partition.players,
          " (a base is corrected point by point, and the players are not the points). Use base = \"none\".");
  require(scenario.readout.is_query(), "explainer: base=", name_of(base.kind), " (what is explained is ",
          scenario.readout.describe(), "; a base is corrected as seen from one query). Explain the value at a query.");
}

std::vector<double> base_slopes(const ExplainerBase& base, CountedGame& game) {
  const std::vector<double> points = on_diagonal(GaussLegendre(base.nodes).nodes, game.players());
  return base.kind == ExplainerBase::Kind::mean_field ? game.mean_field_gradients("explainer", points)
                                                      : game.extension_gradients("explainer", points);
}

BasedField with_base(const ExplainerBase& base, const Scenario& scenario, std::span<const double> slopes, double gain) {
  require_base(base, scenario);
  const Domain& domain = scenario.input.domain;
  const auto n = static_cast<std::size_t>(domain.points()), nodes = static_cast<std::size_t>(base.nodes);
  const std::vector<double> weights = GaussLegendre(base.nodes).weights;
  const auto query = static_cast<std::size_t>(scenario.readout.query().point);
  const std::vector<std::size_t> around = neighbours(domain, scenario.readout.query().point);
  const double volume = domain.volume(), fineness = ExplainerBase::coarse_points / static_cast<double>(n);

  BasedField found{.input = FieldBatch::zeros(domain, 1, scenario.input.channels + base.channels()),
                   .density = std::vector<double>(n)};
  put_field(scenario, found.input);
  const auto channel = [&, first = static_cast<std::size_t>(scenario.input.channels)](std::size_t number) {
    return std::span(found.input.values).subspan((first + number) * n, n);
  };
  std::vector<double> sizes;  // of densities and atoms, by their weights in the mean of squares
  double sum = 0;
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::span<const double> of_node = slopes.subspan(node * n, n);
    const std::span<double> density = channel(node);
    for (std::size_t i = 0; i < n; ++i) {
      density[i] = static_cast<double>(n) * of_node[i] / volume;
      found.density[i] += weights[node] * of_node[i] / domain.volume(static_cast<std::int64_t>(i));
    }
    const double own = density[query];
    density[query] = 0;
    for (const std::size_t place : around) density[query] += density[place] / static_cast<double>(around.size());
    const double atom = (own - density[query]) / static_cast<double>(n);
    std::ranges::fill(channel(nodes + node), atom);
    sum += weights[node] * std::accumulate(of_node.begin(), of_node.end(), 0.0);
    sizes.push_back(std::sqrt(weights[node] / static_cast<double>(n)) * norm(density));
    sizes.push_back(std::sqrt(weights[node]) * atom);
  }
  const double gap = (gain - sum) / volume;
  sizes.push_back(gap);
  std::ranges::fill(channel(2 * nodes), gap);
  const double size = norm(sizes);
  for (std::size_t number = 0; size > 0 && number <= 2 * nodes; ++number)
    for (double& value : channel(number)) value /= size;
  std::ranges::fill(channel(2 * nodes + 1), fineness);
  found.scale = base.coarse ? fineness * size : size;
  return found;
}

}  // namespace opshap
