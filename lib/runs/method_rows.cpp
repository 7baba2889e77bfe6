#include "runs/method_rows.hpp"

#include "runs/json_row.hpp"

namespace opshap::runs {

namespace {

template <typename Visitor, json_row::RowOf<MethodRow> Row>
void method_fields(Visitor& visit, Row& row) {
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
  visit.scores(row.scores);
  visit("exact", row.exact);
  visit.optional("failure", row.failure);
  visit.nested("seconds", [&row](auto& seconds) {
    seconds("estimator", row.estimator_seconds);
    seconds("game", row.game_seconds);
  });
}

}  // namespace

std::string to_json_line(const MethodRow& row) {
  json_row::Writer writer(MethodRow::schema);
  method_fields(writer, row);
  return writer.line();
}

std::vector<MethodRow> read_method_rows(const std::filesystem::path& file) {
  return json_row::read_rows<MethodRow>(
      file, [](const json_row::Reader& reader, MethodRow& row) { method_fields(reader, row); });
}

}  // namespace opshap::runs
