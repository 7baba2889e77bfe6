#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "cli/cli11_fwd.hpp"
#include "cli/compare_options.hpp"
#include "cli/globals.hpp"
#include "cli/suite.hpp"
#include "core/operator.hpp"
#include "methods/method.hpp"

namespace opshap::cli {

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
void run_suite(const CLI::App& command, const Globals& globals, const CompareOptions& options, const Suite& suite,
               const nlohmann::ordered_json& environment, const OperatorEntries& operators = {});

}  // namespace opshap::cli
