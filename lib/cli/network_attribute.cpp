// `opshap attribute --operator`: attribute an operator's prediction to the cells of its input.

#include "cli/attribute_options.hpp"
#include "cli/attribute_output.hpp"
#include "cli/commands.hpp"
#include "cli/operator_game.hpp"

namespace opshap::cli {

void add_network_attribute(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<AttributeOptions>();
  CLI::App* command = app.add_subcommand("attribute", "Attribute an operator's prediction to the cells of its input");
  add_attribute_options(*command, *options);
  command->callback([command, options, &globals] {
    const OperatorGame found = wanted_operator_game(*command, *options, globals);
    print_attribution(globals, options->method, run_method(*options, *found.named.game, globals.seed),
                      found.named.game->path());
  });
}

}  // namespace opshap::cli
