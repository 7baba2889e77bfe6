#include "cli/attribute_options.hpp"
#include "cli/attribute_output.hpp"
#include "cli/commands.hpp"
#include "core/error.hpp"

namespace opshap::cli {

void add_attribute(CLI::App& app, const Globals& globals) {
  auto options = std::make_shared<AttributeOptions>();
  CLI::App* command = app.add_subcommand(
      "attribute", "Attribute a value to the players of a game, or an operator's prediction to the cells of its input");
  add_attribute_options(*command, *options);
  command->callback([command, options, &globals] {
    if (command->count("--operator") > 0) run_networks(globals);
    for (const char* option : {"--explainer", "--figure"}) {
      require(command->count(option) == 0, "attribute: ", option, " (only with --operator). Leave it out.");
    }
    require_method(*options);
    const auto peer = wanted_peer(*options);
    const NamedGame named = wanted_game(*command, *options);
    const Attribution found = run_method(*options, peer.get(), {.game = *named.game, .seed = globals.seed});
    print_attribution(globals, peer ? std::string(peer->name()) : options->method, found, named.game->path());
  });
}

}  // namespace opshap::cli
