#include "reporting/problem_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "reporting/methods.hpp"

namespace opshap::reporting::tables {

namespace {

/// Adds what is not there yet, in the order of its first appearance.
void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

bool has_sampling(const Scoreboard& scores, const Discretisation& on) {
  const std::vector<std::string> sampling = scores.sampling_methods();
  return std::any_of(sampling.begin(), sampling.end(),
                     [&](const std::string& method) { return scores.cell(on, method) != nullptr; });
}

}  // namespace

Table medians(const Problems& problems, const metrics::Metric& metric) {
  std::vector<std::string> methods;
  for (const Scoreboard* scores : problems) {
    for (const std::string& method : scores->methods()) add_new(methods, method);
  }
  sort_for_display(methods);
  Table table{.name = fmt::format("medians_{}", metric.name),
              .caption = fmt::format("{} of every method, the median over the test inputs ({} is better). Methods that "
                                     "sample coalitions have the budget of the paper's table, max(2n, 1024).",
                                     metric.symbol, metric.better == metrics::Better::lower ? "lower" : "higher"),
              .columns = {{"problem"}, {"n", true}}};
  for (const std::string& method : methods) table.columns.push_back({style_of(method).label, true});
  bool marked = false;
  for (const Scoreboard* scores : problems) {
    for (const Discretisation& on : scores->discretisations()) {
      if (!has_sampling(*scores, on)) continue;
      std::vector<std::string> row = {pde_label(scores->run().pde), on.label()};
      const std::size_t inputs = scores->references(on).size();
      for (const std::string& method : methods) {
        const Cell* cell = scores->cell(on, method);
        const auto quartiles = cell == nullptr ? std::nullopt : cell->quartiles(metric.name);
        std::string text = cell == nullptr ? "not run" : quartiles ? show(quartiles->median) : "no value";
        if (quartiles && quartiles->count < inputs) text += fmt::format(" ({} of {} inputs)", quartiles->count, inputs);
        if (metric.name == "nrmse" && quartiles && !cell->net_nrmse()->told) {
          text += " *";
          marked = true;
        }
        row.push_back(std::move(text));
      }
      table.add(std::move(row));
    }
  }
  if (marked)
    table.notes.push_back(
        "* Not above twice the reference's own error. The method may be better than what the reference can tell.");
  return table;
}

Table stages(const Problems& problems) {
  std::vector<std::string> stages;
  for (const Scoreboard* scores : problems) {
    for (const auto& [stage, seconds] : scores->run().seconds) add_new(stages, stage);
  }
  Table table{.name = "stages",
              .caption = "Wall time of each stage, whatever else the machine did meanwhile.",
              .columns = {{"problem"}}};
  for (const std::string& stage : stages) table.columns.push_back({stage, true});
  table.columns.push_back({"all", true});
  for (const Scoreboard* scores : problems) {
    const runs::Run& run = scores->run();
    std::vector<std::string> row = {pde_label(run.pde)};
    for (const std::string& stage : stages) {
      const auto found =
          std::find_if(run.seconds.begin(), run.seconds.end(), [&](const auto& one) { return one.first == stage; });
      row.push_back(found == run.seconds.end() ? "none" : show_seconds(found->second));
    }
    row.push_back(show_seconds(run.total_seconds()));
    table.add(std::move(row));
  }
  return table;
}

}  // namespace opshap::reporting::tables
