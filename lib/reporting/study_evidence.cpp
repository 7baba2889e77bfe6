#include "reporting/study_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <tuple>

#include "core/error.hpp"
#include "reporting/methods.hpp"
#include "reporting/table.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::reporting {

namespace {

using runs::HeldOutRow;

const char* const explainer_method = "operator_shap";
const char* const own_cell_missed = "all right but the own cell";

double median(std::vector<double> values) { return statistics::quartiles(std::move(values)).median; }

/// The median over the seeds, and the least and the largest of them.
struct OverSeeds {
  double median = 0, low = 0, high = 0;

  explicit OverSeeds(const std::vector<double>& values)
      : median(reporting::median(values)),
        low(*std::ranges::min_element(values)),
        high(*std::ranges::max_element(values)) {}
  std::string text() const {
    return low == high ? show(median) : fmt::format("{} [{}, {}]", show(median), show(low), show(high));
  }
};

/// Rows of one recipe at one resolution and epoch, one for each seed.
struct HeldOutGroup {
  std::vector<const HeldOutRow*> rows;

  template <typename Number>
  OverSeeds over(const Number& number) const {
    std::vector<double> values;
    for (const HeldOutRow* row : rows) values.push_back(static_cast<double>(std::invoke(number, *row)));
    return OverSeeds(values);
  }
  OverSeeds error() const {
    return over([](const HeldOutRow& row) { return median(row.nrmse); });
  }
  double evaluations() const { return over(&HeldOutRow::training_evaluations).median; }
  double training_seconds() const { return over(&HeldOutRow::training_seconds).median; }
  double explanation_seconds() const {
    return over([](const HeldOutRow& row) { return median(row.seconds); }).median;
  }
};

/// The rows in the order of the study.
class Rows {
 public:
  explicit Rows(const std::vector<HeldOutRow>& rows) : rows_(rows) {
    for (const HeldOutRow& row : rows) {
      if (std::ranges::find(players_, row.players) == players_.end()) players_.push_back(row.players);
      if (row.method != explainer_method) continue;
      if (std::ranges::find(recipes_, row.setting) == recipes_.end()) recipes_.push_back(row.setting);
      seeds_.insert(row.seed);
    }
    std::ranges::sort(players_);
    require(!recipes_.empty(), "amortisation: rows=", rows.size(), " (none is of an explainer). Run the study again.");
  }

  const std::vector<int>& players() const { return players_; }
  const std::vector<std::string>& recipes() const { return recipes_; }
  std::size_t seeds() const { return seeds_.size(); }
  std::size_t inputs() const { return rows_.front().nrmse.size(); }

  /// The first, a middle and the last number of players: a figure has room for so many panels.
  std::vector<int> shown() const {
    if (players_.size() < 3) return players_;
    return {players_.front(), players_[players_.size() / 2], players_.back()};
  }

  /// Of a recipe's kept weights.
  HeldOutGroup kept(const std::string& recipe, int players) const { return at(recipe, players, 0); }
  /// Of a recipe by epoch, ascending; the kept weights last, where they are not of the last epoch.
  std::vector<HeldOutGroup> history(const std::string& recipe, int players) const {
    std::set<std::int64_t> epochs;
    for (const HeldOutRow& row : rows_)
      if (row.method == explainer_method && row.setting == recipe) epochs.insert(row.epoch);
    epochs.erase(0);
    std::vector<HeldOutGroup> history;
    for (const std::int64_t epoch : epochs) history.push_back(at(recipe, players, epoch));
    HeldOutGroup last = kept(recipe, players);
    if (history.empty() || history.back().training_seconds() != last.training_seconds())
      history.push_back(std::move(last));
    return history;
  }
  /// Rows of the methods without training.
  std::map<std::string, std::vector<const HeldOutRow*>> methods(int players) const {
    std::map<std::string, std::vector<const HeldOutRow*>> found;
    for (const HeldOutRow& row : rows_)
      if (row.method != explainer_method && row.method != runs::own_player_missed && row.players == players)
        found[row.method].push_back(&row);
    return found;
  }
  /// The share of the query's own player, where a row has it.
  std::optional<double> own_share(int players) const {
    for (const HeldOutRow& row : rows_)
      if (row.method == runs::own_player_missed && row.players == players) return median(row.nrmse);
    return std::nullopt;
  }

 private:
  HeldOutGroup at(const std::string& recipe, int players, std::int64_t epoch) const {
    HeldOutGroup group;
    for (const HeldOutRow& row : rows_) {
      if (row.method == explainer_method && row.setting == recipe && row.players == players && row.epoch == epoch)
        group.rows.push_back(&row);
    }
    return group;
  }

  const std::vector<HeldOutRow>& rows_;
  std::vector<int> players_;
  std::vector<std::string> recipes_;
  std::set<std::uint64_t> seeds_;
};

std::string error_at(int players) { return fmt::format("NRMSE at n = {}", players); }

void add_to(statistics::Study& study, double effort, const OverSeeds& error) {
  if (effort > 0 && error.low > 0) study.add(effort, error.median, error.low, error.high);
}

/// A column for each of these numbers of players.
using PlayersColumn = std::function<std::string(const std::string& recipe, int players)>;

std::vector<ColumnOf<std::string>> columns_by_players(std::vector<ColumnOf<std::string>> columns,
                                                      const std::vector<int>& all, const PlayersColumn& cell) {
  for (const int players : all)
    columns.push_back({fmt::format("n = {}", players), [=](auto& recipe) { return cell(recipe, players); }, true});
  return columns;
}

const ColumnOf<std::string> recipe_column = {"recipe", [](auto& recipe) { return recipe; }};

Table kept_errors(const Rows& rows) {
  const auto kept = [&rows](const std::string& recipe) { return rows.kept(recipe, rows.players().front()); };
  Table table = table_of(
      "errors",
      fmt::format("Median NRMSE over {} held-out inputs against certified references; over {} seeds the median [least, "
                  "largest].",
                  rows.inputs(), rows.seeds()),
      rows.recipes(),
      columns_by_players(
          {recipe_column,
           {"evaluations", [=](auto& recipe) { return show_count(kept(recipe).evaluations()); }, true},
           {"training", [=](auto& recipe) { return show_seconds(kept(recipe).training_seconds()); }, true}},
          rows.players(),
          [&rows](const std::string& recipe, int players) { return rows.kept(recipe, players).error().text(); }));
  if (!rows.own_share(rows.players().front())) return table;
  std::vector<std::string> shares = {own_cell_missed, "none", "none"};
  for (const int players : rows.players()) shares.push_back(show(rows.own_share(players).value_or(0)));
  table.caption += " The last row is of the references themselves, with 0 for the cell of the query.";
  table.add(std::move(shares));
  return table;
}

Table drifts(const Rows& rows) {
  const int finest = rows.players().back();
  std::vector<int> others = rows.players();
  others.pop_back();
  return table_of(
      "drift",
      fmt::format("Drift of the network: relative distance of its densities of one input at n and at {} "
                  "points, at common points. Medians over the inputs.",
                  finest),
      rows.recipes(), columns_by_players({recipe_column}, others, [&rows](const std::string& recipe, int players) {
        return rows.kept(recipe, players).over([](const HeldOutRow& row) { return row.drift.value_or(0); }).text();
      }));
}

/// The recipe whose errors are the least in the geometric mean over the sizes.
std::string best_of(const std::vector<std::string>& recipes, const Rows& rows) {
  const auto sum_of_logarithms = [&](const std::string& recipe) {
    double sum = 0;
    for (const int players : rows.players()) sum += std::log(rows.kept(recipe, players).error().median);
    return sum;
  };
  return *std::ranges::min_element(recipes, {}, sum_of_logarithms);
}

/// The recipes of each family, in the order of the study.
std::map<std::string, std::vector<std::string>> members(const Rows& rows, const RecipeFamilies& families) {
  std::map<std::string, std::vector<std::string>> members;
  for (const std::string& recipe : rows.recipes()) {
    const auto found = families.find(recipe);
    members[found == families.end() ? recipe : found->second].push_back(recipe);
  }
  return members;
}

/// The curves of these recipes: errors against the time of training, for each of the shown sizes, and against n.
/// Against evaluations there is none: a recipe that asks for all its labels before the first step has one number of
/// evaluations at every epoch.
std::vector<statistics::Study> curves(const std::vector<std::string>& recipes, const Rows& rows) {
  std::vector<statistics::Study> studies;
  for (const int players : rows.shown()) {
    for (const std::string& recipe : recipes) {
      statistics::Study& study = studies.emplace_back(recipe, "seconds of training", error_at(players));
      for (const HeldOutGroup& group : rows.history(recipe, players))
        add_to(study, group.training_seconds(), group.error());
    }
  }
  for (const std::string& recipe : recipes) {
    statistics::Study& study = studies.emplace_back(recipe, "n", "NRMSE");
    for (const int players : rows.players()) add_to(study, players, rows.kept(recipe, players).error());
  }
  statistics::Study missed(own_cell_missed, "n", "NRMSE");
  for (const int players : rows.players())
    if (const double share = rows.own_share(players).value_or(0); share > 0) missed.add(players, share);
  if (missed.size() > 0) studies.push_back(std::move(missed));
  return studies;
}

/// ".075 at n = 16 and .18 at n = 512" of a recipe.
std::string first_and_last(const std::string& recipe, const Rows& rows) {
  const int first = rows.players().front(), last = rows.players().back();
  return fmt::format("{} at n = {} and {} at n = {}", show(rows.kept(recipe, first).error().median), first,
                     show(rows.kept(recipe, last).error().median), last);
}

Evidence costs_of_recipes(const Rows& rows, const RecipeFamilies& families, const std::string& subject) {
  const std::string best = best_of(rows.recipes(), rows);
  const HeldOutGroup kept = rows.kept(best, rows.players().back());
  std::vector<std::string> leaders;
  for (const auto& [family, recipes] : members(rows, families)) leaders.push_back(best_of(recipes, rows));
  return {.name = "amortisation",
          .title = "What an explainer's error costs",
          .finding = fmt::format(
              "{}. The recipe {} has the least errors in the geometric mean over the sizes: {}, for {} evaluations of "
              "the operator and {} of training. Curves are those of the best recipe of each target.",
              subject, best, first_and_last(best, rows), show_count(kept.evaluations()),
              show_seconds(kept.training_seconds())),
          .studies = curves(leaders, rows),
          .tables = {kept_errors(rows), drifts(rows)},
          .study_tables = false};
}

/// Errors as multiples of those of the family's first recipe with the same seed.
Table ratios(const std::vector<std::string>& recipes, const Rows& rows) {
  const std::string& first = recipes.front();
  const auto multiples = [&](const std::string& recipe, int players) {
    std::map<std::uint64_t, double> of_first;
    for (const HeldOutRow* row : rows.kept(first, players).rows) of_first[row->seed] = median(row->nrmse);
    std::vector<double> multiples;
    for (const HeldOutRow* row : rows.kept(recipe, players).rows) {
      const auto found = of_first.find(row->seed);
      if (found != of_first.end() && found->second > 0) multiples.push_back(median(row->nrmse) / found->second);
    }
    return multiples.empty() ? "no common seed" : OverSeeds(multiples).text();
  };
  std::vector<std::string> others = recipes;
  std::erase(others, std::string(first));
  return table_of("ratios",
                  fmt::format("Median NRMSE as a multiple of that of {} with the same seed; over the seeds the median "
                              "[least, largest].",
                              first),
                  others, columns_by_players({recipe_column}, rows.players(), multiples));
}

Evidence of_family(const std::string& family, const std::vector<std::string>& recipes, const Rows& rows,
                   const std::string& subject) {
  std::string errors;
  for (const std::string& recipe : recipes)
    errors += fmt::format("{}{}: {}", errors.empty() ? "" : "; ", recipe, first_and_last(recipe, rows));
  return {.name = "amortisation_" + family,
          .title = fmt::format("What an explainer's error costs: recipes of {}", family),
          .finding = fmt::format("{}. {}.", subject, errors),
          .studies = curves(recipes, rows),
          .tables = {ratios(recipes, rows)},
          .study_tables = false};
}

/// Training pays by the number of explanations that share it.
constexpr double explanation_counts[] = {10, 1e3, 1e5};

Evidence times(const Rows& rows, const std::string& subject) {
  const std::string best = best_of(rows.recipes(), rows);
  Table table{.name = "times",
              .caption = "Time of an explanation and median NRMSE. An explainer's times have a share of its training.",
              .columns = {{"n", true}, {"method"}, {"setting"}, {"time", true}, {"NRMSE", true}}};
  std::vector<statistics::Study> studies;
  for (const int players : rows.shown()) {
    for (const auto& [method, settings] : rows.methods(players)) {
      const std::string label = style_of(method).label;
      statistics::Study& study = studies.emplace_back(label, "seconds an explanation", error_at(players));
      for (const HeldOutRow* row : settings) {
        const double error = median(row->nrmse), seconds = median(row->seconds);
        if (error > 0 && seconds > 0) study.add(seconds, error);
        table.add({fmt::format("{}", players), label, row->setting.empty() ? "its own" : row->setting,
                   show_seconds(seconds), show(error)});
      }
    }
    const HeldOutGroup kept = rows.kept(best, players);
    statistics::Study& study = studies.emplace_back("explainer " + best, "seconds an explanation", error_at(players));
    const auto add = [&](double seconds, const std::string& setting) {
      add_to(study, seconds, kept.error());
      table.add({fmt::format("{}", players), "explainer " + best, setting, show_seconds(seconds), kept.error().text()});
    };
    for (const double count : explanation_counts)
      add(kept.explanation_seconds() + kept.training_seconds() / count,
          fmt::format("training shared by {}", show_count(count)));
    add(kept.explanation_seconds(), "training not counted");
  }
  const int largest = rows.players().back();
  const HeldOutGroup kept = rows.kept(best, largest);
  return {.name = "explanation_time",
          .title = "When an explainer pays",
          .finding = fmt::format(
              "{}. At n = {} an explanation takes {} with the explainer {}, whose error is {}; the points of its curve "
              "have a share of {} of training, for 10, 1000 and 100 000 explanations, and none.",
              subject, largest, show_seconds(kept.explanation_seconds()), best, show(kept.error().median),
              show_seconds(kept.training_seconds())),
          .studies = std::move(studies),
          .tables = {std::move(table)},
          .study_tables = false};
}

constexpr double infinite = std::numeric_limits<double>::infinity();

double change_of(const Measured& then, const Measured& now) {
  if (!then.value || !now.value) return then.value == now.value ? 0 : infinite;
  if (*then.value == *now.value) return 0;
  return *then.value == 0 ? infinite : std::abs(*now.value - *then.value) / std::abs(*then.value);
}

/// Which input a row is about.
using Input = std::tuple<std::vector<int>, int, std::int64_t>;

Input input_of(const runs::AttributionRow& row) { return {row.shape, row.players, row.sample}; }

bool is_uniform(const runs::AttributionRow& row) { return row.method == "uniform"; }

std::string input_in_words(const Input& input) {
  return fmt::format("n = {}, input {}", runs::shape_in_words(std::get<0>(input)), std::get<2>(input));
}

/// What is shown of the inputs of one grid.
struct Grid {
  std::size_t inputs = 0, agree = 0;
  std::int64_t evaluations_then = 0, evaluations_now = 0;
  double error_difference = 0, uniform_difference = 0;

  void add(const ReferenceAgreement& input) {
    ++inputs;
    agree += input.agrees();
    evaluations_then += input.evaluations_then;
    evaluations_now += input.evaluations_now;
    error_difference = std::max(error_difference, input.error_difference);
    uniform_difference = std::max(uniform_difference, input.uniform_difference);
  }
};

std::string shown(double difference) {
  return std::isinf(difference) ? "defined in one of the two" : fmt::format("{:.2g}", difference);
}

}  // namespace

std::vector<Evidence> amortisation_study(const std::vector<HeldOutRow>& all, const RecipeFamilies& families,
                                         const std::string& subject) {
  const Rows rows(all);
  std::vector<Evidence> found = {costs_of_recipes(rows, families, subject)};
  for (const auto& [family, recipes] : members(rows, families))
    if (recipes.size() > 1) found.push_back(of_family(family, recipes, rows, subject));
  found.push_back(times(rows, subject));
  return found;
}

bool ReferenceAgreement::agrees() const {
  constexpr double third_digit = 5e-4;  // half a unit of the third digit of 1, the largest change it hides
  return kind_then == kind_now && evaluations_then == evaluations_now && error_difference <= third_digit &&
         uniform_difference <= third_digit;
}

std::vector<ReferenceAgreement> agreement_of_references(const runs::Results& then, const runs::Results& now) {
  std::map<Input, const runs::AttributionRow*> before;
  for (const runs::AttributionRow& row : then.attributions) {
    if (is_uniform(row)) before.emplace(input_of(row), &row);
  }
  std::vector<ReferenceAgreement> agreement;
  for (const runs::AttributionRow& row : now.attributions) {
    if (!is_uniform(row)) continue;
    const auto found = before.find(input_of(row));
    require<DataError>(found != before.end(), "references: ", input_in_words(input_of(row)),
                       " (the rows of the run have no uniform attribution of it). Give the rows of the whole run.");
    const runs::AttributionRow& old = *found->second;
    agreement.push_back({.shape = row.shape,
                         .players = row.players,
                         .sample = row.sample,
                         .kind_then = old.reference,
                         .kind_now = row.reference,
                         .evaluations_then = old.reference_evaluations,
                         .evaluations_now = row.reference_evaluations,
                         .error_difference = change_of(old.reference_error, row.reference_error),
                         .uniform_difference = change_of(old.scores["nrmse"], row.scores["nrmse"])});
    before.erase(found);
  }
  require<DataError>(before.empty(), "references: ", before.empty() ? "" : input_in_words(before.begin()->first),
                     " (is in the rows of the run, and no reference of it was computed). Finish the computation.");
  return agreement;
}

double largest_difference_of_backbones(const std::vector<runs::OperatorRow>& then,
                                       const std::vector<runs::OperatorRow>& now) {
  double largest = 0;
  require<DataError>(then.size() == now.size(), "references: grids=", now.size(), " (the run has ", then.size(),
                     "). Give the settings of the run.");
  for (const runs::OperatorRow& row : now) {
    const auto found = std::ranges::find(then, row.shape, &runs::OperatorRow::shape);
    require<DataError>(found != then.end() && found->relative_errors.size() == row.relative_errors.size(),
                       "references: n = ", runs::shape_in_words(row.shape), ", inputs=", row.relative_errors.size(),
                       " (the run has another number there). Give the settings of the run.");
    for (std::size_t place = 0; place < row.relative_errors.size(); ++place)
      largest = std::max(largest, change_of(found->relative_errors[place], row.relative_errors[place]));
  }
  return largest;
}

Evidence evidence_of_references(const std::vector<ReferenceAgreement>& agreement, double backbone_difference,
                                const std::string& subject) {
  std::map<std::pair<int, std::vector<int>>, Grid> by_grid;
  Grid all;
  std::vector<ReferenceAgreement> differing;
  for (const ReferenceAgreement& input : agreement) {
    all.add(input);
    by_grid[{input.players, input.shape}].add(input);
    if (!input.agrees()) differing.push_back(input);
  }
  const std::vector<std::pair<std::pair<int, std::vector<int>>, Grid>> grids(by_grid.begin(), by_grid.end());
  Table table = table_of(
      "grids",
      "References by grid: how many agree, the forward evaluations of all, and the largest relative differences of "
      "their own error and of the uniform attribution's NRMSE against them.",
      grids,
      {{"n", [](auto& grid) { return runs::shape_in_words(grid.first.second); }},
       {"inputs", [](auto& grid) { return std::to_string(grid.second.inputs); }, true},
       {"agree", [](auto& grid) { return std::to_string(grid.second.agree); }, true},
       {"evaluations then", [](auto& grid) { return std::to_string(grid.second.evaluations_then); }, true},
       {"evaluations now", [](auto& grid) { return std::to_string(grid.second.evaluations_now); }, true},
       {"their error differs by", [](auto& grid) { return shown(grid.second.error_difference); }, true},
       {"the uniform NRMSE differs by", [](auto& grid) { return shown(grid.second.uniform_difference); }, true}});
  Evidence evidence{
      .name = "references",
      .title = "References of a run, computed again",
      .finding = fmt::format(
          "{}. {} of {} references agree with the rows of the run: the same kind, the same number of evaluations, and "
          "the same three digits of the reference's own error and of the uniform attribution's NRMSE against it. {} {} "
          "not. The backbone's relative errors differ from those of the run by at most {} of themselves. On another "
          "processor the last digits of a prediction differ, and with them the place where a reference has reached its "
          "error.",
          subject, all.agree, all.inputs, differing.size(), differing.size() == 1 ? "does" : "do",
          shown(backbone_difference)),
      .tables = {std::move(table)}};
  if (differing.empty()) return evidence;
  evidence.tables.push_back(table_of(
      "differences", "Inputs whose reference is not that of the run in the digits that reports show.", differing,
      {{"n", [](auto& input) { return runs::shape_in_words(input.shape); }},
       {"input", [](auto& input) { return std::to_string(input.sample); }, true},
       {"kind then", [](auto& input) { return input.kind_then; }},
       {"kind now", [](auto& input) { return input.kind_now; }},
       {"evaluations then", [](auto& input) { return std::to_string(input.evaluations_then); }, true},
       {"evaluations now", [](auto& input) { return std::to_string(input.evaluations_now); }, true},
       {"its error differs by", [](auto& input) { return shown(input.error_difference); }, true},
       {"the uniform NRMSE differs by", [](auto& input) { return shown(input.uniform_difference); }, true}}));
  return evidence;
}

}  // namespace opshap::reporting
