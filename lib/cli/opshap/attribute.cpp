#include <CLI/CLI.hpp>

#include "cli/asked_game.hpp"
#include "cli/attribute_options.hpp"
#include "cli/attribute_output.hpp"
#include "cli/commands.hpp"
#include "cli/values_file.hpp"
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
    require_values_file(globals.out);
    require(!(globals.out == "-" && globals.json),
            "attribute: --out - --json (both want standard output). Write the values to a file.");
    const bool chosen = options->method.empty();
    const auto peer = wanted_peer(*options);
    const NamedGame named = wanted_game(*command, *options);
    if (chosen) choose_method(*options, *named.game);
    AskedGame asked(*named.game, named.foreign);
    std::vector<std::vector<Attribution>> found = {
        {run_method(*options, peer.get(), {.game = asked.game(), .seed = globals.seed})}};
    asked.ask_again("attribute");
    Attribution& attribution = found.front().front();
    attribution.exact = attribution.exact && !asked.noisy();
    const std::string method = peer ? std::string(peer->name()) : options->method;
    Shown shown{.path = named.game->path(), .sorted = options->sorted};
    if (chosen) shown.chosen = chosen_json(*options, attribution);
    asked.describe(shown.more);
    if (!globals.out.empty())
      write_values(globals.out, {.attributions = found, .one_game = true},
                   shown_json(globals, method, attribution, shown));
    if (globals.out != "-") print_attribution(globals, method, attribution, shown);
  });
}

}  // namespace opshap::cli
