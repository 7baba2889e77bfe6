#include "evaluation/comparison_run.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/strict_json.hpp"
#include "reporting/page_parts.hpp"
#include "runs/row_files.hpp"

namespace opshap::evaluation {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

enum ComparisonStream : std::uint32_t { truth_stream, runs_stream, bootstrap_stream, fingerprint_stream };

std::uint64_t stream(std::uint64_t seed, ComparisonStream purpose) { return Rng(seed, "compare", purpose).bits64(); }

Truth read_truth(const fs::path& path) {
  const Json found = strict_json<Json>(read_file(path), message("compare: path=", path.string()));
  try {
    return {.method = found.at("method").get<std::string>(),
            .values = found.at("values").get<std::vector<double>>(),
            .error = found.at("error").get<double>(),
            .rounding = found.at("rounding").get<double>()};
  } catch (const Json::exception& error) {
    throw DataError(message("compare: path=", path.string(), " (", error.what(), "). Remove the folder."));
  }
}

/// The truth of this folder, or a new one that is put there.
Truth truth_in(const fs::path& folder, const Game& game, const ReferenceSettings& settings, std::uint64_t seed) {
  const fs::path path = folder / "truth.json";
  if (!folder.empty() && is_there(path)) return read_truth(path);
  const Truth truth = truth_of(game, settings, seed);
  if (!folder.empty()) {
    const Json object = {
        {"method", truth.method}, {"error", truth.error}, {"rounding", truth.rounding}, {"values", truth.values}};
    write_file(path, object.dump() + '\n');
  }
  return truth;
}

/// The rows of a file are in the order of the plan in the end, however often the comparison was stopped.
std::vector<runs::MethodRow> run_rows(const ComparisonPlan& plan, const Truth& truth, const fs::path& folder,
                                      const runs::Part& part = {}) {
  if (folder.empty())
    return compare_methods(
        plan, truth, {}, [](const runs::MethodRow&) {}, part);
  const fs::path file = folder / "results.jsonl";
  const std::vector<runs::MethodRow> done = runs::read_method_rows(file);
  std::vector<runs::MethodRow> rows;
  {
    LineLog log(file);
    rows = compare_methods(
        plan, truth, done, [&](const runs::MethodRow& row) { log.append(runs::to_json_line(row)); }, part);
  }
  std::string lines;
  for (const runs::MethodRow& row : rows) lines += runs::to_json_line(row) + '\n';
  if (lines != read_file(file)) write_file(file, lines);
  return rows;
}

void write_folder(const fs::path& folder, const reporting::MethodComparison& comparison, const std::string& note) {
  std::string summary = comparison.markdown() + note;
  const reporting::DrawnFigure drawn = reporting::drawn("budget_error", comparison.budget_error());
  const reporting::Figure& figure = drawn.figure;
  write_figure(folder / "figures", drawn);
  if (figure.missing.empty()) {
    summary +=
        "\n## Error against budget\n\n![" + figure.title + "](figures/budget_error.svg)\n\n" + figure.finding + "\n";
  } else {
    summary += "\nNo figure: " + figure.missing + ".\n";
  }
  write_table(folder / "tables", comparison.errors());
  write_table(folder / "tables", comparison.runtime());
  if (!comparison.ranks().empty()) write_table(folder / "tables", comparison.ranking());
  write_file(folder / "summary.md", summary);
}

}  // namespace

std::string fingerprint(const Game& game) {
  constexpr int coalitions = 32;
  Rng rng(0, "compare", fingerprint_stream);
  Coalitions some(game.players());
  some.append_empty();
  some.append_grand();
  for (int k = 0; k < coalitions; ++k) {
    some.append_empty();
    for (int player = 0; player < game.players(); ++player) {
      if ((rng.bits32() & 1) != 0) some.insert(some.size() - 1, player);
    }
  }
  const std::vector<double> values = game.values(some);
  return fmt::format("{:08x}", crc32c(std::as_bytes(std::span(values))));
}

ComparisonRun run_comparison(ComparisonPlan plan, const ReferenceSettings& reference, const fs::path& folder,
                             const std::string& note) {
  const std::uint64_t seed = plan.seed;
  Truth truth = truth_in(folder, plan.game, reference, stream(seed, truth_stream));
  plan.seed = stream(seed, runs_stream);
  reporting::MethodComparison comparison(run_rows(plan, truth, folder), stream(seed, bootstrap_stream));
  if (!folder.empty()) write_folder(folder, comparison, note);
  return {std::move(truth), std::move(comparison)};
}

ComparisonRun read_comparison(const fs::path& folder, std::uint64_t seed) {
  const fs::path file = runs::file_of_rows(folder, "results.jsonl");
  std::vector<runs::MethodRow> rows = runs::read_method_rows(file);
  require<DataError>(!rows.empty(), "compare: path=", file.string(),
                     " (has no rows). Let the comparison begin; the same command resumes it.");
  return {read_truth(folder / "truth.json"),
          reporting::MethodComparison(std::move(rows), stream(seed, bootstrap_stream))};
}

void run_part_of_comparison(ComparisonPlan plan, const runs::Part& part, const ReferenceSettings& reference,
                            const fs::path& folder) {
  const Truth truth = truth_in(folder, plan.game, reference, stream(plan.seed, truth_stream));
  plan.seed = stream(plan.seed, runs_stream);
  run_rows(plan, truth, folder, part);
}

}  // namespace opshap::evaluation
