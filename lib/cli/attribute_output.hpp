#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/game_options.hpp"
#include "cli/globals.hpp"
#include "core/domain.hpp"
#include "core/estimator.hpp"

namespace opshap::cli {

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
  bool several = false;                   ///< there are several inputs or queries, or there may be: a row for each
  Explained explained = {};               ///< empty with one_game
  std::string path = {};                  ///< how the game was computed, Game::path
  std::optional<MeshBlocks> blocks = {};  ///< which of them play, where the players are blocks of a mesh
  std::vector<std::string> places = {};   ///< where each player is, in words; none for a game without a field
  bool sorted = false;                    ///< the table begins with the largest value
  bool chosen = false;                    ///< no method was asked for: `method` says which ones have answered
  std::optional<double> tolerance = {};   ///< the relative error that they may have, where the method knows its own
  nlohmann::ordered_json more = nlohmann::ordered_json::object();  ///< further keys of the JSON
  std::string remark = {};                                         ///< on all of them
};

/// Throws InvalidArgument where the ending of --out is none of .npy, .npz, .csv, .json, .vtu; "-" is .npy. To be called
/// before the work.
void require_values_file(const std::filesystem::path& out);

/// Writes --out, if any, as its ending says: .npy has the values, [n] for a game, [B,n] for inputs of an operator,
/// [B,Q,n] with several queries, float64; .npz has values, standard_errors (where all have them), empty and grand; .csv
/// has a row for each player; .json has answers_json().
void write_values(const Globals& globals, const Answers& answers);

/// An attribution as one JSON object. Keys: method, players, values, standard_errors (null when the method has none),
/// error_samples (of how many independent samples they are, where these may be few), empty, grand, efficiency_gap,
/// distinct, evaluations, gradients, forward_equivalents (with gradients or steps), seed, seconds {game, estimator},
/// exact, minimum_norm (null, or the rank and needed_rank of a system that does not determine the values), path (how
/// the game was computed, Game::path, where it tells), device, precision and kernels (where a GPU's kernel has
/// evaluated the coalitions, also an emulated one), and what else the answers have.
///
/// Where it has Attribution::steps there are error_bar (null with error_bar_why where it is not known), steps [{method,
/// error_bar, seconds, forward_equivalents}] and forward_equivalents of all steps; tolerance and within_tolerance (null
/// where the error bar is not known) where there is a tolerance; first_order_error_bar, correction [n], nodes,
/// directions and fallback (null or a method) where a correction was made; and chosen (true) where no method was asked
/// for. `method` is then the one that has answered.
///
/// Of several inputs or queries its values are [B][n], or [B][Q][n] with several queries or targets, as are
/// standard_errors; its empty, grand, efficiency_gap, distinct, evaluations and gradients are [B] or [B][Q], and so are
/// error_bar, within_tolerance, fallback and forward_equivalents where there are steps. `methods` says which method has
/// answered each, and `method` names all of them. A step is then all steps of its method: error_bar is the largest one
/// that was measured, measured says of how many answers, and answers how many it has given. With blocks it has the keys
/// blocks (how many there are) and block_of_player [players] too.
nlohmann::ordered_json answers_json(const Globals& globals, const Answers& answers);

/// The methods that have answered, in the order of their steps: "mean_field, diagonal_second_order".
std::string answering_methods(const Answers& answers);

/// Says on standard error which methods were tried and how far off each is. With --quiet only where an error bar is
/// above the tolerance of a method that was asked for.
void say_steps(const Answers& answers);

/// Prints attributions on standard output: answers_json() with --json; else the largest values of one as a table and
/// what they cost, or of several a line for each of the first inputs and queries.
void print_answers(const Globals& globals, const Answers& answers);

}  // namespace opshap::cli
