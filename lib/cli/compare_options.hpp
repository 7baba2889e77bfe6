#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/game_options.hpp"
#include "cli/globals.hpp"
#include "evaluation/certified_reference.hpp"
#include "methods/method.hpp"

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

/// Adds them to the subcommand.
void add_compare_options(CLI::App& command, CompareOptions& options);

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

}  // namespace opshap::cli
