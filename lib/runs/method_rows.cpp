#include "runs/method_rows.hpp"

#include <utility>

#include "core/file.hpp"
#include "runs/json_row.hpp"

namespace opshap::runs {

namespace {

template <typename Visitor, json_row::RowOf<MethodRow> Row>
void fields(Visitor& visit, Row& row) {
  visit("game", row.game);
  visit("players", row.players);
  visit("truth", row.truth);
  visit("truth_error", row.truth_error);
  visit("method", row.method);
  visit.optional("explainer", row.explainer);
  visit("access", row.access);
  visit("budget", row.budget);
  visit("repeat", row.repeat);
  visit("seed", row.seed);
  visit("distinct", row.distinct);
  visit("evaluations", row.evaluations);
  visit("gradients", row.gradients);
  visit("nrmse", row.nrmse);
  visit("pearson", row.pearson);
  visit("efficiency_gap", row.efficiency_gap);
  visit("exact", row.exact);
  visit.nested("seconds", [&row](auto& seconds) {
    seconds("estimator", row.estimator_seconds);
    seconds("game", row.game_seconds);
  });
}

MethodRow parse_row(const std::string& line) {
  const json_row::Json json = json_row::Json::parse(line, nullptr, false);
  require<DataError>(json.is_object() && json.value("schema", "") == MethodRow::schema, "row (is not an ",
                     MethodRow::schema, ")");
  MethodRow found;
  const json_row::Reader reader(json);
  fields(reader, found);
  return found;
}

}  // namespace

std::string to_json_line(const MethodRow& row) {
  json_row::Writer writer(MethodRow::schema);
  fields(writer, row);
  return writer.line();
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

}  // namespace opshap::runs
