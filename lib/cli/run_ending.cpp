#include "cli/run_ending.hpp"

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/file.hpp"
#include "reporting/methods.hpp"
#include "reporting/scoreboard.hpp"
#include "reporting/table.hpp"
#include "runs/run.hpp"

namespace opshap::cli {

namespace {

std::optional<double> median_nrmse(const reporting::Scoreboard& scores, const reporting::Discretisation& on,
                                   const std::string& method) {
  const reporting::Cell* cell = scores.cell(on, method);
  const auto error = cell == nullptr ? std::nullopt : cell->quartiles("nrmse");
  return error ? std::optional(error->median) : std::nullopt;
}

nlohmann::ordered_json number(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

std::string shown(const std::optional<double>& value) { return value ? reporting::show(*value) : "-"; }

}  // namespace

void print_ending(const Globals& globals, const std::filesystem::path& page, const std::filesystem::path& run) {
  if (!is_there(run / "results.jsonl")) return print_path(globals, "report", page);
  const runs::Run finished = runs::read_run(run);
  const reporting::Scoreboard scores(finished);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  reporting::Table table{.name = "errors",
                         .caption =
                             "Median NRMSE over the test inputs. The mean field is a method that needs no "
                             "training.",
                         .columns = {{"n", true}, {"explainer"}, {"NRMSE", true}, {"mean field's", true}},
                         .rows = {}};
  bool nearer = false;
  for (const reporting::Discretisation& on : scores.discretisations()) {
    for (const std::string& method : scores.methods_with_access("amortised")) {
      const auto own = median_nrmse(scores, on, method), mean_field = median_nrmse(scores, on, "mean_field");
      nearer = nearer || (own && mean_field && *mean_field < *own);
      rows.push_back({{"shape", on.shape},
                      {"players", on.players},
                      {"method", method},
                      {"nrmse", number(own)},
                      {"mean_field_nrmse", number(mean_field)}});
      table.add({on.label(), reporting::style_of(method).label, shown(own), shown(mean_field)});
    }
  }
  if (globals.json) return print_json({{"report", page.string()}, {"errors", rows}});
  print_path(globals, "report", page);
  std::cout << '\n' << table.markdown();
  if (nearer) std::cout << "\nThe mean field is nearer. `opshap attribute --method mean_field` needs no explainer.\n";
}

}  // namespace opshap::cli
