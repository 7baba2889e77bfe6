#include "cli/attribute_method.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/names.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "estimators/second_order.hpp"
#include "evaluation/contest.hpp"

namespace opshap::cli {

namespace {

constexpr std::string_view second_order_name = "diagonal_second_order";

bool is_integrated_gradients(std::string_view method) { return method.starts_with("integrated_gradients"); }

/// The options that were given beside the method, by name.
std::vector<std::pair<bool, std::string_view>> given_options(const AttributeOptions& options) {
  return {{options.nodes.has_value(), "--nodes"},         {options.rule.has_value(), "--rule"},
          {!options.directions.empty(), "--directions"},  {!options.base.empty(), "--base"},
          {options.error_bar.has_value(), "--error-bar"}, {!options.fallback.empty(), "--fallback"},
          {options.minimum_norm, "--minimum-norm"}};
}

}  // namespace

std::optional<double> AttributeOptions::tolerance_in_use() const {
  if (!chooses() && method != second_order_name) return std::nullopt;
  return tolerance.value_or(methods::default_tolerance);
}

void require_options_of_method(const AttributeOptions& options) {
  const double tolerance = options.tolerance.value_or(methods::default_tolerance);
  require(tolerance > 0 && tolerance <= 1, "attribute: --tolerance=", tolerance,
          " (is a relative error above 0 and at most 1). Give 0.05 for 5 %.");
  const std::string_view method = options.method;
  const bool explainer = !options.explainer.empty(), peer = method.starts_with(peer_prefix);
  require(!options.tolerance || options.chooses() || method == second_order_name, "attribute: --tolerance (",
          explainer ? "an explainer" : method,
          " knows no error that it could be held to). Leave it out, leave --method "
          "out, or use --method ",
          second_order_name, ".");
  require(options.budget.empty() || !(options.chooses() || explainer), "attribute: --budget (only with --method). ",
          explainer ? "Leave it out." : "Name a method, or leave it out.");
  for (const auto& [given, option] : given_options(options)) {
    require(!given || !options.chooses(), "attribute: ", option,
            " (only with --method). Name a method, or leave it out.");
    require(!given || !(explainer || peer), "attribute: ", option, " (", explainer ? "an explainer" : method,
            " has none). Leave it out.");
    const bool of_second_order = option == "--directions" || option == "--base" || option == "--fallback";
    require(!given || !of_second_order || method == second_order_name, "attribute: ", option, " (", method,
            " has none). Leave it out, or use --method ", second_order_name, ".");
  }
  require(!options.error_bar || is_integrated_gradients(method) || method == "mean_field",
          "attribute: --error-bar (only integrated_gradients and mean_field have one beside their values, and ", method,
          " has what it has). Leave it out.");
}

namespace {

/// diagonal_second_order as it is wanted.
std::unique_ptr<Estimator> wanted_second_order(const AttributeOptions& options) {
  estimators::SecondOrderOptions wanted{.tolerance = *options.tolerance_in_use()};
  require(!options.rule, "attribute: --rule (diagonal_second_order is integrated by Gauss-Legendre). Leave it out.");
  if (options.nodes) wanted.nodes = *options.nodes;
  wanted.all_directions = options.directions == "all";
  if (!options.directions.empty() && !wanted.all_directions) {
    wanted.directions = number_of<int>(options.directions);
    require(wanted.directions.has_value(), "attribute: --directions=", options.directions,
            " (no whole number). Give a power of two, or all.");
  }
  require(options.base.empty() || options.base == "mean_field" || options.base == "integrated_gradients",
          "attribute: --base=", options.base, " (diagonal_second_order corrects no such method).",
          suggestion(options.base, {"integrated_gradients", "mean_field"}), " Give one of the two.");
  wanted.mean_field = options.base == "mean_field";
  return estimators::diagonal_second_order(wanted);
}

/// A method of gradients with the wanted nodes, rule and directions, or nullptr when none is given.
std::unique_ptr<Estimator> wanted_quadrature(const AttributeOptions& options) {
  if (options.method == second_order_name) return wanted_second_order(options);
  if (!options.nodes && !options.rule) return nullptr;
  if (options.method == "mean_field") {
    require(!options.rule, "attribute: --rule (mean_field is integrated by Gauss-Legendre). Leave it out.");
    return estimators::mean_field(*options.nodes);
  }
  require(options.method == "integrated_gradients", "attribute: --", options.nodes ? "nodes" : "rule", " (",
          options.method, " has no quadrature to choose). Leave it out, or use --method integrated_gradients.");
  const estimators::Rule rule = options.rule ? estimators::find_rule(*options.rule) : estimators::Rule::midpoint;
  return estimators::integrated_gradients(rule, options.nodes.value_or(estimators::default_quadrature_nodes));
}

/// A least-squares method that answers with minimum-norm solutions where it must, or nullptr when that is not asked
/// for.
std::unique_ptr<Estimator> wanted_minimum_norm(const AttributeOptions& options) {
  if (!options.minimum_norm) return nullptr;
  const auto* solves = dynamic_cast<const estimators::LeastSquares*>(&estimators::find(options.method));
  require(solves != nullptr, "attribute: --minimum-norm (", options.method,
          " solves no least-squares problem). Leave it out, or use --method kernel_shap_paired.");
  return solves->with_minimum_norm();
}

/// A method that takes what it needs keeps no budget: only one that is enough for `exact` says nothing wrong.
void require_keeps(const Estimator& estimator, std::optional<std::int64_t> budget, std::int64_t needs) {
  if (!budget || estimator.guarantees().uses_budget()) return;
  const bool exact = estimator.guarantees().mse_rate == exact_rate;
  const std::string why =
      exact ? message(" evaluates all 2^n coalitions, ", needs, " here). Use a sampling method, or group the players.")
            : std::string(" takes what its quadrature needs, not a budget). Leave it out, or give --nodes.");
  require(exact && *budget >= needs, "attribute: --budget=", *budget, " (", estimator.name(), why);
}

/// What of --fallback samples where diagonal_second_order is beyond the tolerance; none without the option.
std::optional<methods::Fallback> wanted_fallback(const AttributeOptions& options, std::optional<std::int64_t> budget,
                                                 const Game& game) {
  if (options.fallback.empty()) return std::nullopt;
  const Estimator& estimator = estimators::find(options.fallback);
  const Guarantees promised = estimator.guarantees();
  require(promised.access == Access::values && promised.uses_budget(), "attribute: --fallback=", options.fallback,
          promised.access == Access::values ? " (does not sample coalitions)."
                                            : " (needs gradients, as does the method that it is to stand in for).",
          " Give a sampling method such as odd_shap.");
  const std::int64_t least =
      std::min(estimator.minimum(game.players()).coalitions, CountedGame(game, {}).all_coalitions());
  require(budget.has_value(), "attribute: --budget (--fallback=", options.fallback,
          " samples coalitions, so it needs a limit). Give at least ", least, " for n=", game.players(), " players.");
  require(*budget >= least, "attribute: --budget=", *budget, " (--fallback=", options.fallback, " needs at least ",
          least, " coalitions for n=", game.players(), " players). Raise the budget.");
  return methods::Fallback{estimator, {*budget}};
}

/// The first order whose error bar is wanted beside its values. By default integrated gradients have it where it costs
/// less than they do.
std::optional<methods::FirstOrder> wanted_error_bar(const AttributeOptions& options, const Game& game) {
  if (!options.error_bar.value_or(true)) return std::nullopt;
  const bool mean_field = options.method == "mean_field";
  if (!options.error_bar && !is_integrated_gradients(options.method)) return std::nullopt;
  const Extension* extension = mean_field ? game.mean_field() : game.extension();
  const bool possible = extension == nullptr || extension->everywhere();  // without gradients the method refuses
  const int nodes = options.nodes.value_or(estimators::default_quadrature_nodes);
  if (!options.error_bar && (!possible || estimators::gradients_of({}, game.players()) >= nodes)) return std::nullopt;
  require(possible,
          "attribute: --error-bar (this game has gradients where all players have one weight, and the bar "
          "needs others). Leave it out.");
  return mean_field ? methods::FirstOrder::mean_field : methods::FirstOrder::integrated_gradients;
}

}  // namespace

std::unique_ptr<methods::Method> wanted_peer(const AttributeOptions& options) {
  if (!options.method.starts_with(peer_prefix)) return nullptr;
  require(!options.budget.empty(), "attribute: --budget (", options.method,
          " needs a limit). Give at least 2: the empty and the grand coalition.");
  return methods::resolve(options.method);
}

Attribution run_method(const AttributeOptions& options, const methods::Method* peer, methods::Question question,
                       const Attribution* before) {
  const int players = question.game.players();
  if (options.chooses()) {
    const auto shown = shown_game(question.game, methods::most_coalitions(question.game));
    const double tolerance = *options.tolerance_in_use();
    return before == nullptr ? methods::in_steps(*shown, tolerance, question.seed)
                             : methods::as_before(*before, *shown, tolerance, question.seed);
  }
  const auto budget = options.budget.empty() ? std::optional<std::int64_t>()
                                             : evaluation::parse_budget("attribute: --budget", options.budget, players);
  if (peer != nullptr) {
    const auto shown = shown_game(question.game, *budget);
    return peer->attribute({*shown, question.scenario, {*budget}, question.seed});
  }
  const Estimator& registered = estimators::find(options.method);
  const std::unique_ptr<Estimator> minimum_norm = wanted_minimum_norm(options), quadrature = wanted_quadrature(options);
  const Estimator& estimator = minimum_norm ? *minimum_norm : quadrature ? *quadrature : registered;
  const bool samples = estimator.guarantees().uses_budget();
  const std::int64_t minimum = estimator.minimum(players).coalitions;
  require(!samples || budget.has_value(), "attribute: --budget (", estimator.name(),
          " samples coalitions, so it needs a limit). Give at least ", minimum, " for n=", players, " players.");
  const std::optional<methods::Fallback> fallback = wanted_fallback(options, budget, question.game);
  if (!fallback) require_keeps(estimator, budget, minimum);
  const auto shown = shown_game(question.game, std::max(budget.value_or(0), samples ? budget.value_or(0) : minimum));
  if (options.method == second_order_name)
    return methods::second_order_or(estimator, *options.tolerance_in_use(), fallback ? &*fallback : nullptr, *shown,
                                    question.seed);
  if (const auto first_order = wanted_error_bar(options, question.game))
    return methods::with_error_bar(estimator, *first_order, *shown, question.seed);
  return attribute(estimator, *shown, {budget.value_or(0)}, question.seed);
}

}  // namespace opshap::cli
