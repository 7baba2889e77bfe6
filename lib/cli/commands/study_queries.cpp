// `opshap study queries`: the error of an explainer of any query against the query's position.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/commands.hpp"
#include "cli/doctor.hpp"
#include "cli/studied_run.hpp"
#include "cli/trained_explainer.hpp"
#include "core/error.hpp"
#include "estimators/diagonal.hpp"
#include "evaluation/held_out.hpp"
#include "reporting/evidence.hpp"
#include "reporting/table.hpp"
#include "runs/manifest.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;

namespace {

struct QueriesOptions {
  fs::path run, any_query, fixed;
  int points = 64;
  int positions = 16;
  StudiedGames games = {.inputs = 20};
};

/// Errors of one method at one position, over the inputs.
struct Point {
  double position = 0;
  statistics::Quartiles nrmse;
};

/// The inputs at one resolution with the query at one position after the other.
class Positions {
 public:
  Positions(const QueriesOptions& options, const StudiedRun& run, const Globals& globals)
      : options_(options),
        run_(run),
        globals_(globals),
        units_(globals.out / "units", "study",
               message(run.identity(options.games, globals.seed), " at ", options.points)) {
    const int every = options.points / options.positions;
    for (int number = 0; number < options.positions; ++number) held_out_.push_back(at(number * every + every / 2));
  }

  std::vector<Point> errors(const methods::Method& method) const {
    std::vector<Point> points;
    for (const auto& [position, held_out] : held_out_) points.push_back({position, scored(held_out, method)});
    return points;
  }

  /// Of a method that knows only the query of the run.
  Point error_at_the_runs_query(const methods::Method& method) {
    const auto [position, held_out] = at(std::nullopt);
    return {position, scored(held_out, method)};
  }

 private:
  struct Placed {
    double position;
    evaluation::HeldOut held_out;
  };

  Placed at(std::optional<int> index) {
    evaluation::HeldOutPlan plan = run_.plan(options_.games, globals_.seed);
    plan.resolutions = {options_.points};
    const Domain domain =
        plan.inputs.domain().strided(std::vector<int>(plan.inputs.domain().shape().size(), options_.points));
    if (index) {
      std::vector<int> indices(domain.shape().size(), options_.points / 2);  // along the first axis, through the middle
      indices.front() = *index;
      plan.rule.query = ScenarioRule::Where::position;
      plan.rule.position = domain.position(domain.point(indices));
      plan.rule.target.clear();
    }
    require(plan.rule.target.empty(), "study queries: scenario.target=", plan.rule.target,
            " (the run explains no point). Study a run with a query.");
    const std::int64_t query = make_scenario(plan.rule, plan.inputs.one(0), domain.shape()).readout.query().point;
    return {domain.position(query).front(), evaluation::HeldOut(std::move(plan), &units_)};
  }

  static statistics::Quartiles scored(const evaluation::HeldOut& held_out, const methods::Method& method) {
    return statistics::quartiles(held_out.errors_at(0, method)->nrmse);
  }

  const QueriesOptions& options_;
  const StudiedRun& run_;
  const Globals& globals_;
  runs::Units units_;
  std::vector<Placed> held_out_;
};

statistics::Study curve(const std::string& title, const std::vector<Point>& points) {
  statistics::Study study(title, "position of the query", "NRMSE, median and quartiles");
  for (const auto& [position, nrmse] : points)
    if (position > 0 && nrmse.q25 > 0) study.add(position, nrmse.median, nrmse.q25, nrmse.q75);
  return study;
}

double median_of(const std::vector<Point>& points) {
  std::vector<double> medians;
  for (const Point& point : points) medians.push_back(point.nrmse.median);
  return statistics::quartiles(medians).median;
}

/// Both methods at each position.
reporting::Table points_table(const std::vector<Point>& any, const std::vector<Point>& mean_field) {
  reporting::Table table{.name = "positions",
                         .caption = "NRMSE: median and quartiles over the inputs.",
                         .columns = {{"position of the query", true}, {"explainer", true}, {"mean field", true}},
                         .rows = {}};
  for (std::size_t place = 0; place < any.size(); ++place)
    table.add({fmt::format("{:.4g}", any[place].position), reporting::show(any[place].nrmse),
               reporting::show(mean_field[place].nrmse)});
  return table;
}

reporting::Evidence evidence_of(const QueriesOptions& options, const StudiedRun& run, const std::vector<Point>& any,
                                const std::vector<Point>& mean_field, const std::optional<Point>& fixed) {
  reporting::Evidence evidence{
      .name = "queries",
      .title = "An explainer of every query",
      .finding = fmt::format("{}, n = {}, {} inputs. The median NRMSE over {} positions of the query is {}; of the "
                             "mean field of eight nodes it is {}.",
                             run.subject(), run.op->dimension() == 1 ? options.points : options.points * options.points,
                             options.games.inputs, options.positions, reporting::show(median_of(any)),
                             reporting::show(median_of(mean_field))),
      .studies = {curve("explainer, any query", any), curve("mean field, 8 nodes", mean_field)},
      .tables = {points_table(any, mean_field)},
      .linear_efforts = true,
      .study_tables = false};
  if (fixed) {
    evidence.finding += fmt::format(
        " The explainer that was trained for the query of the run has {} there. The explainer for every query has "
        "{:.2f} times that error.",
        reporting::show(fixed->nrmse.median), median_of(any) / fixed->nrmse.median);
    evidence.studies.push_back(curve("explainer, one query", {*fixed}));
  }
  return evidence;
}

void run(const QueriesOptions& options, const Globals& globals) {
  require_study(globals);
  require(options.positions <= options.points, "study: --positions=", options.positions, " (there are ", options.points,
          " points). Lower it.");
  const StudiedRun studied = read_studied_run(options.run, globals.config, globals);
  const Domain& domain = studied.data.inputs.domain(0);
  require(domain.is_grid(), "study queries: --run=", options.run.string(), " (its inputs are on a ", domain.describe(),
          "; positions are counted along an axis). Study a run on grids.");
  const auto explainer = trained_explainer(options.any_query, *studied.op, "cpu");
  require(explainer->any_query(), "study: --explainer=", options.any_query.string(),
          " (was trained for one query). Give one that was trained with queries = \"any\".");
  std::unique_ptr<methods::Method> fixed;
  if (!options.fixed.empty()) fixed = trained_explainer(options.fixed, *studied.op, "cpu");

  const nlohmann::ordered_json settings = {{"toml", to_toml(studied.profile)},
                                           {"explainer", explainer->checksum()},
                                           {"fixed", fixed == nullptr ? "" : fixed->checksum()},
                                           {"points", options.points},
                                           {"positions", options.positions},
                                           {"inputs", options.games.inputs},
                                           {"reference_error", options.games.reference_error}};
  runs::Manifest manifest(globals.out, study_beginning(globals, studied.profile.data.pde, settings));
  const reporting::Evidence evidence = manifest.stage("study", [&] {
    Positions positions(options, studied, globals);
    std::optional<Point> of_fixed;
    if (fixed != nullptr) of_fixed = positions.error_at_the_runs_query(*fixed);
    return evidence_of(options, studied, positions.errors(*explainer),
                       positions.errors(*methods::of_estimator(estimators::mean_field(8))), of_fixed);
  });
  reporting::write(evidence, globals.out);
  print_path(globals, "study", globals.out / (evidence.name + ".md"));
}

}  // namespace

void add_query_study(CLI::App& study, const Globals& globals) {
  const auto [command, options] = add_command<QueriesOptions>(
      study, "queries", "The error of an explainer of any query against the query's position", run, globals);
  command->add_option("--run", options.run, "Folder of a run: config.resolved.toml, data/, backbone/")->required();
  command->add_option("--explainer", options.any_query, "Explainer of any query (.safetensors)")->required();
  command->add_option("--fixed", options.fixed, "Explainer of the run's query, to compare with");
  command->add_option("--points", options.points, "Points per axis")
      ->check(CLI::Range(2, 1 << 15))
      ->capture_default_str();
  above_zero(command->add_option("--positions", options.positions, "Positions of the query along the first axis"))
      ->capture_default_str();
  add_studied_games(*command, options.games);
}

}  // namespace opshap::cli
