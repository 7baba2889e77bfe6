#include "methods/steps.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "estimators/second_order.hpp"

namespace opshap::methods {

Measured error_bar(const Attribution& attribution) {
  if (!attribution.steps.empty()) return attribution.steps.back().error_bar;
  if (attribution.exact) return Measured::of(0);
  if (attribution.standard_errors) return relative(norm(*attribution.standard_errors), norm(attribution.values));
  if (attribution.second_order) {
    const double bar = attribution.second_order->error_bar;
    return std::isfinite(bar) ? Measured::of(bar) : Measured::undefined("the values are 0");
  }
  return Measured::undefined("the method has no standard errors");
}

Measured first_order_error_bar(const SecondOrder& order) {
  const double bar = std::hypot(order.first_order_error_bar, order.spread);
  return std::isfinite(bar) ? Measured::of(bar) : Measured::undefined("the values are 0");
}

bool within(const Measured& error_bar, double tolerance) { return error_bar.value && *error_bar.value <= tolerance; }

namespace {

constexpr std::size_t most_exact_players = 12;
/// Boosted trees look at every player of every coalition: beyond it they take longer than most games.
constexpr int most_players_of_trees = 1024;
/// A regression has a matrix of players by players.
constexpr int most_players_of_regression = 4096;
constexpr std::int64_t coalitions_a_player = 16;

/// The estimator's answer as the step after `before`: with its steps, its second order, and what it cost.
Attribution next(const Estimator& estimator, Budget budget, const Game& game, std::uint64_t seed,
                 const Attribution& before = {}) {
  Attribution found = attribute(estimator, game, budget, seed);
  const std::int64_t known = before.steps.empty() ? 0 : 2;  // ∅ and N, which both have asked for
  Step step{.method = std::string(estimator.name()),
            .error_bar = error_bar(found),
            .seconds = found.game_seconds + found.estimator_seconds,
            .forward_equivalents = found.forward_equivalents - known};
  found.distinct += before.distinct - known;
  found.evaluations += before.evaluations;
  found.gradients += before.gradients;
  found.forward_equivalents += before.forward_equivalents - known;
  found.game_seconds += before.game_seconds;
  found.estimator_seconds += before.estimator_seconds;
  found.steps = before.steps;
  found.steps.push_back(std::move(step));
  if (!found.second_order) found.second_order = before.second_order;
  return found;
}

const Extension* extension_of(const Game& game, FirstOrder first_order) {
  return first_order == FirstOrder::mean_field ? game.mean_field() : game.extension();
}

/// Whether the game has gradients of the first order at all points.
bool has_gradients(const Game& game, FirstOrder first_order) {
  const Extension* extension = extension_of(game, first_order);
  return extension != nullptr && extension->everywhere();
}

Budget of_players(const Game& game) { return {coalitions_a_player * game.players()}; }

/// The game of some players alone, without the others.
class OfPlayers final : public Game {
 public:
  OfPlayers(const Game& game, std::vector<int> players) : game_(game), players_(std::move(players)) {}
  int players() const override { return static_cast<int>(players_.size()); }
  std::string path() const override { return game_.path(); }

 private:
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    Coalitions all(game_.players());
    all.resize(coalitions.size());
    for (std::size_t row = 0; row < coalitions.size(); ++row)
      for (std::size_t i = 0; i < players_.size(); ++i)
        if (coalitions.contains(row, static_cast<int>(i))) all.insert(row, players_[i]);
    return game_.values(all);
  }

  const Game& game_;
  std::vector<int> players_;
};

bool may_be_enumerated(std::size_t active_players) { return active_players <= most_exact_players; }

/// Every coalition of the players that may change a value. One player takes part where none may.
Attribution enumerated(const Game& game, std::uint64_t seed) {
  std::vector<int> active = game.active_players();
  if (active.empty()) active = {0};
  const OfPlayers smaller(game, active);
  Attribution found = next(estimators::find("exact"), {}, smaller, seed);
  std::vector<double> values(static_cast<std::size_t>(game.players()));
  for (std::size_t i = 0; i < active.size(); ++i) values[static_cast<std::size_t>(active[i])] = found.values[i];
  found.values = std::move(values);
  return found;
}

/// Sampling for a game that gradients do not explain.
Attribution sampled_by_regression(const Game& game, std::uint64_t seed, Attribution before) {
  for (const auto& [name, most] :
       {std::pair("odd_shap", most_players_of_trees), {"kernel_shap_paired", most_players_of_regression}}) {
    if (game.players() > most) continue;
    const auto& regression = dynamic_cast<const estimators::LeastSquares&>(estimators::find(name));
    Attribution found = next(*regression.with_minimum_norm(), of_players(game), game, seed, before);
    if (!found.minimum_norm) return found;
    found.steps.back().error_bar = Measured::undefined(
        message("its sample has rank ", found.minimum_norm->found, " of ", found.minimum_norm->needed));
    before = std::move(found);
  }
  return next(estimators::find("permutation_antithetic"), of_players(game), game, seed, before);
}

/// The mean field of a multilinear extension, whose only error is the quadrature's: half as many nodes as players are
/// exact, and from the sum of the values one sees whether fewer are enough.
Attribution by_owen(const Game& game, double tolerance, std::uint64_t seed) {
  constexpr int most_nodes = 64;
  const int nodes = std::min((game.players() + 1) / 2, most_nodes);
  Attribution found = next(*estimators::mean_field(nodes), {}, game, seed);
  const double gap = std::abs(found.efficiency_gap()) / std::sqrt(game.players());
  found.steps.back().error_bar = relative(gap, norm(found.values));
  return within(error_bar(found), tolerance) ? found : sampled_by_regression(game, seed, std::move(found));
}

/// The first order, its correction, sampling: the first of them that knows its error to be within the tolerance.
Attribution by_gradients(FirstOrder first_order, const Game& game, double tolerance, std::uint64_t seed) {
  const auto second_order =
      estimators::diagonal_second_order({.mean_field = first_order == FirstOrder::mean_field, .tolerance = tolerance});
  Attribution second = next(*second_order, {}, game, seed);
  Step of_second = second.steps.back();
  Step of_first = of_second;
  of_first.method = first_order == FirstOrder::mean_field ? "mean_field" : "integrated_gradients";
  of_first.error_bar = first_order_error_bar(*second.second_order);
  // The correction is what the bar of the first order was made from.
  of_second.seconds = 0;
  of_second.forward_equivalents = 0;
  second.steps = {of_first};
  if (within(of_first.error_bar, tolerance)) {
    second.values = second.second_order->first_order;
    return second;
  }
  second.steps.push_back(of_second);
  return within(of_second.error_bar, tolerance) ? second : sampled_by_regression(game, seed, std::move(second));
}

}  // namespace

std::int64_t most_coalitions(const Game& game) {
  const std::size_t active = game.active_players().size();
  return may_be_enumerated(active) ? std::int64_t{1} << active : of_players(game).coalitions;
}

Attribution with_error_bar(const Estimator& estimator, FirstOrder first_order, const Game& game, std::uint64_t seed) {
  const auto second_order = estimators::diagonal_second_order({.mean_field = first_order == FirstOrder::mean_field});
  const Attribution first = next(estimator, {}, game, seed);
  Attribution found = next(*second_order, {}, game, seed, first);
  Step both = first.steps.back();
  both.error_bar = first_order_error_bar(*found.second_order);
  both.seconds += found.steps.back().seconds;
  both.forward_equivalents += found.steps.back().forward_equivalents;
  found.values = first.values;
  found.steps = {std::move(both)};
  found.second_order.reset();
  return found;
}

Attribution second_order_or(const Estimator& second_order, double tolerance, const Fallback* fallback, const Game& game,
                            std::uint64_t seed) {
  Attribution found = next(second_order, {}, game, seed);
  if (fallback == nullptr || within(error_bar(found), tolerance)) return found;
  return next(fallback->estimator, fallback->budget, game, seed, found);
}

Attribution in_steps(const Game& game, double tolerance, std::uint64_t seed) {
  require(tolerance > 0 && tolerance <= 1, "attribute: tolerance=", tolerance,
          " (is a relative error above 0 and at most 1). Give 0.05 for 5 %.");
  if (may_be_enumerated(game.active_players().size())) return enumerated(game, seed);
  const Extension* closure = game.mean_field();
  if (closure != nullptr && closure->multilinear()) return by_owen(game, tolerance, seed);
  for (const FirstOrder first_order : {FirstOrder::mean_field, FirstOrder::integrated_gradients}) {
    if (!has_gradients(game, first_order)) continue;
    return extension_of(game, first_order)->has_kinks() ? sampled_by_regression(game, seed, {})
                                                        : by_gradients(first_order, game, tolerance, seed);
  }
  return next(estimators::find("permutation_antithetic"), of_players(game), game, seed);
}

Attribution as_before(const Attribution& answered, const Game& game, double tolerance, std::uint64_t seed) {
  const std::string& method = answered.steps.back().method;
  if (method == "exact")
    return may_be_enumerated(game.active_players().size()) ? enumerated(game, seed) : in_steps(game, tolerance, seed);
  const int nodes = answered.second_order ? answered.second_order->nodes : estimators::default_mean_field_nodes;
  const auto without_bar = [&](const Estimator& first_order) {
    Attribution found = next(first_order, {}, game, seed);
    found.steps.back().method = method;
    found.steps.back().error_bar = Measured::undefined("not measured: its method is that of a question before it");
    return found;
  };
  if (method == "mean_field") return without_bar(*estimators::mean_field(nodes));
  if (method == "integrated_gradients")
    return without_bar(*estimators::integrated_gradients(estimators::Rule::gauss_legendre, nodes));
  const bool closed = has_gradients(game, FirstOrder::mean_field);
  if (method == "diagonal_second_order")
    return next(*estimators::diagonal_second_order({.mean_field = closed, .tolerance = tolerance}), {}, game, seed);
  if (closed || has_gradients(game, FirstOrder::integrated_gradients)) return sampled_by_regression(game, seed, {});
  return next(estimators::find(method), of_players(game), game, seed);
}

}  // namespace opshap::methods
