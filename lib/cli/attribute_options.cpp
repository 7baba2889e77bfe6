#include "cli/attribute_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/game_options.hpp"
#include "core/error.hpp"
#include "core/measured.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "evaluation/contest.hpp"

namespace opshap::cli {

namespace {

/// Up to so many players all coalitions are cheap.
constexpr int most_exact_players = 12;

/// integrated_gradients or mean_field with the wanted nodes and rule, or nullptr when neither is given.
std::unique_ptr<Estimator> wanted_quadrature(const AttributeOptions& options) {
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

}  // namespace

void add_attribute_options(CLI::App& command, AttributeOptions& options) {
  add_game_options(command, options);
  CLI::Option* method = command.add_option(
      "--method", options.method,
      "One of `opshap list estimators`, or peer:FOLDER, a program in any language; without it opshap "
      "chooses one");
  command
      .add_option("--explainer", options.explainer,
                  "With --operator: a trained explainer (safetensors) that explains in place of --method")
      ->excludes(method);
  add_force(command, options.force);
  command.add_option(
      "--figure", options.figure,
      "With --operator: draw input, output, attribution and query point (.svg, .pdf or .png), with the numbers in a "
      "CSV file beside it; one input, one query");
  command.add_option("--budget", options.budget,
                     "The most distinct coalitions to evaluate, the empty and the grand one among them: 1000, 1e3, "
                     "2^10, or 8n for eight times the players");
  command.add_flag("--sort", options.sorted, "The largest value first in the table");
  command.add_option("--nodes", options.nodes,
                     "Quadrature nodes of integrated_gradients (default 50) and mean_field (default 16)");
  command.add_option("--rule", options.rule, "Quadrature rule of integrated_gradients: midpoint or gauss_legendre");
  command.add_flag(
      "--minimum-norm", options.minimum_norm,
      "Where the sample does not determine a regression, give its minimum-norm solution instead of refusing it");
}

void choose_method(AttributeOptions& options, const Game& game) {
  for (const auto& [given, option] : {std::pair(options.nodes.has_value(), "--nodes"),
                                      {options.rule.has_value(), "--rule"},
                                      {options.minimum_norm, "--minimum-norm"},
                                      {!options.budget.empty(), "--budget"}})
    require(!given, "attribute: ", option, " (only with --method). Name a method, or leave it out.");
  if (game.players() <= most_exact_players) {
    options.method = "exact";
  } else if (game.mean_field() != nullptr) {
    options.method = "mean_field";
  } else if (game.differentiable() != nullptr) {
    options.method = "integrated_gradients";
  } else {
    options.method = "permutation_antithetic";
    options.budget = "16n";
  }
}

nlohmann::ordered_json chosen_json(const AttributeOptions& options, const Attribution& attribution) {
  Measured bar = Measured::undefined("the method has no standard errors: its error is not of sampling");
  if (attribution.exact) bar = Measured::of(0);
  if (attribution.standard_errors) bar = relative(norm(*attribution.standard_errors), norm(attribution.values));
  nlohmann::ordered_json step = {{"method", options.method},
                                 {"error_bar", nullptr},
                                 {"seconds", attribution.game_seconds + attribution.estimator_seconds}};
  if (bar.value) step["error_bar"] = *bar.value;
  nlohmann::ordered_json chosen = {{"error_bar", step["error_bar"]}};
  if (!bar.value) chosen["error_bar_why"] = bar.why;
  chosen["steps"] = nlohmann::ordered_json::array({step});
  return chosen;
}

std::unique_ptr<methods::Method> wanted_peer(const AttributeOptions& options) {
  if (!options.method.starts_with("peer:")) return nullptr;
  require(!options.nodes && !options.rule && !options.minimum_norm, "attribute: --method=", options.method,
          " (takes no --nodes, --rule or --minimum-norm). Leave them out.");
  require(!options.budget.empty(), "attribute: --budget (", options.method,
          " needs a limit). Give at least 2: the empty and the grand coalition.");
  return methods::resolve(options.method);
}

Attribution run_method(const AttributeOptions& options, const methods::Method* peer, methods::Question question) {
  const int players = question.game.players();
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
  require_keeps(estimator, budget, minimum);
  const auto shown = shown_game(question.game, std::max(budget.value_or(0), samples ? budget.value_or(0) : minimum));
  return attribute(estimator, *shown, {budget.value_or(0)}, question.seed);
}

}  // namespace opshap::cli
