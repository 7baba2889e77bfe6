#include "cli/attribute_options.hpp"

#include <memory>

#include "core/error.hpp"
#include "estimators/integrated_gradients.hpp"
#include "estimators/mean_field.hpp"
#include "estimators/registry.hpp"

namespace opshap {

namespace {

/// integrated_gradients or mean_field with the wanted nodes and rule, or nullptr when neither is given.
std::unique_ptr<Estimator> wanted_quadrature(const AttributeOptions& options) {
  if (!options.nodes && !options.rule) return nullptr;
  if (options.method == "mean_field") {
    require(!options.rule, "attribute: --rule (mean_field is integrated by Gauss-Legendre). Leave it out.");
    return mean_field(*options.nodes);
  }
  require(options.method == "integrated_gradients", "attribute: --", options.nodes ? "nodes" : "rule", " (",
          options.method, " has no quadrature to choose). Leave it out, or use --method integrated_gradients.");
  const Rule rule = options.rule ? find_rule(*options.rule) : Rule::midpoint;
  return integrated_gradients(rule, options.nodes.value_or(default_quadrature_nodes));
}

}  // namespace

void add_attribute_options(CLI::App& command, AttributeOptions& options) {
  command.add_option(
      "--game", options.game,
      "Game file: {\"players\":n,\"values\":[2^n numbers]} (index bit i = player i) or\n"
      "{\"players\":n,\"terms\":[{\"coalition\":[i,..],\"coefficient\":c},..],\"empty\":v0}; - is standard input");
  command.add_option("--operator", options.op,
                     "Trained operator (safetensors) whose prediction is explained, instead of --game");
  command.add_option("--input", options.input,
                     "With --operator: the input field, .npy of shape [n], [C,n], [nx,ny] or [C,nx,ny]");
  command.add_option("--query", options.query, "With --operator: grid index I or I,J of the explained output")
      ->delimiter(',');
  command.add_option("--query-channel", options.query_channel, "With --operator: output channel")
      ->capture_default_str();
  command.add_option("--baseline", options.baseline, "With --operator: 0, or a field of the input's shape (.npy)")
      ->capture_default_str();
  command.add_option("--players", options.players,
                     "With --operator: contiguous groups of equal size (default: one player per grid point)");
  command.add_option("--partition", options.partition, "With --operator: player of each grid point, integer .npy");
  command.add_option("--method", options.method, "One of `opshap list estimators`")->required();
  command.add_option("--budget", options.budget,
                     "The most distinct coalitions to evaluate, the empty and the grand one among them");
  command.add_option("--nodes", options.nodes, "Quadrature nodes of integrated_gradients (default 50) and mean_field (default 16)");
  command.add_option("--rule", options.rule, "Quadrature rule of integrated_gradients: midpoint or gauss_legendre");
}

Attribution run_method(const AttributeOptions& options, const Game& game, std::uint64_t seed) {
  const Estimator& registered = estimators::find(options.method);
  const std::unique_ptr<Estimator> quadrature = wanted_quadrature(options);
  const Estimator& estimator = quadrature ? *quadrature : registered;
  const Guarantees guarantees = estimator.guarantees();
  const bool samples = guarantees.access == Access::values && guarantees.mse_rate != exact_rate;
  require(!samples || options.budget.has_value(), "attribute: --budget (", estimator.name(),
          " samples coalitions, so it needs a limit). Give at least ", estimator.minimum(game.players()).coalitions,
          " for n=", game.players(), " players.");
  return attribute(estimator, game, {options.budget.value_or(0)}, seed);
}

}  // namespace opshap
