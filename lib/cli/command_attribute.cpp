#include "cli/attribute_options.hpp"
#include "cli/attribute_output.hpp"
#include "cli/commands.hpp"
#include "core/error.hpp"
#include "games/game_file.hpp"

namespace opshap {

namespace {

void require_game_options(const CLI::App& command) {
  require(command.count("--game") > 0,
          "attribute: --game, --operator (neither given). Give a game file, or an operator with --input and --query.");
  for (const char* option : {"--input", "--query", "--query-channel", "--baseline", "--players", "--partition"}) {
    require(command.count(option) == 0, "attribute: ", option, " (only with --operator). Leave it out.");
  }
}

}  // namespace

void add_attribute(CLI::App& app, const Globals& globals) {
  auto options = std::make_shared<AttributeOptions>();
  CLI::App* command = app.add_subcommand(
      "attribute", "Attribute a value to the players of a game, or an operator's prediction to the cells of its input");
  add_attribute_options(*command, *options);
  command->callback([command, options, &globals] {
    if (command->count("--operator") > 0) run_networks(globals);
    require_game_options(*command);
    const auto game = read_game(options->game);
    print_attribution(globals, options->method, run_method(*options, *game, globals.seed));
  });
}

}  // namespace opshap
