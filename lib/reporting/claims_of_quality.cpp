// Sentences of the paper about the quality of OperatorSHAP's attributions over all numbers of players, and the rows of
// its result table: who is best in each. The rules are ours, since the paper states no thresholds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/scenario.hpp"
#include "metrics/registry.hpp"
#include "reporting/claims_measurement.hpp"
#include "reporting/comparison.hpp"
#include "reporting/methods.hpp"
#include "reporting/paper.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::reporting::claims {

namespace {

/// A judgement that is about one method.
Judge about(Judgement (*judge)(const Scoreboard& scores, std::string_view method), std::string_view method) {
  return [judge, method](const Scoreboard& scores) { return judge(scores, method); };
}

std::string unless_in_the_papers_table(const runs::Run& run) {
  const bool found = std::ranges::find(paper_quality(), run.pde, &PaperCell::pde) != paper_quality().end();
  return found ? "" : fmt::format("The paper's table has no rows for {}.", pde_label(run.pde));
}

const std::vector<std::string_view> quality_metrics = {"r2", "pearson", "nrmse"};

/// Of all cells (n, metric) that both have: "better in 3, better or comparable in 16 of 21".
std::string cells_in_words(const Scoreboard& scores, std::string_view other) {
  int better = 0, comparable = 0, cells = 0;
  for (const Discretisation& on : scores.discretisations()) {
    for (const std::string_view name : quality_metrics) {
      const metrics::Metric& metric = metrics::find(name);
      const Cell *our_cell = scores.cell(on, explainer), *their_cell = scores.cell(on, other);
      if (our_cell == nullptr || their_cell == nullptr) continue;
      const auto ours = our_cell->quartiles(name), theirs = their_cell->quartiles(name);
      if (!ours || !theirs) continue;
      const double gain = (ours->median - theirs->median) * (metric.better == metrics::Better::lower ? -1 : 1);
      ++cells;
      better += gain > 0;
      comparable += gain >= -metric.tolerance;
    }
  }
  return fmt::format(
      "Over R², Pearson and NRMSE its median is better in {} of {} cells, and better or within the metric's tolerance "
      "in {}.",
      better, cells, comparable);
}

/// Comparable at every n, and superior at half of them or more.
Judgement quality_against(const Scoreboard& scores, std::string_view other) {
  const double tolerance = metrics::find("nrmse").tolerance;
  Measurements found;
  std::vector<const Cell*> cells;
  for (const Discretisation& on : scores.discretisations()) {
    if (on.players <= paper_constant("exact_players")) continue;
    const auto excess =
        measure_at(scores, on, {explainer, other}, "nrmse", difference_of_two, tolerance, Side::at_most);
    if (!excess) continue;
    found.push_back(*excess);
    cells.insert(cells.end(), {scores.cell(on, explainer), scores.cell(on, other)});
  }
  if (found.empty())
    return not_run(scores.cell(scores.discretisations().front(), explainer) == nullptr ? explainer : other);
  const auto share_of_lower = [](std::span<const double> medians) {
    double lower = 0;
    for (std::size_t i = 0; i < medians.size(); i += 2) lower += medians[i] < medians[i + 1];
    return 2 * lower / static_cast<double>(medians.size());
  };
  const auto superior = measure("", PairedScores::of(cells, "nrmse"), share_of_lower, 0.5, Side::at_least);
  const std::string label = style_of(other).label;
  if (superior) {
    found.push_back(*superior);
    found.back().figures.clear();
    found.back().quantity = fmt::format("The share of n where OperatorSHAP's median NRMSE is below that of {}", label);
  }
  return all_of(found,
                {.quantity = fmt::format("OperatorSHAP's median NRMSE less that of {}", label),
                 .figures = {"OperatorSHAP", label},
                 .equal = 0},
                cells_in_words(scores, other));
}

constexpr std::string_view quality_rule =
    "the median NRMSE is at most 0.05 above the other's at every n > 16 (comparable), and lower at half of these n or "
    "more (often superior); the paper's table begins above 16; R² and Pearson are counted beside it, over all n";

/// The explainer's cell at a resolution; nullptr when not run.
const Cell* explained(const Scoreboard& scores, const Resolution& resolution) {
  for (const Discretisation& on : scores.discretisations()) {
    if (Resolution(on.shape) == resolution) return scores.cell(on, explainer);
  }
  return nullptr;
}

/// The explainer's cell on a grid that no training input had, and those on the trained grids around it. Empty when the
/// grid was trained on.
std::vector<const Cell*> unseen_and_seen(const Scoreboard& scores, const Discretisation& on) {
  const std::vector<Resolution>& trained = scores.run().resolutions;
  const auto above = std::lower_bound(trained.begin(), trained.end(), Resolution(on.shape));
  if (above != trained.end() && *above == Resolution(on.shape)) return {};
  std::vector<const Cell*> cells = {scores.cell(on, explainer)};
  if (above != trained.begin()) cells.push_back(explained(scores, *std::prev(above)));
  if (above != trained.end()) cells.push_back(explained(scores, *above));
  return cells;
}

/// The intervals of a logarithm, wider by an independent error.
Measurement::IntervalAt widened(double value, Measurement::IntervalAt interval_at, double error) {
  return [value, interval_at = std::move(interval_at), error](double tail) {
    const statistics::Interval interval = interval_at(tail);
    const double by = statistics::student_quantile(1 - tail, std::numeric_limits<double>::infinity()) * error;
    return statistics::Interval{.low = value - std::hypot(value - interval.low, by),
                                .high = value + std::hypot(interval.high - value, by)};
  };
}

/// The factor, at least 1, by which a ratio with this logarithm differs from 1.
Measurement factor_of(double log_ratio, const Measurement::IntervalAt& log_interval, double threshold) {
  Measurement factor = exactly("", std::exp(std::abs(log_ratio)), threshold, Side::at_most);
  factor.interval_at = [log_interval](double tail) {
    const statistics::Interval of_log = log_interval(tail);
    const bool around_zero = of_log.low <= 0 && of_log.high >= 0;
    const double least = std::min(std::abs(of_log.low), std::abs(of_log.high)),
                 most = std::max(std::abs(of_log.low), std::abs(of_log.high));
    return statistics::Interval{.low = around_zero ? 1 : std::exp(least), .high = std::exp(most)};
  };
  return factor;
}

/// A method's median NRMSE over the paper's, the geometric mean over all n that both have. Its direction says whether
/// ours is the better or the worse one.
Judgement column(const Scoreboard& scores, std::string_view method) {
  const runs::Run& run = scores.run();
  std::vector<const Cell*> cells;
  std::vector<double> paper;
  double paper_error = 0;
  int matches = 0;
  Table table{.name = "column",
              .caption = "Median NRMSE [quartiles] of the paper and of this run.",
              .columns = {{"n"}, {"paper", true}, {"this run", true}, {"ratio", true}, {"cell"}}};
  for (const Comparison& cell : compare_with_paper(scores)) {
    if (cell.method != method || cell.metric != "nrmse" || !cell.paper || !cell.ours || cell.ours->median <= 0)
      continue;
    cells.push_back(scores.cell(cell.on, method));
    paper.push_back(cell.paper->median);
    paper_error += error_of_median(*cell.paper) / cell.paper->median;
    const std::string verdict = compare(*cell.paper, *cell.ours, metrics::find("nrmse"));
    matches += verdict == "match";
    table.add(
        {place(cell.on), show(*cell.paper), show(*cell.ours), show(cell.ours->median / cell.paper->median), verdict});
  }
  if (cells.empty()) return not_run(method);
  if (!run.comparable_with_paper) {
    const std::string why = run.departures.empty() ? "it says so without a reason" : run.departures.front();
    return {.verdict = Verdict::not_comparable,
            .evidence = fmt::format("The run is not the paper's: {}.", why),
            .tables = {std::move(table)}};
  }
  const auto log_ratio = [&paper](std::span<const double> medians) {
    double sum = 0;
    for (std::size_t i = 0; i < medians.size(); ++i) sum += std::log(medians[i] / paper[i]);
    return sum / static_cast<double>(medians.size());
  };
  const PairedScores errors = PairedScores::of(cells, "nrmse");
  if (errors.inputs() < least_inputs) return not_testable(fmt::format("{} has too few inputs.", method));
  const double ours = log_ratio(errors.medians());
  const Measurement::IntervalAt interval =
      widened(ours, at_tails(errors.resamples(log_ratio)), paper_error / static_cast<double>(cells.size()));
  Judgement judgement = all_of(
      {factor_of(ours, interval, 1.5)},
      {.quantity = fmt::format("The factor between the column of {} and the paper's, the geometric mean over {} n",
                               style_of(method).label, cells.size())},
      fmt::format("Our medians are {} times the paper's, and {} of {} cells match.", show(std::exp(ours)), matches,
                  cells.size()));
  judgement.tables.push_back(std::move(table));
  if (interval(Measurement::one_sided).high < 0) judgement.direction = Direction::better;
  if (interval(Measurement::one_sided).low > 0) judgement.direction = Direction::worse;
  return judgement;
}

constexpr std::string_view column_rule =
    "the geometric mean over all n of our median NRMSE over the paper's is between 1/1.5 and 1.5; the interval holds "
    "our inputs, our reference's error and the sampling error of the paper's medians, from their quartiles";

/// The first median less the larger one of the other two.
double lead_of_first(std::span<const double> medians) { return medians[0] - std::max(medians[1], medians[2]); }

Judgement consistent_across_resolutions(const Scoreboard& scores) {
  Measurements found;
  for (const Discretisation& on : scores.discretisations()) {
    const PaperCell* paper = find(paper_quality(), scores.run().pde, on.players, explainer, "pearson");
    if (paper == nullptr || !on.every_point_plays()) continue;
    auto here = measure_at(scores, on, {explainer}, "pearson", first_of,
                           paper->quartiles.median - metrics::find("pearson").tolerance, Side::at_least);
    if (!here) continue;
    here->figures = {show(paper->quartiles.median)};
    found.push_back(*here);
  }
  if (found.size() < 2) {
    return not_testable(
        fmt::format("OperatorSHAP has a correlation at {} n of the paper's table, and two are needed.", found.size()));
  }
  return all_of(found, {.quantity = "OperatorSHAP's median Pearson correlation", .figures = {"the paper's"}});
}

Judgement transfers_to_unseen_resolutions(const Scoreboard& scores) {
  Measurements found;
  for (const Discretisation& on : scores.discretisations()) {
    const std::vector<const Cell*> cells = unseen_and_seen(scores, on);
    if (cells.size() < 2 || std::ranges::find(cells, nullptr) != cells.end()) continue;
    const auto over_the_others = [](std::span<const double> medians) {
      return ratio(medians[0], *std::max_element(medians.begin() + 1, medians.end()));
    };
    const auto excess = measure(place(on), PairedScores::of(cells, "nrmse"), over_the_others, 1.25, Side::at_most);
    if (excess) found.push_back(*excess);
  }
  if (found.empty()) {
    return not_testable(
        "OperatorSHAP was evaluated only at the n that it was trained on. Key unseen of [evaluation] in a profile adds "
        "others.");
  }
  return all_of(found, {.quantity = "OperatorSHAP's median NRMSE over that at the trained n around it",
                        .figures = {"here", "below", "above"}});
}

Judgement one_model_for_all_resolutions(const Scoreboard& scores) {
  const auto& training = scores.run().results.training;
  // A further explainer is another recipe, not another model for some of the n.
  const auto trainings =
      std::ranges::count_if(training, [](const auto& row) { return row.stage == "explainer" && !row.explainer; });
  if (trainings == 0) return not_testable("There is no row of the explainer's training.");
  Measurements found = {exactly("", static_cast<double>(trainings), 1, Side::at_most)};
  found.back().quantity = "The number of explainers trained";
  const auto most = static_cast<int>(paper_constant("most_players"));
  for (auto players = static_cast<int>(paper_constant("few_players")); players <= most; players *= 2) {
    const auto on = Discretisation::line(players);
    std::vector<std::string_view> methods = {explainer, "uniform"};
    if (scores.cell(on, "constant") != nullptr) methods.push_back("constant");
    const auto over_the_better = [](std::span<const double> medians) {
      return ratio(medians[0], *std::min_element(medians.begin() + 1, medians.end()));
    };
    const auto better = measure_at(scores, on, methods, "nrmse", over_the_better, 1, Side::at_most);
    if (!better) return not_testable(place(on) + " was not run.");
    found.push_back(*better);
  }
  return all_of(
      found,
      {.quantity = "OperatorSHAP's median NRMSE over that of the better attribution that does not look at the input",
       .figures = {"OperatorSHAP", "uniform", "constant"}});
}

Judgement error_grows_while_r2_stays(const Scoreboard& scores) {
  const auto most = static_cast<int>(paper_constant("most_players"));
  const Cell *few = scores.cell(Discretisation::line(32), explainer),
             *many = scores.cell(Discretisation::line(most), explainer);
  if (few == nullptr || many == nullptr)
    return not_testable(fmt::format("OperatorSHAP was not run at n = 32 and n = {}.", most));
  const auto growth = measure("NRMSE, ratio", PairedScores::of({many, few}, "nrmse"), ratio_of_two, 1, Side::at_least);
  const auto difference = [](std::span<const double> medians) { return std::abs(difference_of_two(medians)); };
  const auto change = measure("R², change", PairedScores::of({many, few}, "r2"), difference,
                              metrics::find("r2").tolerance, Side::at_most);
  if (!growth || !change) return not_testable("OperatorSHAP has too few inputs at n = 32 and n = 1024.");
  return all_of(
      {*growth, *change},
      {.quantity = "What changes from n = 32 to n = 1024", .figures = {"n = 1024", "n = 32"}, .at = "metric"});
}

/// The methods of the paper's table with the best median in a row, by one metric; several where it prints the same.
struct Winners {
  std::vector<std::string> best, others;
  double median = 0;
};

std::optional<Winners> winners(std::string_view pde, int players, const metrics::Metric& metric) {
  Winners found;
  for (const std::string& method : paper_methods()) {
    const PaperCell* cell = find(paper_quality(), pde, players, method, metric.name);
    if (cell == nullptr) return std::nullopt;
    const double gain = (cell->quartiles.median - found.median) * (metric.better == metrics::Better::lower ? -1 : 1);
    if (found.best.empty() || gain > 0) {
      found.others.insert(found.others.end(), found.best.begin(), found.best.end());
      found.best.clear();
      found.median = cell->quartiles.median;
    }
    (found.best.empty() || gain == 0 ? found.best : found.others).push_back(method);
  }
  return found;
}

/// Our median of the paper's best method less the best of the others, signed so that more is better.
std::optional<Measurement> lead(const Scoreboard& scores, const Discretisation& on, const Winners& winners,
                                const metrics::Metric& metric) {
  std::vector<std::string_view> methods(winners.best.begin(), winners.best.end());
  methods.insert(methods.end(), winners.others.begin(), winners.others.end());
  const double sign = metric.better == metrics::Better::lower ? -1 : 1;
  const std::size_t first = winners.best.size();
  const auto lead_of_best = [sign, first](std::span<const double> medians) {
    std::vector<double> signed_medians;
    for (const double median : medians) signed_medians.push_back(sign * median);
    const auto others = signed_medians.begin() + static_cast<std::ptrdiff_t>(first);
    return *std::max_element(signed_medians.begin(), others) - *std::max_element(others, signed_medians.end());
  };
  auto found = measure_at(scores, on, methods, metric.name, lead_of_best, 0, Side::at_least);
  if (!found) return std::nullopt;
  found->at = metric.symbol;
  std::vector<std::string> figures;
  for (const std::string& method : paper_methods()) {
    const auto at = std::find(methods.begin(), methods.end(), method) - methods.begin();
    figures.push_back(found->figures[static_cast<std::size_t>(at)]);
  }
  found->figures = std::move(figures);
  return found;
}

Judgement row_of_table(const Scoreboard& scores, int players) {
  const std::string& pde = scores.run().pde;
  Measurements found;
  for (const Discretisation& on : scores.discretisations()) {
    if (on.players != players || !on.every_point_plays()) continue;
    for (const std::string& name : paper_metrics()) {
      const metrics::Metric& metric = metrics::find(name);
      const auto best = winners(pde, players, metric);
      if (!best || best->others.empty()) continue;
      if (const auto here = lead(scores, on, *best, metric)) found.push_back(*here);
    }
  }
  if (found.empty()) return not_testable(fmt::format("The three methods were not all run at n = {}.", players));
  Wording wording{
      .quantity = "Our median of the paper's best method less the best of the other two", .at = "metric", .equal = 0};
  for (const std::string& method : paper_methods()) wording.figures.push_back(style_of(method).label);
  return all_of(found, wording);
}

/// Who is best in the row of a cell: "R² RegressionMSR (0.998), Pearson ...".
std::string winners_in_words(const PaperCell& cell) {
  return listing(paper_metrics(), [&cell](const std::string& name) {
    const metrics::Metric& metric = metrics::find(name);
    const auto found = winners(cell.pde, cell.players, metric);
    if (!found || found->others.empty()) return std::string();
    const auto label = [](const std::string& method) { return style_of(method).label; };
    return fmt::format("{} {} ({:.3f})", metric.symbol, listing(found->best, label, " and "), found->median);
  });
}

}  // namespace

std::vector<Claim> of_quality() {
  return {
      {.id = "quality_against_integrated_gradients",
       .title = "its quality is comparable to that of integrated gradients",
       .rule = quality_rule,
       .judge = about(quality_against, integrated_gradients)},
      {.id = "quality_against_regression_msr",
       .title = "its quality is comparable to that of RegressionMSR",
       .rule = quality_rule,
       .judge = about(quality_against, regression_msr)},
      {.id = "regression_msr_column",
       .title = "RegressionMSR's column of the table",
       .rule = column_rule,
       .judge = about(column, regression_msr),
       .excluded = unless_in_the_papers_table},
      {.id = "operator_shap_column",
       .title = "OperatorSHAP's column of the table",
       .rule = column_rule,
       .judge = about(column, explainer),
       .excluded = unless_in_the_papers_table},
      {.id = "integrated_gradients_column",
       .title = "integrated gradients' column of the table",
       .rule = column_rule,
       .judge = about(column, integrated_gradients),
       .excluded = unless_in_the_papers_table},
      {.id = "consistent_across_resolutions",
       .title = "it is consistent with the reference at every n",
       .rule = "the median Pearson correlation with the reference is at most 0.02 (the metric's tolerance) below that "
               "of the paper's table, at every n that both have, two or more",
       .judge = consistent_across_resolutions,
       .excluded = unless_in_the_papers_table},
      {.id = "transfers_to_unseen_resolutions",
       .title = "it transfers to n that it never saw",
       .rule = "at every n that no training input had, the median NRMSE is at most 1.25 times the larger of those at "
               "the two trained n around it; a run without n beyond the trained ones says nothing about these",
       .judge = transfers_to_unseen_resolutions},
      {.id = "one_model_for_all_resolutions",
       .title = "one model serves all n",
       .rule = "one explainer was trained, and its median NRMSE is below that of the better one of the two "
               "attributions that do not look at the input, uniform and constant, at each of the seven n",
       .judge = one_model_for_all_resolutions,
       .excluded = unless_on_lines},
      {.id = "best_in_r2_and_pearson_from_64_players",
       .title = "it is best in R² and Pearson correlation from n = 64 on",
       .rule = "at every n >= 64 OperatorSHAP's median R² and median Pearson correlation are not below those of "
               "integrated gradients and of RegressionMSR",
       .judge = of_medians({.methods = {explainer, integrated_gradients, regression_msr},
                            .metrics = {"r2", "pearson"},
                            .number = lead_of_first,
                            .bound = 0,
                            .side = Side::at_least,
                            .from = 64,
                            .wording = {.quantity = "OperatorSHAP's median less the best of the other two",
                                        .figures = {"OperatorSHAP", "IG", "RegressionMSR"},
                                        .equal = 0},
                            .otherwise = "The three methods were not all run at n >= 64."}),
       .excluded = unless_burgers},
      {.id = "error_grows_while_r2_stays",
       .title = "its error grows with n while its R² stays",
       .rule = "from n = 32 to n = 1024 the median NRMSE does not fall, and the median R² changes by at most the "
               "metric's tolerance",
       .judge = error_grows_while_r2_stays,
       .excluded = unless_burgers},
  };
}

std::vector<Claim> of_table_rows(std::string_view pde) {
  std::vector<Claim> claims;
  std::set<int> seen;
  for (const PaperCell& cell : paper_quality()) {
    const int players = cell.players;
    if (cell.pde != pde || !seen.insert(players).second) continue;
    claims.push_back(
        {.id = fmt::format("table_row_{}_{}", pde, players),
         .title = fmt::format("the winners of the table's row n = {}", players),
         .statement = fmt::format("Best median on {} at n = {}: {} (read from the table, not a quote).", pde_label(pde),
                                  players, winners_in_words(cell)),
         .where =
             fmt::format("Table of all PDEs, {}, row n = {} (LaTeX line {})", pde_label(pde), players, cell.tex_line),
         .rule = "for each metric of the table the paper's best method has a median that is not worse than those of "
                 "the other two, in this run",
         .judge = [players](const Scoreboard& scores) { return row_of_table(scores, players); },
         .table_row = true});
  }
  return claims;
}

}  // namespace opshap::reporting::claims
