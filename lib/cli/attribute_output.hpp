#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/game_options.hpp"
#include "cli/globals.hpp"
#include "core/domain.hpp"
#include "core/estimator.hpp"
#include "core/game.hpp"
#include "methods/method.hpp"

namespace opshap::cli {

/// What `opshap attribute` can be told.
struct AttributeOptions : GameOptions {
  std::string method;               ///< --method; empty where --explainer is the method
  std::filesystem::path explainer;  ///< --explainer: trained weights that explain in place of a method
  std::filesystem::path figure;     ///< --figure: an SVG of input, output and attribution
  std::string budget;               ///< --budget: a number, a power, or a multiple of n; empty when not given
  std::optional<int> nodes;         ///< --nodes of a quadrature
  std::string directions;           ///< --directions at each node: a number, or "all"; empty when not given
  std::string base;                 ///< --base of diagonal_second_order; empty when not given
  std::optional<std::string> rule;  ///< --rule of the quadrature
  bool minimum_norm = false;        ///< --minimum-norm of a least-squares method
  bool force = false;               ///< --force: an explainer that was trained for something else
  bool sorted = false;              ///< --sort: the table begins with the largest value
};

/// The method that answers where none is asked for: `exact` up to 12 players, the mean field where the game has a
/// closure, integrated gradients where it has gradients, antithetic permutations at 16n else. Sets method, and budget
/// where the method needs one, in the options. Throws InvalidArgument for options of a method that is not named.
void choose_method(AttributeOptions& options, const Game& game);

/// What JSON says beside an attribution whose method was chosen: error_bar, the relative size of its standard errors,
/// or null with error_bar_why; and steps, what was tried.
nlohmann::ordered_json chosen_json(const AttributeOptions& options, const Attribution& attribution);

/// The program of --method peer:FOLDER as a method; nullptr when another method is asked for. Throws InvalidArgument
/// for options that a program does not take.
std::unique_ptr<methods::Method> wanted_peer(const AttributeOptions& options);

/// The attribution of a question, whose budget is that of the options, by `peer` where there is one, else by the
/// method, quadrature and solution that were asked for. Throws InvalidArgument when the options do not go together, or
/// the method needs a budget and none is given.
Attribution run_method(const AttributeOptions& options, const methods::Method* peer, methods::Question question);

/// What of the output each attribution explains, in order.
struct Explained {
  const char* key = "queries";                     ///< of the JSON: "queries", or "targets"
  std::vector<nlohmann::ordered_json> names = {};  ///< numbers of points, or targets in words
};

/// Attributions of a question, and what is said beside their numbers.
struct Answers {
  std::string method;
  std::vector<std::vector<Attribution>> attributions = {};  ///< [B][Q]; those of one game are [1][1]
  bool one_game = false;                                    ///< of a game without a field: arrays are [n]
  bool several = false;                     ///< there are several inputs or queries, or there may be: a row for each
  Explained explained = {};                 ///< empty with one_game
  std::string path = {};                    ///< how the game was computed, Game::path
  std::optional<MeshBlocks> blocks = {};    ///< which of them play, where the players are blocks of a mesh
  std::vector<std::string> places = {};     ///< where each player is, in words; none for a game without a field
  bool sorted = false;                      ///< the table begins with the largest value
  nlohmann::ordered_json chosen = nullptr;  ///< how the method was chosen, where none was asked for
  nlohmann::ordered_json more = nlohmann::ordered_json::object();  ///< further keys of the JSON
  std::string remark = {};                                         ///< on all of them
};

/// Throws InvalidArgument where the ending of --out is none of .npy, .npz, .csv, .json; "-" is .npy. To be called
/// before the work.
void require_values_file(const std::filesystem::path& out);

/// Writes --out, if any, as its ending says: .npy has the values, [n] for a game, [B,n] for inputs of an operator,
/// [B,Q,n] with several queries, float64; .npz has values, standard_errors (where all have them), empty and grand; .csv
/// has a row for each player; .json has answers_json().
void write_values(const Globals& globals, const Answers& answers);

/// An attribution as one JSON object. Keys: method, players, values, standard_errors (null when the method has none),
/// error_samples (of how many orderings they are, where they are of orderings), empty, grand, efficiency_gap, distinct,
/// evaluations, gradients, forward_equivalents (with gradients), seed, seconds {game, estimator}, exact, minimum_norm
/// (null, or the rank and needed_rank of a system that does not determine the values), path (how the game was
/// computed, Game::path, where it tells), and what else the answers have.
///
/// Of several inputs or queries its values are [B][n], or [B][Q][n] with several queries or targets, as are
/// standard_errors; its empty, grand, efficiency_gap, distinct, evaluations and gradients are [B] or [B][Q]. With
/// blocks it has the keys blocks (how many there are) and block_of_player [players] too.
nlohmann::ordered_json answers_json(const Globals& globals, const Answers& answers);

/// Prints attributions on standard output: answers_json() with --json; else the largest values of one as a table and
/// what they cost, or of several a line for each of the first inputs and queries.
void print_answers(const Globals& globals, const Answers& answers);

}  // namespace opshap::cli
