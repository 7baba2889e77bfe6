#include "evaluation/comparison_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/estimator.hpp"
#include "core/file.hpp"
#include "core/strict_json.hpp"
#include "core/threads.hpp"
#include "methods/method.hpp"
#include "peers/frame.hpp"
#include "reporting/page_parts.hpp"
#include "runs/row_files.hpp"

namespace opshap::evaluation {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

using Key = std::tuple<std::string, std::optional<std::string>, std::optional<std::int64_t>, std::int64_t>;

/// Roundings between the values of a game and an attribution, as in certified_reference().
constexpr double roundings = 256;

double relative_rounding(const Game& game, const std::vector<double>& values) {
  CountedGame ends(game, {2});
  const std::vector<double> both = {ends.empty(), ends.grand()};
  Scale scale;
  scale.see(both);
  double sum = 0, squares = 0;
  for (const double given : values) {
    const double value = scale.inside(given);
    sum += std::abs(value);
    squares += value * value;
  }
  if (squares == 0) return 0;
  const double largest = std::max({std::abs(scale.inside(both[0])), std::abs(scale.inside(both[1])), sum});
  return roundings * std::numeric_limits<double>::epsilon() * largest *
         std::sqrt(static_cast<double>(values.size()) / squares);
}

/// Whether the method promises to be exact on games whose interactions involve at most so many players; 0: no bound is
/// known.
bool promises_exactness(const methods::Method& method, int interaction_order) {
  const std::optional<Guarantees> promised = method.guarantees();
  if (!promised) return false;
  return promised->mse_rate == exact_rate || (interaction_order == 1 && promised->exact_on_additive) ||
         ((interaction_order == 1 || interaction_order == 2) && promised->exact_on_two_additive);
}

/// What is said of an reply beside its scores: how its program ended, and why it cannot but be right.
void judge(runs::MethodRow& row, const Reply& reply, const methods::Method& method, const ComparisonPlan& plan,
           const Truth& truth) {
  row.failure = reply.failure;
  if (!reply.attribution) return;
  const Attribution& attribution = *reply.attribution;
  const auto is_finite = [](double value) { return std::isfinite(value); };
  const bool has_size = std::ranges::any_of(truth.values, [](double value) { return value != 0; });
  if (!row.scores["nrmse"].value && has_size && std::ranges::all_of(attribution.values, is_finite)) {
    // Its values are numbers, but its error is beyond all of them. It ranks last, as one without values does.
    row.failure = to_string(peers::Ending::invalid);
    row.scores["nrmse"] = Measured::undefined("its error is larger than any number");
  }
  if (promises_exactness(method, plan.interaction_order)) {
    row.exact = "guarantee";
  } else if (attribution.exact) {
    row.exact = "all coalitions";
  } else if (truth.error == 0 && row.scores["nrmse"].value && *row.scores["nrmse"].value <= truth.rounding) {
    row.exact = "rounding";
  }
}

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
  const auto drawn = reporting::drawn({{"budget_error", comparison.budget_error()}});
  const reporting::Figure& figure = drawn.front().figure;
  write_figures(folder / "figures", drawn);
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

Truth truth_of(const Game& game, const ReferenceSettings& settings, std::uint64_t seed) {
  Truth truth;
  if (const auto* solved = dynamic_cast<const SolvedGame*>(&game)) {
    truth = {.method = "closed form", .values = solved->shapley_values()};
  } else {
    CertifiedReference reference = certified_reference(game, settings, seed);
    require<NumericalError>(reference.error.value.has_value(), "compare: truth (", reference.error.why,
                            ", so no error is relative to them). Choose another game.");
    truth = {.method = reference.method, .values = reference.attribution.values, .error = *reference.error.value};
  }
  truth.rounding = relative_rounding(game, truth.values);
  return truth;
}

std::vector<runs::MethodRow> compare_methods(const ComparisonPlan& plan, const Truth& truth,
                                             const std::vector<runs::MethodRow>& done,
                                             const std::function<void(const runs::MethodRow&)>& store,
                                             const runs::Part& part) {
  require(plan.repeats >= 1, "compare: repeats=", plan.repeats, " (no run). Give at least one.");
  std::map<Key, const runs::MethodRow*> stored;
  for (const runs::MethodRow& row : done) stored.emplace(Key(row.method, row.explainer, row.budget, row.repeat), &row);
  static constexpr std::array<std::int64_t, 1> no_budget = {0};
  Schedule schedule;
  for (const auto& method : plan.methods)
    schedule.add(*method, method->uses_budget() ? std::span(plan.budgets) : std::span<const std::int64_t>(no_budget),
                 plan.repeats);
  Progress progress("compare", (schedule.size() - part.index + part.of - 1) / part.of, "runs");
  std::vector<runs::MethodRow> rows;
  const auto known = [&](const Turn& turn) {
    const auto budget = turn.method.uses_budget() ? std::optional(turn.budget) : std::nullopt;
    const auto found = stored.find({std::string(turn.method.name()), turn.method.explainer(), budget, turn.repeat});
    if (found == stored.end()) return false;
    rows.push_back(*found->second);
    progress.skip(1);
    return true;
  };
  const auto keep = [&](const Turn& turn, const Reply& reply) {
    runs::MethodRow row{reply.answer};
    row.game = plan.name;
    row.players = plan.game.players();
    row.truth = truth.method;
    row.truth_error = truth.error;
    row.repeat = turn.repeat;
    judge(row, reply, turn.method, plan, truth);
    store(row);
    progress.advance(1, row.method);
    rows.push_back(std::move(row));
  };
  play({.who = "compare", .game = plan.game, .scenario = plan.scenario, .seed = plan.seed, .truth = truth.values},
       schedule, keep, part, known);
  return rows;
}

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
