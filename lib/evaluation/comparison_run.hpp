#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "evaluation/compare_methods.hpp"
#include "reporting/method_comparison.hpp"

namespace opshap::evaluation {

/// A comparison that has been run.
struct ComparisonRun {
  Truth truth;
  reporting::MethodComparison comparison;
};

/// Two games with the same one are the same game for all that a comparison is concerned with: v(∅), v(N) and some
/// others, as 8 hexadecimal digits.
std::string fingerprint(const Game& game);

/// Runs the plan, or what is left of it in `folder` (empty: nothing is stored). The folder gets truth.json,
/// results.jsonl (a row a run, written as they end), summary.md, tables/ and figures/. Truth, runs and intervals draw
/// from streams of their own of the plan's seed. `note` is added to the summary. Throws DataError for a folder with
/// broken files, and as compare_methods().
ComparisonRun run_comparison(ComparisonPlan plan, const ReferenceSettings& reference,
                             const std::filesystem::path& folder, const std::string& note);

/// What run_comparison() has left in a folder, whose rows may be packed; `seed` is that of its plan. Throws DataError
/// for a folder without truth.json or rows, and for broken ones.
ComparisonRun read_comparison(const std::filesystem::path& folder, std::uint64_t seed);

/// Runs a part of the plan, or what is left of it in its folder, which gets truth.json and results.jsonl for
/// runs::merge_parts(). Throws as run_comparison().
void run_part_of_comparison(ComparisonPlan plan, const runs::Part& part, const ReferenceSettings& reference,
                            const std::filesystem::path& folder);

}  // namespace opshap::evaluation
