#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "reporting/method_comparison.hpp"
#include "runs/results.hpp"
#include "statistics/bootstrap.hpp"

namespace opshap::cli {

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

}  // namespace opshap::cli
