#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli11_fwd.hpp"
#include "core/game.hpp"
#include "core/scenario.hpp"

namespace opshap::cli {

/// Which game a command is about: a file, a family of the games registry, or an operator's prediction.
struct GameOptions {
  std::string game;                  ///< --game: a game file, or the name of a family
  std::uint64_t game_seed = 0;       ///< --game-seed: which member of the family
  std::filesystem::path op;          ///< --operator: trained weights, or peer:FOLDER
  std::filesystem::path input;       ///< --input: the field to explain
  std::filesystem::path mesh;        ///< --mesh: where the input lives, when that is no regular grid
  std::string baseline = "0";        ///< --baseline: 0 or a field
  std::vector<std::string> query;    ///< --query: grid index of the explained output, or "all"
  std::vector<double> query_at;      ///< --query-at: coordinates of the explained output, instead of --query
  std::vector<std::string> targets;  ///< --target: means over regions and files of weights, instead of a query
  std::vector<int> masked;           ///< --masked-channels of the input; empty: all
  int query_channel = 0;             ///< --query-channel
  std::optional<int> players;        ///< --players: of the family; or contiguous groups of equal size
  std::filesystem::path partition;   ///< --partition: integer labels of the points
};

/// Of a name that is a program's: "peer:FOLDER".
inline constexpr std::string_view peer_prefix = "peer:";

/// Adds them to the subcommand.
void add_game_options(CLI::App& command, GameOptions& options);

/// --force, of commands that take a trained explainer.
void add_force(CLI::App& command, bool& force);

/// A game with what is known of it beforehand.
struct NamedGame {
  std::string name;  ///< "unanimity_sum", "game.json"
  std::unique_ptr<Game> game;
  int interaction_order = 0;                     ///< no interaction involves more players; 0 when no bound is known
  std::string rule = {};                         ///< of the scenario, in words
  std::unique_ptr<Scenario> scenario = nullptr;  ///< the field behind it; none for a game without one
  bool foreign = false;                          ///< of a program, so nobody here knows whether it repeats its values
};

/// The game of --game: the random member number --game-seed of a family with --players players, or that of a file ("-"
/// is standard input). Throws InvalidArgument when neither --game nor --operator is given or options do not go
/// together, naming the subcommand; DataError for a broken file.
NamedGame wanted_game(const CLI::App& command, const GameOptions& options);

}  // namespace opshap::cli
