#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/compare_options.hpp"
#include "cli/globals.hpp"
#include "cli/suite.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"
#include "methods/method.hpp"

namespace opshap::cli {

/// What was written of a leaderboard.
struct WrittenBoard {
  nlohmann::ordered_json object;  ///< leaderboard.json
  std::string ranks;              ///< those of each class of access, as Markdown
  std::filesystem::path page;
};

/// Whether a folder is that of a suite: its manifest.json says so. Throws DataError for a manifest that is no JSON.
bool is_leaderboard(const std::filesystem::path& folder);

/// Writes leaderboard.json, tables/ and report.html of a suite that was played into its `folder`, which has its
/// manifest.json, from the rows in the folders of the games alone, packed or not. Changes since a baseline are not in
/// it. `page` is where the page goes; empty for report.html in the folder. Throws DataError for a manifest of the wrong
/// types, for a game without its rows or truth.json, and for rows that have changed since they were written.
WrittenBoard rebuild_leaderboard(const std::filesystem::path& folder, const std::filesystem::path& page = {});

/// Writes into `keep` what a repository keeps of a suite: manifest.json, of each game manifest.json, truth.json and
/// results.jsonl.gz, and what rebuild_leaderboard() writes. Throws as that, and InvalidArgument when `keep` is the
/// suite's own folder, holds another suite, or holds files without being that of a suite.
WrittenBoard keep_leaderboard(const std::filesystem::path& folder, const std::filesystem::path& keep,
                              const std::filesystem::path& page = {});

/// Runs `opshap compare --suite`: the methods (all without --methods) on every game of the suite, one after the other.
///
/// Into --out go manifest.json, a folder for each game as run_compare() writes one, leaderboard.json, tables/ and
/// report.html over all. The same command again goes on where it was stopped. --budgets, --repeats and the settings of
/// the reference replace those of the suite. The input of an operator is a random one of the problem that no data set
/// has, taken at every s-th point of its native grid, so that every point is a player. The rule is the problem's usual
/// one. Prints the ranks of each class of access and the page's path, or leaderboard.json with --json.
///
/// JSON keys: schema, suite, commit, games [{name, group, players, truth {method, error}}], classes [{access,
/// conditions, ranks [{method, rank, low, high, groups {group: {rank, low, high}}, exact, refused, unfinished}],
/// not_ranked}], peers [{name, version, checksum, citation}], less_exact_than_declared, against (with --against).
/// Throws as run_compare() and load_operator(), and InvalidArgument for options of a single game and where an operator,
/// its problem and the number of players do not go together.
void run_suite(const Globals& globals, const CompareOptions& options, const Suite& suite,
               const nlohmann::ordered_json& environment);

/// The maker of "explainer:FILE": trained explainers of the operator, for the game of this scenario, which the rule
/// made. With `force` also those that were trained for something else. It refers to operator and scenario.
methods::Kinds explainer_kinds(const Operator& op, const Scenario& scenario, const ScenarioRule& rule, bool force,
                               const Globals& globals);

}  // namespace opshap::cli
