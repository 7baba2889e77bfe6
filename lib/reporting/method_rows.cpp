#include "reporting/method_rows.hpp"

#include <utility>

#include "core/file.hpp"
#include "reporting/json_row.hpp"

namespace opshap::reporting {

using json_row::finite;
using json_row::Json;
using json_row::to_json;

namespace {

MethodRow parse_row(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  require<DataError>(json.is_object() && json.value("schema", "") == "opshap.method/1",
                     "row (is not an opshap.method/1)");
  const json_row::Row row(json);
  MethodRow found;
  row.read("game", found.game);
  row.read("players", found.players);
  row.read("truth", found.truth);
  row.read("truth_error", found.truth_error);
  row.read("method", found.method);
  row.read("access", found.access);
  row.read("budget", found.budget);
  row.read("repeat", found.repeat);
  row.read("seed", found.seed);
  row.read("distinct", found.distinct);
  row.read("evaluations", found.evaluations);
  row.read("gradients", found.gradients);
  row.read("nrmse", found.nrmse);
  row.read("pearson", found.pearson);
  row.read("efficiency_gap", found.efficiency_gap);
  row.read("exact", found.exact);
  const json_row::Row seconds = row.nested("seconds");
  seconds.read("estimator", found.estimator_seconds);
  seconds.read("game", found.game_seconds);
  return found;
}

}  // namespace

std::string to_json_line(const MethodRow& row) {
  return Json{{"schema", "opshap.method/1"},
              {"game", row.game},
              {"players", row.players},
              {"truth", row.truth},
              {"truth_error", finite("truth_error", row.truth_error)},
              {"method", row.method},
              {"access", row.access},
              {"budget", to_json(row.budget)},
              {"repeat", row.repeat},
              {"seed", row.seed},
              {"distinct", row.distinct},
              {"evaluations", row.evaluations},
              {"gradients", row.gradients},
              {"nrmse", to_json(row.nrmse)},
              {"pearson", to_json(row.pearson)},
              {"efficiency_gap", to_json(row.efficiency_gap)},
              {"exact", row.exact},
              {"seconds",
               {{"estimator", finite("estimator_seconds", row.estimator_seconds)},
                {"game", finite("game_seconds", row.game_seconds)}}}}
      .dump();
}

std::vector<MethodRow> read_method_rows(const std::filesystem::path& file) {
  std::vector<MethodRow> rows;
  if (!std::filesystem::exists(file)) return rows;
  const std::string text = read_file(file);
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    try {
      rows.push_back(parse_row(text.substr(begin, end - begin)));
    } catch (const DataError& error) {
      throw DataError(message(file.string(), ":", rows.size() + 1, ": ", error.what(),
                              ". Remove the line, or choose another folder."));
    }
  }
  return rows;
}

}  // namespace opshap::reporting
