#include "cli/attribute_options.hpp"

#include <algorithm>
#include <memory>

#include "cli/shown_game.hpp"
#include "core/error.hpp"
#include "estimators/integrated_gradients.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/mean_field.hpp"
#include "estimators/registry.hpp"

namespace opshap::cli {

namespace {

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

}  // namespace

void add_attribute_options(CLI::App& command, AttributeOptions& options) {
  add_game_options(command, options);
  CLI::Option* method = command.add_option(
      "--method", options.method, "One of `opshap list estimators`, or peer:FOLDER, a program in any language");
  command
      .add_option("--explainer", options.explainer,
                  "With --operator: a trained explainer (safetensors) that explains in place of --method")
      ->excludes(method);
  command.add_option(
      "--figure", options.figure,
      "With --operator: draw input, output, attribution and query point (SVG), with the numbers in a CSV file "
      "beside it; one input, one query");
  command.add_option("--budget", options.budget,
                     "The most distinct coalitions to evaluate, the empty and the grand one among them");
  command.add_option("--nodes", options.nodes,
                     "Quadrature nodes of integrated_gradients (default 50) and mean_field (default 16)");
  command.add_option("--rule", options.rule, "Quadrature rule of integrated_gradients: midpoint or gauss_legendre");
  command.add_flag(
      "--minimum-norm", options.minimum_norm,
      "Where the sample does not determine a regression, give its minimum-norm solution instead of refusing it");
}

void require_method(const AttributeOptions& options) {
  require(!options.method.empty(), "attribute: --method (missing). Give one of `opshap list estimators`",
          options.op.empty() ? "." : ", or a trained --explainer.");
}

std::unique_ptr<methods::Method> wanted_peer(const AttributeOptions& options) {
  if (!options.method.starts_with("peer:")) return nullptr;
  require(!options.nodes && !options.rule && !options.minimum_norm, "attribute: --method=", options.method,
          " (takes no --nodes, --rule or --minimum-norm). Leave them out.");
  require(options.budget.has_value(), "attribute: --budget (", options.method,
          " needs a limit). Give at least 2: the empty and the grand coalition.");
  return methods::resolve(options.method);
}

Attribution run_method(const AttributeOptions& options, const methods::Method* peer, methods::Question question) {
  if (peer != nullptr) {
    const auto shown = shown_game(question.game, *options.budget);
    return peer->attribute({*shown, question.scenario, {*options.budget}, question.seed});
  }
  const Estimator& registered = estimators::find(options.method);
  const std::unique_ptr<Estimator> minimum_norm = wanted_minimum_norm(options), quadrature = wanted_quadrature(options);
  const Estimator& estimator = minimum_norm ? *minimum_norm : quadrature ? *quadrature : registered;
  const bool samples = estimator.guarantees().uses_budget();
  const std::int64_t minimum = estimator.minimum(question.game.players()).coalitions;
  require(!samples || options.budget.has_value(), "attribute: --budget (", estimator.name(),
          " samples coalitions, so it needs a limit). Give at least ", minimum, " for n=", question.game.players(),
          " players.");
  const std::int64_t budget = options.budget.value_or(0);
  const auto shown = shown_game(question.game, std::max(budget, samples ? budget : minimum));
  return attribute(estimator, *shown, {budget}, question.seed);
}

}  // namespace opshap::cli
