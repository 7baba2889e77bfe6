#pragma once

#include "cli/game_options.hpp"
#include "cli/globals.hpp"
#include "core/operator.hpp"

namespace opshap::cli {

/// An operator with the game of its prediction at one point. The game refers to the operator.
struct OperatorGame {
  std::unique_ptr<Operator> op;
  NamedGame named;  ///< by the weights' file name
};

/// The game of --operator, --input, --query and what goes with them. Throws InvalidArgument naming the subcommand when options are missing or do
/// not go together, DataError for broken files.
OperatorGame wanted_operator_game(const CLI::App& command, const GameOptions& options, const Globals& globals);

}  // namespace opshap::cli
