// `opshap compare --operator`: methods on an operator's prediction.

#include "cli/commands.hpp"
#include "cli/compare_options.hpp"
#include "cli/environment.hpp"
#include "cli/opshap_networks/explainer.hpp"
#include "cli/opshap_networks/operator_game.hpp"

namespace opshap::cli {

void add_network_compare(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand("compare", "Errors, costs and ranks of methods on an operator's prediction");
  add_compare_options(*command, *options);
  command->callback([command, options, &globals] {
    const OperatorGame found = wanted_operator_game(*command, *options, globals);
    const methods::Kinds kinds = {
        {"explainer", [&](const std::string& file) {
           const Scenario& scenario = *found.named.scenario;
           auto explainer = trained_explainer(file, *found.op, globals.device, std::filesystem::path(file).stem());
           require_explains("compare", *explainer, file, scenario.input.domain, {scenario.query.point});
           return explainer;
         }}};
    run_compare(globals, *options, found.named, network_environment(globals), kinds);
  });
}

}  // namespace opshap::cli
