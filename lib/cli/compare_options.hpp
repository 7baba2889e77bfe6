#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/game_options.hpp"
#include "cli/globals.hpp"
#include "evaluation/certified_reference.hpp"
#include "evaluation/comparison_run.hpp"
#include "methods/method.hpp"
#include "reporting/method_comparison.hpp"
#include "runs/part.hpp"
#include "runs/results.hpp"
#include "statistics/bootstrap.hpp"

namespace opshap::cli {

/// What `opshap compare` can be told.
struct CompareOptions : GameOptions {
  std::string suite;                        ///< --suite, instead of a game
  std::vector<std::string> methods;         ///< --methods; "all" stands for every registered estimator
  std::string budgets;                      ///< --budgets, in the grammar of parse_budgets()
  int repeats = 10;                         ///< --repeats
  bool force = false;                       ///< --force: explainers that were trained for something else
  bool minimum_norm = false;                ///< --minimum-norm of the least-squares methods
  std::string shard = "0/1";                ///< --shard
  evaluation::ReferenceSettings reference;  ///< how well the truth must be known where there is no closed form
  std::filesystem::path against;            ///< --against: rows of an earlier comparison
};

/// Runs the methods and prints the summary as Markdown, or one JSON object with --json. Into the folder --out go
/// manifest.json (with `environment`), truth.json, results.jsonl (a row a run, written as they end: the same command
/// again goes on where it was stopped), summary.md, tables/ and figures/.
///
/// JSON keys: game, players, fingerprint, seed, methods, budgets, repeats, reference, scenario (of an operator's game),
/// explainers {name: checksum} and peers {name: checksum} (where there are any), minimum_norm (only when asked for),
/// truth {method, error}, exact [{method, budget, why}], undefined [{method, budget, why}], failures [{method, budget,
/// failure}] of programs that did not finish, ranks [{method, rank, low, high, at [{budget, rank, low, high}]}],
/// less_exact_than_declared, rows, against {methods [{method, change, ratio, low, high, runs, lost, gained}], only_now,
/// only_before} (with --against). `kinds` makes the methods that are no estimators. Throws CheckFailed after printing
/// when a method that promises to be exact on this game is not or one is worse than in the baseline, and peers::Failure
/// when a program failed so often that it was not asked again.
void run_compare(const Globals& globals, const CompareOptions& options, const NamedGame& named,
                 const nlohmann::ordered_json& environment, const methods::Kinds& kinds = {});

/// The rows of an earlier comparison: a results.jsonl, the folder of a comparison, or the folder of a suite with a
/// folder for each game. The rows may be packed by gzip.
///
/// `games` are the settings of today's comparisons. A game of the baseline that has the name and the players of one of
/// them and a manifest beside its rows must be the same game. Games of operators are not asked: their values differ in
/// the last digits between machines, and their settings have a `scenario`. Throws DataError where there are no rows, no
/// row is of one of the games, or a game of that name is another one.
std::vector<runs::MethodRow> read_baseline(const std::filesystem::path& path,
                                           const std::vector<nlohmann::ordered_json>& games);

/// A list of {method, change, ratio, low, high, runs, lost, gained}; only_now and only_before are lists of names.
nlohmann::ordered_json to_json(const reporting::MethodChanges& changes);

/// {rank, low, high}.
nlohmann::ordered_json to_json(const statistics::Rank& rank);

/// A game on which methods were compared.
struct PlayedGame {
  nlohmann::ordered_json settings;  ///< what decided the rows; that of the folder's manifest
  evaluation::ComparisonRun run;

  std::string note;  ///< what the summary says of the settings; may be empty
  nlohmann::ordered_json noise = nlohmann::ordered_json::object();  ///< AskedGame::describe()
  bool noisy = false;                                               ///< so no method can be exact on it

  /// The object of `opshap compare --json`, without `against`.
  nlohmann::ordered_json json() const;
  /// Everything in words and tables, as Markdown.
  std::string summary() const { return run.comparison.markdown() + note; }
};

/// What decides the rows of a comparison on this game. Throws InvalidArgument for methods and budgets that cannot work.
nlohmann::ordered_json comparison_settings(const Globals& globals, const CompareOptions& options,
                                           const NamedGame& named, const methods::Kinds& kinds);

/// Runs the methods of the options on the game, or what is left of it in `folder` (empty: nothing is stored). Every
/// call makes the methods anew, so a program that failed on one game is asked again on the next one.
PlayedGame play(const Globals& globals, const CompareOptions& options, const NamedGame& named,
                const nlohmann::ordered_json& environment, const methods::Kinds& kinds,
                const std::filesystem::path& folder);

/// Runs a part of what play() runs, or what is left of it, in the part's folder of the run `folder`.
void play_part(const Globals& globals, const CompareOptions& options, const NamedGame& named,
               const nlohmann::ordered_json& environment, const methods::Kinds& kinds,
               const std::filesystem::path& folder, const runs::Part& part);

/// Says which method broke a promise on one of the games. Throws CheckFailed when one did or when one is worse than in
/// the baseline, and peers::Failure for a program that failed so often that it was not asked again. Does nothing when
/// there is no such method.
void require_sound(const std::vector<const PlayedGame*>& played,
                   const std::optional<reporting::MethodChanges>& changes);

}  // namespace opshap::cli
