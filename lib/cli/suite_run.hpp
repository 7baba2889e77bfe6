#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/compare_options.hpp"
#include "cli/globals.hpp"
#include "cli/suite.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"
#include "evaluation/comparison_run.hpp"
#include "methods/method.hpp"
#include "reporting/method_comparison.hpp"

namespace opshap::cli {

/// The schema of the manifest of a suite's folder, and of its leaderboard.json.
inline constexpr std::string_view leaderboard_schema = "opshap.leaderboard/1";

/// The groups of games that have ranks of their own.
inline const std::string group_of_closed_forms = "closed forms", group_of_operators = "operators";

/// A game of a suite that has been played.
struct BoardGame {
  std::string name;   ///< of its folder: "unanimity_sum_n16"
  std::string group;  ///< group_of_closed_forms or group_of_operators
  int players = 1;
  const evaluation::ComparisonRun* run;
};

/// What was written of a leaderboard.
struct WrittenBoard {
  nlohmann::ordered_json object;  ///< leaderboard.json
  std::string ranks;              ///< those of each class of access, as Markdown
  std::filesystem::path page;
};

/// Whether a folder is that of a suite: its manifest.json says so. Throws DataError for a manifest that is no JSON.
bool is_leaderboard(const std::filesystem::path& folder);

/// Writes leaderboard.json, tables/ and report.html of a suite that was played into its `folder`, which has its
/// manifest.json.
WrittenBoard write_leaderboard(const std::filesystem::path& folder, const std::vector<BoardGame>& games,
                               const std::optional<reporting::MethodChanges>& changes);

/// The same from the rows in the folders of the games alone, packed or not; nothing is played. Changes since a baseline
/// are not in it. `page` is where the page goes; empty for report.html in the folder. Throws DataError for a manifest
/// of the wrong types, for a game without its rows or truth.json, and for rows that have changed since they were
/// written.
WrittenBoard rebuild_leaderboard(const std::filesystem::path& folder, const std::filesystem::path& page = {});

/// Writes into `keep` what a repository keeps of a suite: manifest.json, of each game manifest.json, truth.json and
/// results.jsonl.gz, and what rebuild_leaderboard() writes. Throws as that, and InvalidArgument when `keep` is the
/// suite's own folder, holds another suite, or holds files without being that of a suite.
WrittenBoard keep_leaderboard(const std::filesystem::path& folder, const std::filesystem::path& keep,
                              const std::filesystem::path& page = {});

/// A game of a suite that has been made. The game refers to the operator, and so may the methods.
struct SuiteEntry {
  std::shared_ptr<const Operator> op = nullptr;  ///< none for a member of a family
  NamedGame named;
  methods::Kinds kinds = {};  ///< makers of the methods that are no estimators
};

/// Makes the game of an operator's prediction.
using OperatorEntries = std::function<SuiteEntry(const SuiteGame& game)>;

/// Runs `opshap compare --suite`: the methods (all without --methods) on every game of the suite, one after the other.
///
/// Into --out go manifest.json, a folder for each game as run_compare() writes one, leaderboard.json, tables/ and
/// report.html over all. The same command again goes on where it was stopped. --budgets, --repeats and the settings of
/// the reference replace those of the suite. Prints the ranks of each class of access and the page's path, or
/// leaderboard.json with --json.
///
/// JSON keys: schema, suite, commit, games [{name, group, players, truth {method, error}}], classes [{access,
/// conditions, ranks [{method, rank, low, high, groups {group: {rank, low, high}}, exact, refused, unfinished}],
/// not_ranked}], peers [{name, version, checksum, citation}], less_exact_than_declared, against (with --against).
/// Throws as run_compare(), and InvalidArgument for options of a single game.
void run_suite(const Globals& globals, const CompareOptions& options, const Suite& suite,
               const nlohmann::ordered_json& environment, const OperatorEntries& operators = {});

/// The maker of "explainer:FILE": trained explainers of the operator, for the game of this scenario, which the rule
/// made. With `force` also those that were trained for something else. It refers to operator and scenario.
methods::Kinds explainer_kinds(const Operator& op, const Scenario& scenario, const ScenarioRule& rule, bool force,
                               const Globals& globals);

/// The maker of a suite's games of operators. The input is a random one of the problem that no data set has, taken at
/// every s-th point of its native grid, so that every point is a player. The rule is the problem's usual one. `force`
/// as above.
///
/// The maker throws as load_operator(), and InvalidArgument where the operator, the problem and the number of players
/// do not go together.
OperatorEntries operator_entries(bool force, const Globals& globals);

}  // namespace opshap::cli
