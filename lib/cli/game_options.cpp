#include "cli/game_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/kept_program.hpp"
#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/rng.hpp"
#include "core/threads.hpp"
#include "games/registry.hpp"
#include "games/table_game.hpp"
#include "peers/peer_game.hpp"

namespace opshap::cli {

NamedGame family_game(const std::string& who, const std::string& family, int players, std::uint64_t seed) {
  const games::Kind& kind = games::find(family);
  require(kind.random != nullptr, who, ": --game=", family,
          " (is made from an operator). Give --operator with --input and --query.");
  require(players >= 1 && players <= Coalitions::max_players, who, ": --players=", players, " (needs 1..",
          Coalitions::max_players, "). Give a number in that range.");
  Rng rng(seed, "game");
  return {.name = family, .game = kind.random(players, rng), .interaction_order = kind.properties.interaction_order};
}

namespace {

constexpr std::chrono::seconds patience{3};
constexpr std::size_t block = 1 << 14;  // a fraction of a second of the fastest game, a few of a slow one

class ShownGame final : public Game {
 public:
  ShownGame(const Game& game, std::int64_t most) : game_(game), progress_("game", most, "coalitions", patience) {}

  int players() const override { return game_.players(); }
  std::string path() const override { return game_.path(); }
  const Extension* extension() const override { return game_.extension(); }
  const Extension* mean_field() const override { return game_.mean_field(); }
  std::vector<std::int64_t> places() const override { return game_.places(); }
  std::vector<int> active_players() const override { return game_.active_players(); }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values;
    values.reserve(coalitions.size());
    for (std::size_t first = 0; first < coalitions.size(); first += block) {
      throw_if_stopped("game");
      Coalitions part(coalitions.players());
      for (std::size_t i = first; i < std::min(first + block, coalitions.size()); ++i) part.append(coalitions.row(i));
      const std::vector<double> found = game_.values(part);
      values.insert(values.end(), found.begin(), found.end());
      progress_.advance(static_cast<std::int64_t>(found.size()));
    }
    return values;
  }

 private:
  const Game& game_;
  mutable Progress progress_;
};

}  // namespace

std::unique_ptr<Game> shown_game(const Game& game, std::int64_t most) {
  return std::make_unique<ShownGame>(game, most);
}

void AskedGame::ask_again(std::string_view who) {
  if (!foreign_) return;
  noise_ = repeated_.noise();
  if (noise_)
    std::cerr << who << ": noise=" << noise_->relative << " (the game gave " << in_words(*noise_)
              << ", so nothing here is exact). Fix its random numbers, or average many of its values.\n";
}

void AskedGame::describe(nlohmann::ordered_json& object) const {
  if (!foreign_) return;
  object["repeated"] = repeated_.repeated();
  object["noise"] = nullptr;
  if (noise_)
    object["noise"] = {{"coalition", noise_->coalition},
                       {"first", noise_->first},
                       {"second", noise_->second},
                       {"relative", noise_->relative}};
}

namespace {

/// Names of families have letters and underscores only; anything else, and whatever exists, is a file.
bool is_file(const std::string& game) {
  if (std::ranges::count(games::names(), game) > 0) return false;
  return game == "-" || game.find_first_of("./") != std::string::npos || is_there(game);
}

void require_absent(const CLI::App& command, std::initializer_list<const char*> options, const char* where) {
  for (const char* option : options)
    require(command.count(option) == 0, command.get_name(), ": ", option, " (only with ", where, "). Leave it out.");
}

NamedGame member_of_family(const std::string& who, const GameOptions& options) {
  require(options.players.has_value() || games::find(options.game).random == nullptr, who,
          ": --players (missing: ", options.game, " is a family of games). Give the number of players.");
  return family_game(who, options.game, options.players.value_or(1), options.game_seed);
}

}  // namespace

void add_game_options(CLI::App& command, GameOptions& options) {
  options.command = &command;
  command.add_option("--game", options.game,
                     "Game file: {\"players\": n, \"values\": [2^n numbers]} (index bit i = player i) or\n"
                     "{\"players\": n, \"terms\": [{\"coalition\": [i, ..], \"coefficient\": c}, ..], \"empty\": v0}; "
                     "- is standard input;\n"
                     "a family of `opshap list games`, with --players and --game-seed;\n"
                     "or peer:FOLDER, a program in any language");
  command.add_option("--game-seed", options.game_seed, "With a family: which of its random games")
      ->capture_default_str();
  command.add_option("--operator", options.op,
                     "Trained operator (safetensors) whose prediction is explained, instead of --game; or peer:FOLDER, "
                     "a program in any language that has the model");
  command.add_option(
      "--input", options.input,
      "With --operator: the input field, .npy of shape [n], [C,n], [nx,ny] or [C,nx,ny]; [N] or [C,N] on a mesh");
  command.add_option("--mesh", options.mesh,
                     "With --operator: the mesh that the input lives on: points (.npy), points with cells or volumes "
                     "(.npz), or Gmsh (.msh)");
  command
      .add_option("--query", options.query,
                  "With --operator: grid index I or I,J of the explained output, or the number of a mesh's point; "
                  "`attribute` also takes all")
      ->delimiter(',');
  command
      .add_option("--query-at", options.query_at,
                  "With --operator: coordinates X or X,Y of the explained output, instead of --query; the nearest "
                  "point is taken")
      ->delimiter(',');
  command.add_option("--target", options.targets,
                     "With --operator: what is explained, instead of --query: mean:20..40 or mean:0..8,0..8 (indices), "
                     "mean:0.2..0.4@x or mean:0..0.5,0..0.5@x (coordinates), or W.npy with a weight for each number of "
                     "the output, [n] or [C,n]; `attribute` takes several, also as [K,C,n]");
  command
      .add_option("--masked-channels", options.masked,
                  "With --operator: the channels of the input that players hide (default: all); the others always show "
                  "the input")
      ->delimiter(',');
  command.add_option("--query-channel", options.query_channel, "With --operator: output channel")
      ->capture_default_str();
  command
      .add_option("--baseline", options.baseline,
                  "With --operator: what hides a point: 0; a number for each channel, 0.5 or 1,0; rest:NAME, the state "
                  "at rest of a problem of `opshap list pdes`; blur or blur:0.15, the input after a Gaussian filter of "
                  "this part of the domain's length; or a field of the input's shape (.npy)")
      ->capture_default_str();
  command.add_option("--players", options.players,
                     "With a family: how many. With --operator: contiguous groups, as equal as can be, on a mesh the "
                     "blocks of its bounding box that hold points (default: one player per point)");
  command.add_option("--partition", options.partition, "With --operator: player of each point, integer .npy");
}

void add_force(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "Take an explainer that was trained for another operator, baseline or rule");
}

NamedGame wanted_game(const GameOptions& options) {
  const CLI::App& command = *options.command;
  require(command.count("--game") > 0, command.get_name(),
          ": --game, --operator (neither given). Give a game, or an operator with --input and --query.");
  require_absent(command,
                 {"--input", "--mesh", "--query", "--query-at", "--target", "--query-channel", "--masked-channels",
                  "--baseline", "--partition"},
                 "--operator");
  if (options.game == "caller" && is_kept()) {
    require_absent(command, {"--players", "--game-seed"}, "a family of games");
    auto game = caller_game();
    std::string name = game->path();
    return {.name = std::move(name), .game = std::move(game), .foreign = true};
  }
  const bool program = options.game.starts_with(peer_prefix);
  if (!program && !is_file(options.game)) return member_of_family(command.get_name(), options);
  require_absent(command, {"--players"}, "--operator or a family of games");
  require_absent(command, {"--game-seed"}, "a family of games");
  if (program) {
    auto game = peers::peer_game(options.game.substr(peer_prefix.size()));
    std::string name = game->path();
    return {.name = std::move(name), .game = std::move(game), .foreign = true};
  }
  const std::filesystem::path path = options.game;
  return {.name = path == "-" ? "standard input" : path.filename().string(), .game = games::read_game(path)};
}

}  // namespace opshap::cli
