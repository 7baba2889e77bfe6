#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "metrics/registry.hpp"
#include "reporting/paper.hpp"
#include "reporting/table.hpp"
#include "statistics/bootstrap.hpp"
#include "statistics/quantiles.hpp"

namespace opshap {

/// A column is good where its median correlation is at least this …
inline constexpr double good_pearson = 0.95;
/// … and its median NRMSE at most this: √(1 − 0.95²), what such a correlation leaves at the best scale.
inline constexpr double good_nrmse = 0.32;

/// The scores of a method or form on all inputs of a problem at one resolution and amplitude.
struct Row {
  std::string pde;
  int players = 0;
  double amplitude = 1;
  std::string name;
  std::string column;                                   ///< the method of the paper's table that it stands beside
  std::map<std::string, std::vector<double>> scores{};  ///< by metric, one an input

  statistics::Quartiles quartiles(const std::string& metric) const { return statistics::quartiles(scores.at(metric)); }
  const reporting::PaperCell& paper(const std::string& metric) const {
    const auto* cell = reporting::find(reporting::paper_quality(), pde, players, column, metric);
    require(cell != nullptr, "paper_integrated_gradients: pde=", pde, ", players=", players,
            " (the paper's table has no such cell). Choose a resolution of the table.");
    return *cell;
  }
};

/// How many of the paper's medians and quartiles lie within our intervals.
struct Agreement {
  int inside = 0, of = 0;

  Agreement& operator+=(const Agreement& other) {
    inside += other.inside;
    of += other.of;
    return *this;
  }
  std::string text() const { return fmt::format("{} of {}", inside, of); }
};

/// Whether the paper's median and quartiles lie within the 95 % bootstrap intervals of ours. Its cells have three
/// decimals.
inline Agreement agreement(const Row& row, const std::string& metric) {
  const std::vector<double>& scores = row.scores.at(metric);
  const statistics::Quartiles paper = row.paper(metric).quartiles;
  Agreement found;
  for (const auto& [share, stated] : {std::pair{0.25, paper.q25}, {0.5, paper.median}, {0.75, paper.q75}}) {
    const auto quantile_of = [&](statistics::Draw& draw) {
      std::vector<double> drawn;
      for (const std::size_t input : draw.inputs) drawn.push_back(scores[input]);
      return statistics::quantile(std::move(drawn), share);
    };
    const statistics::Interval interval = statistics::bootstrap(scores.size(), quantile_of, 1).interval();
    ++found.of;
    if (interval.low - 5e-4 <= stated && stated <= interval.high + 5e-4) ++found.inside;
  }
  return found;
}

inline Agreement agreement(const Row& row) {
  Agreement all;
  for (const std::string& metric : reporting::paper_metrics()) all += agreement(row, metric);
  return all;
}

inline bool paper_is_good(const Row& row) { return row.paper("pearson").quartiles.median >= good_pearson; }

/// What a form at one amplitude gives for a problem, over all its resolutions.
struct Effect {
  Agreement with_the_paper;                   ///< where the paper's column is bad
  double worst_pearson = 1, worst_nrmse = 0;  ///< the worst medians, where it is good
  bool control = true;                        ///< whether the paper's column is good at all of them

  bool good() const { return worst_pearson >= good_pearson && worst_nrmse <= good_nrmse; }
  std::string text() const {
    return control ? fmt::format("Pearson {:.3f}, NRMSE {:.3f}", worst_pearson, worst_nrmse) : with_the_paper.text();
  }
};

/// What a form at one amplitude gives for all problems.
struct Verdict {
  std::string form;
  double amplitude = 1;
  std::map<std::string, Effect> effects{};  ///< by problem

  Agreement with_the_paper() const {
    Agreement all;
    for (const auto& [pde, effect] : effects) all += effect.with_the_paper;
    return all;
  }
  bool has_control() const {
    return std::any_of(effects.begin(), effects.end(), [](const auto& entry) { return entry.second.control; });
  }
  bool controls_stay_good() const {
    return std::all_of(effects.begin(), effects.end(),
                       [](const auto& entry) { return !entry.second.control || entry.second.good(); });
  }
  /// All of the paper's medians and quartiles are within our intervals where its column is bad, and the controls stay
  /// good. Without a problem of either kind nothing is explained.
  bool explains() const {
    const Agreement found = with_the_paper();
    return found.of > 0 && found.inside == found.of && has_control() && controls_stay_good();
  }
  std::string name() const { return fmt::format("{}, amplitude {:g}", form, amplitude); }
};

/// One verdict for each form of integrated gradients and each amplitude among the rows, in their order.
inline std::vector<Verdict> verdicts(const std::vector<Row>& rows) {
  std::vector<Verdict> all;
  for (const Row& row : rows) {
    if (row.column != "integrated_gradients") continue;
    auto verdict = std::find_if(all.begin(), all.end(), [&](const Verdict& other) {
      return other.form == row.name && other.amplitude == row.amplitude;
    });
    if (verdict == all.end()) verdict = all.insert(all.end(), {.form = row.name, .amplitude = row.amplitude});
    Effect& effect = verdict->effects[row.pde];
    if (paper_is_good(row)) {
      effect.worst_pearson = std::min(effect.worst_pearson, row.quartiles("pearson").median);
      effect.worst_nrmse = std::max(effect.worst_nrmse, row.quartiles("nrmse").median);
    } else {
      effect.control = false;
      effect.with_the_paper += agreement(row);
    }
  }
  return all;
}

/// What the verdicts say, in words. The first of them is the correct form.
inline std::string conclusion(const std::vector<Verdict>& all) {
  const auto in_words = [](const Verdict& verdict) {
    std::string text;
    for (const auto& [pde, effect] : verdict.effects)
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", pde, effect.text());
    return fmt::format("{} ({})", verdict.name(), text);
  };
  const auto explaining =
      std::find_if(all.begin(), all.end(), [](const Verdict& verdict) { return verdict.explains(); });
  if (explaining != all.end()) return fmt::format("The column is explained by this form: {}.", in_words(*explaining));
  const Verdict& nearest = *std::max_element(all.begin(), all.end(), [](const Verdict& a, const Verdict& b) {
    return std::pair(a.controls_stay_good(), a.with_the_paper().inside) <
           std::pair(b.controls_stay_good(), b.with_the_paper().inside);
  });
  return fmt::format("No form explains the column. The nearest is: {}. The correct one is: {}.", in_words(nearest),
                     in_words(all.front()));
}

/// Which amplitude meets the paper's cells of a metric best, for each problem by itself: "heat1d at 1.5 (8 of 9; 3 of 9
/// at 1)".
inline std::string best_amplitudes(const std::vector<Row>& rows, const std::string& name, const std::string& metric) {
  std::map<std::string, std::map<double, Agreement>> found;
  for (const Row& row : rows) {
    if (row.name == name) found[row.pde][row.amplitude] += agreement(row, metric);
  }
  std::string text;
  for (const auto& [pde, by_amplitude] : found) {
    const auto best = std::max_element(by_amplitude.begin(), by_amplitude.end(),
                                       [](const auto& a, const auto& b) { return a.second.inside < b.second.inside; });
    text += fmt::format("{}{} ", text.empty() ? "" : ", ", pde);
    text += best->second.inside == 0
                ? "at none"
                : fmt::format("at {:g} ({}; {} at 1)", best->first, best->second.text(), by_amplitude.at(1).text());
  }
  return text;
}

/// The rows of one column of the paper's table beside it: medians with quartiles, and how many of the paper's three
/// numbers lie within our intervals.
inline reporting::Table table_of(const std::vector<Row>& rows, const std::string& column, std::string name) {
  reporting::Table table{.name = std::move(name),
                         .caption = message("Median [quartiles] over the inputs, and beside each how many of the three "
                                            "numbers of the paper lie within their 95 % bootstrap intervals: ",
                                            column, "."),
                         .columns = {{"PDE"}, {"n", true}, {"form"}, {"amplitude", true}},
                         .rows = {}};
  for (const std::string& metric : reporting::paper_metrics()) {
    table.columns.push_back({std::string(metrics::find(metric).symbol), true});
    table.columns.push_back({"inside", true});
  }
  table.columns.push_back({"efficiency gap", true});
  const Row* before = nullptr;
  for (const Row& row : rows) {
    if (row.column != column) continue;
    if (!before || before->pde != row.pde || before->players != row.players) {
      std::vector<std::string> cells = {row.pde, std::to_string(row.players), "the paper", "not stated"};
      for (const std::string& metric : reporting::paper_metrics()) {
        cells.push_back(reporting::show(row.paper(metric).quartiles));
        cells.push_back("-");
      }
      cells.push_back("not stated");
      table.add(std::move(cells));
    }
    before = &row;
    std::vector<std::string> cells = {row.pde, std::to_string(row.players), row.name,
                                      fmt::format("{:g}", row.amplitude)};
    for (const std::string& metric : reporting::paper_metrics()) {
      cells.push_back(reporting::show(row.quartiles(metric)));
      cells.push_back(std::to_string(agreement(row, metric).inside));
    }
    cells.push_back(reporting::show(row.quartiles("efficiency_gap")));
    table.add(std::move(cells));
  }
  return table;
}

inline reporting::Table table_of(const std::vector<Verdict>& all) {
  reporting::Table table{
      .name = "verdicts",
      .caption =
          "Where the paper's column is bad: how many of its medians and quartiles of all metrics and n lie "
          "within our 95 % bootstrap intervals. Where it is good: our worst medians over n.",
      .columns = {{"form"}, {"amplitude", true}},
      .rows = {},
      .notes = {fmt::format(
          "A column is good where its median Pearson is at least {} and its median NRMSE at most {}. "
          "A form explains the column when everything is within and every control stays good. This "
          "is strict: the intervals cover the choice of our inputs only, and of two samples of one law and one "
          "size about 83 % of the numbers would be within.",
          good_pearson, good_nrmse)}};
  for (const auto& [pde, effect] : all.front().effects)
    table.columns.push_back({message(pde, effect.control ? " (control)" : "")});
  table.columns.push_back({"explains"});
  for (const Verdict& verdict : all) {
    std::vector<std::string> cells = {verdict.form, fmt::format("{:g}", verdict.amplitude)};
    for (const auto& [pde, effect] : verdict.effects) cells.push_back(effect.text());
    cells.push_back(verdict.explains() ? "yes" : "no");
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace opshap
