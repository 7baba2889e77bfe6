#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli11_fwd.hpp"
#include "core/game.hpp"
#include "core/scenario.hpp"
#include "evaluation/certify.hpp"

namespace opshap::cli {

/// Which game a command is about: a file, a family of the games registry, or an operator's prediction.
struct GameOptions {
  const CLI::App* command = nullptr;  ///< that was given them
  std::string game;                   ///< --game: a game file, or the name of a family
  std::uint64_t game_seed = 0;        ///< --game-seed: which member of the family
  std::filesystem::path op;           ///< --operator: trained weights, or peer:FOLDER
  std::filesystem::path input;        ///< --input: the field to explain
  std::filesystem::path mesh;         ///< --mesh: where the input lives, when that is no regular grid
  std::string baseline = "0";         ///< --baseline: 0, constants, blur, rest:PROBLEM or a field
  std::vector<std::string> query;     ///< --query: grid index of the explained output, or "all"
  std::vector<double> query_at;       ///< --query-at: coordinates of the explained output, instead of --query
  std::vector<std::string> targets;   ///< --target: means over regions and files of weights, instead of a query
  std::vector<int> masked;            ///< --masked-channels of the input; empty: all
  int query_channel = 0;              ///< --query-channel
  std::optional<int> players;         ///< --players: of the family; or contiguous groups of equal size
  std::filesystem::path partition;    ///< --partition: integer labels of the points
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
NamedGame wanted_game(const GameOptions& options);

/// The random member number `seed` of a family of the games registry. Throws InvalidArgument for an unknown family and
/// for one that is made from an operator, with a message that starts with `who`.
NamedGame family_game(const std::string& who, const std::string& family, int players, std::uint64_t seed);

/// The game with progress in coalitions and their rate on standard error, once it has taken some seconds. `most` is how
/// many coalitions will be asked for at most. The game is referred to. Throws Stopped between blocks of coalitions
/// after a signal.
std::unique_ptr<Game> shown_game(const Game& game, std::int64_t most);

/// A game as a command asks it. That of a program is asked for one coalition twice, once a command.
class AskedGame {
 public:
  /// Refers to the game.
  AskedGame(const Game& game, bool foreign) : game_(game), foreign_(foreign), repeated_(game) {}

  const Game& game() const { return foreign_ ? static_cast<const Game&>(repeated_) : game_; }
  /// To be called when the work is done. Says on standard error what was found.
  void ask_again(std::string_view who);
  bool noisy() const { return noise_.has_value(); }
  /// Adds "repeated" and "noise" (null, or the coalition, its two values and their relative difference) for the game of
  /// a program.
  void describe(nlohmann::ordered_json& object) const;

 private:
  const Game& game_;
  bool foreign_;
  evaluation::RepeatedGame repeated_;
  std::optional<evaluation::Noise> noise_;
};

}  // namespace opshap::cli
