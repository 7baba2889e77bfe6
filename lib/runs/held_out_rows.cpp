#include "runs/held_out_rows.hpp"

#include "runs/json_row.hpp"

namespace opshap::runs {

namespace {

template <typename Visitor, json_row::RowOf<HeldOutRow> Row>
void held_out_fields(Visitor& visit, Row& row) {
  visit("pde", row.pde);
  visit("method", row.method);
  visit("setting", row.setting);
  visit("seed", row.seed);
  visit("epoch", row.epoch);
  visit("training_evaluations", row.training_evaluations);
  visit("training_seconds", row.training_seconds);
  visit("shape", row.shape);
  visit("players", row.players);
  visit("nrmse", row.nrmse);
  visit("seconds", row.seconds);
  visit("reference_errors", row.reference_errors);
  visit.optional("drift", row.drift);
}

}  // namespace

std::string to_json_line(const HeldOutRow& row) {
  json_row::Writer writer(HeldOutRow::schema);
  held_out_fields(writer, row);
  return writer.line();
}

std::vector<HeldOutRow> read_held_out_rows(const std::filesystem::path& file) {
  return json_row::read_rows<HeldOutRow>(
      file, [](const json_row::Reader& reader, HeldOutRow& row) { held_out_fields(reader, row); });
}

}  // namespace opshap::runs
