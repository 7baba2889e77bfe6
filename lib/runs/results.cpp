#include "runs/results.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "runs/row_files.hpp"

namespace opshap::runs {

namespace {

using json_row::Json;
using json_row::RowOf;

// The fields of each row type, in the order in which they are written.

/// Which attribution a row is about.
template <typename Visitor, typename Row>
void which(Visitor& visit, Row& row) {
  visit("pde", row.pde);
  visit.optional("shape", row.shape);
  visit("players", row.players);
  visit("sample", row.sample);
  visit("method", row.method);
  visit.optional("explainer", row.explainer);
}

template <typename Visitor, RowOf<AttributionRow> Attribution>
void fields(Visitor& visit, Attribution& row) {
  which(visit, row);
  visit("access", row.access);
  visit("budget", row.budget);
  visit("distinct", row.distinct);
  visit("evaluations", row.evaluations);
  visit("gradients", row.gradients);
  visit.optional("forward_equivalents", row.forward_equivalents);
  visit("seed", row.seed);
  visit("game_seconds", row.game_seconds);
  visit("estimator_seconds", row.estimator_seconds);
  visit.scores(row.scores);
  visit("reference", row.reference);
  visit("reference_error", row.reference_error);
  visit("reference_evaluations", row.reference_evaluations);
  visit.optional("own_share", row.own_share);
  visit.optional("reference_parts", row.reference_parts);
  visit.optional("reference_part_errors", row.reference_part_errors);
  visit.optional("reference_check", row.reference_check);
}

template <typename Visitor, RowOf<ValuesRow> Values>
void fields(Visitor& visit, Values& row) {
  which(visit, row);
  visit("budget", row.budget);
  visit("empty", row.empty);
  visit("grand", row.grand);
  visit("values", row.values);
  visit("standard_errors", row.standard_errors);
}

template <typename Visitor, RowOf<OperatorRow> Errors>
void fields(Visitor& visit, Errors& row) {
  visit("pde", row.pde);
  visit.optional("shape", row.shape);
  visit("points", row.points);
  visit("relative_errors", row.relative_errors);
  visit.optional("solution_norms", row.solution_norms);
  visit.optional("query_errors", row.query_errors);
  visit.optional("query_changes", row.query_changes);
}

template <typename Visitor, RowOf<TrainingRow> Training>
void fields(Visitor& visit, Training& row) {
  visit("pde", row.pde);
  visit("stage", row.stage);
  visit.optional("explainer", row.explainer);
  visit("epochs", row.epochs);
  visit("best_epoch", row.best_epoch);
  visit("best_validation", row.best_validation);
  visit("operator_evaluations", row.operator_evaluations);
  visit("seconds", row.seconds);
}

template <typename Visitor, RowOf<FieldsRow> Fields>
void fields(Visitor& visit, Fields& row) {
  visit("pde", row.pde);
  visit("sample", row.sample);
  visit.optional("shape", row.shape);
  visit("x", row.x);
  visit.optional("input_channels", row.input_channels);
  visit.optional("output_channels", row.output_channels);
  visit("input", row.input);
  visit("solution", row.solution);
  visit("prediction", row.prediction);
  visit.optional("query", row.query);
  visit.optional("query_channel", row.query_channel);
  visit.optional("target", row.target);
  visit.optional("player_of", row.player_of);
  visit.optional("cells", row.cells);
}

template <typename Visitor, RowOf<DriftRow> Drift>
void fields(Visitor& visit, Drift& row) {
  visit("pde", row.pde);
  visit("method", row.method);
  visit.optional("explainer", row.explainer);
  visit("shape", row.shape);
  visit("finest", row.finest);
  visit("drifts", row.drifts);
}

template <typename Visitor, RowOf<GamesRow> Games>
void fields(Visitor& visit, Games& row) {
  visit("pde", row.pde);
  visit("players", row.players);
  visit("shape", row.shape);
  visit("active", row.active);
  visit("channels", row.channels);
  visit("baseline_distances", row.baseline_distances);
  visit.optional("baseline", row.baseline);
  visit.optional("rest", row.rest);
}

template <typename Visitor, RowOf<MethodRow> Row>
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
  visit.optional("forward_equivalents", row.forward_equivalents);
  visit.scores(row.scores);
  visit("exact", row.exact);
  visit.optional("failure", row.failure);
  visit.nested("seconds", [&row](auto& seconds) {
    seconds("estimator", row.estimator_seconds);
    seconds("game", row.game_seconds);
  });
}

template <typename Visitor, RowOf<HeldOutRow> Row>
void fields(Visitor& visit, Row& row) {
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

// What rows of before leave out is filled in, and what cannot be is refused.

/// A field has a value at each point, and a player owns at least one of them. How many points a mesh of its own has is
/// not said by its shape.
void require_shape(const std::vector<int>& shape, int players) {
  if (is_own(shape)) return;
  require<DataError>(std::all_of(shape.begin(), shape.end(), [](int points) { return points >= 1; }),
                     "shape=", shape_in_words(shape), " (an axis has at least one point)");
  require<DataError>(players >= 1 && points_of(shape) >= players, "shape=", shape_in_words(shape), " (has ",
                     points_of(shape), " points for ", players, " players)");
}

/// Rows of most types leave nothing out.
void complete(auto&) {}

void complete(AttributionRow& row) {
  if (row.shape.empty()) row.shape = {row.players};
  require_shape(row.shape, row.players);
  require<DataError>(row.reference_parts.size() == row.reference_part_errors.size(),
                     "reference_part_errors=", row.reference_part_errors.size(), " (there are ",
                     row.reference_parts.size(), " parts)");
}

void complete(ValuesRow& row) {
  if (row.shape.empty()) row.shape = {row.players};
  require_shape(row.shape, row.players);
  require<DataError>(row.values.size() == static_cast<std::size_t>(row.players), "values=", row.values.size(),
                     " (there are ", row.players, " players)");
  require<DataError>(row.standard_errors.empty() || row.standard_errors.size() == row.values.size(),
                     "standard_errors=", row.standard_errors.size(), " (there are ", row.players, " players)");
}

void complete(OperatorRow& row) {
  if (row.shape.empty()) row.shape = {row.points};
  require_shape(row.shape, 1);
  require<DataError>(is_own(row.shape) || points_of(row.shape) == row.points, "points=", row.points, " (the shape ",
                     shape_in_words(row.shape), " has ", points_of(row.shape), ")");
  require<DataError>(row.solution_norms.empty() || row.solution_norms.size() == row.relative_errors.size(),
                     "solution_norms=", row.solution_norms.size(), " (there are ", row.relative_errors.size(),
                     " relative errors)");
  for (const auto* of_query : {&row.query_errors, &row.query_changes})
    require<DataError>(of_query->empty() || of_query->size() == row.relative_errors.size(),
                       of_query == &row.query_errors ? "query_errors=" : "query_changes=", of_query->size(),
                       " (there are ", row.relative_errors.size(), " relative errors)");
}

void name_channels(std::vector<std::string>& names, std::size_t channels) {
  if (!names.empty()) return;
  if (channels == 1) names = {"u"};
  for (std::size_t channel = 0; channel < channels && channels > 1; ++channel)
    names.push_back(message("channel ", channel));
}

void complete(GamesRow& row) {
  name_channels(row.channels, row.baseline_distances.size());
  require<DataError>(row.channels.size() == row.baseline_distances.size(),
                     "baseline_distances=", row.baseline_distances.size(), " (there are ", row.channels.size(),
                     " channels)");
  require<DataError>(row.rest.empty() || row.rest.size() == row.channels.size(), "rest=", row.rest.size(),
                     " (there are ", row.channels.size(), " channels)");
  for (const int active : row.active)
    require<DataError>(active >= 0 && active <= row.players, "active=", active, " (there are ", row.players,
                       " players)");
}

void complete(FieldsRow& row) {
  if (row.shape.empty()) row.shape = {static_cast<int>(row.x.size())};
  require_shape(row.shape, 1);
  const auto axes = static_cast<std::size_t>(row.axes());
  const auto points = static_cast<std::size_t>(row.points());
  const auto lines =
      row.on_mesh() ? 2 * points : static_cast<std::size_t>(std::accumulate(row.shape.begin(), row.shape.end(), 0));
  require<DataError>(points > 0, "x=", row.x.size(), " coordinates (a field has a point at least)");
  const auto is_there = [points](std::int64_t corner) {
    return corner >= 0 && corner < static_cast<std::int64_t>(points);
  };
  require<DataError>(
      row.on_mesh() == is_own(row.shape) && row.cells.size() % 3 == 0 && std::ranges::all_of(row.cells, is_there),
      "cells=", row.cells.size(), " corners (no triangles of a mesh of ", points, " points)");
  name_channels(row.input_channels, row.input.size() / points);
  name_channels(row.output_channels, row.solution.size() / points);
  require<DataError>(row.x.size() == lines, "x=", row.x.size(), " coordinates (the axes of shape ",
                     shape_in_words(row.shape), " have ", lines, ")");
  if (row.query.empty() && !row.target && axes == 1) row.query = {row.x[row.x.size() / 2]};
  require<DataError>(row.query.empty() || row.query.size() == axes, "query=", row.query.size(),
                     " coordinates (the grid has ", axes, " axes)");
  require<DataError>(row.input.size() == points * row.input_channels.size(), "input=", row.input.size(), " values (",
                     row.input_channels.size(), " channels of ", points, " points)");
  for (const auto* output : {&row.solution, &row.prediction}) {
    require<DataError>(output->size() == points * row.output_channels.size(),
                       output == &row.solution ? "solution=" : "prediction=", output->size(), " values (",
                       row.output_channels.size(), " channels of ", points, " points)");
  }
  require<DataError>(row.query_channel >= 0 && row.query_channel < static_cast<int>(row.output_channels.size()),
                     "query_channel=", row.query_channel, " (there are ", row.output_channels.size(), " channels)");
  require<DataError>(row.player_of.empty() || row.player_of.size() == points, "player_of=", row.player_of.size(),
                     " labels (the grid has ", points, " points)");
}

// What tells rows of one type apart.

auto key_of(const AttributionRow& row) {
  return std::tuple(row.pde, row.shape, row.players, row.sample, row.method, row.explainer, row.budget);
}
auto key_of(const ValuesRow& row) {
  return std::tuple(row.pde, row.shape, row.players, row.sample, row.method, row.explainer, row.budget);
}
auto key_of(const OperatorRow& row) { return std::tuple(row.pde, row.shape); }
auto key_of(const TrainingRow& row) { return std::tuple(row.pde, row.stage, row.explainer); }
auto key_of(const GamesRow& row) { return std::tuple(row.pde, row.shape, row.players); }
auto key_of(const DriftRow& row) { return std::tuple(row.pde, row.method, row.explainer, row.shape); }
auto key_of(const FieldsRow& row) { return std::tuple(row.pde, row.sample, row.shape, row.players()); }

/// Rows of one type in the order of their first appearance, the last one of a key.
template <typename T>
class Latest {
 public:
  /// Whether the row is of this type; then it is kept.
  bool take(const std::string& schema, const Json& json) {
    if (schema != T::schema) return false;
    T row;
    const json_row::Reader reader(json);
    fields(reader, row);
    complete(row);
    const std::size_t place = places_.emplace(key_of(row), rows_.size()).first->second;
    rows_.resize(std::max(rows_.size(), place + 1));
    rows_[place] = std::move(row);
    return true;
  }
  std::vector<T> rows() { return std::move(rows_); }

 private:
  std::map<decltype(key_of(std::declval<T>())), std::size_t> places_;
  std::vector<T> rows_;
};

/// The rows of a file of one row type, of which a last line cut short is left out; none when there is no such file.
template <typename Row>
std::vector<Row> read_rows(const std::filesystem::path& file) {
  std::vector<Row> rows;
  json_row::for_each_row(file, json_row::LastLine::is_dropped, "Remove the file, or choose another folder.",
                         [&](const std::string& schema, const Json& json) {
                           require<DataError>(schema == Row::schema, "row (is not an ", Row::schema, ")");
                           const json_row::Reader reader(json);
                           fields(reader, rows.emplace_back());
                         });
  return rows;
}

}  // namespace

std::int64_t FieldsRow::points() const {
  return on_mesh() ? static_cast<std::int64_t>(x.size()) / 2 : points_of(shape);
}

Mesh FieldsRow::mesh() const {
  const auto nodes = static_cast<std::size_t>(points());
  std::vector<double> places;
  for (std::size_t node = 0; node < nodes; ++node) places.insert(places.end(), {x[node], x[nodes + node]});
  return Mesh::of_cells(2, std::move(places), cells);
}

int FieldsRow::players() const {
  if (player_of.empty()) return static_cast<int>(points());
  return 1 + *std::max_element(player_of.begin(), player_of.end());
}

std::vector<double> coordinates_of(const Domain& domain) {
  std::vector<double> coordinates;
  if (!domain.is_grid()) {
    for (int axis = 0; axis < domain.dimension(); ++axis)
      for (std::int64_t point = 0; point < domain.points(); ++point)
        coordinates.push_back(domain.as_mesh().coordinate(point, axis));
    return coordinates;
  }
  for (const Axis& axis : domain.axes()) {
    for (int index = 0; index < axis.points; ++index) coordinates.push_back(axis.coordinate(index));
  }
  return coordinates;
}

FieldsRow fields_row(const Scenario& scenario, const FieldBatch& solution, const FieldBatch& prediction) {
  const Domain& domain = scenario.input.domain;
  FieldsRow row{.x = coordinates_of(domain),
                .input = scenario.input.values,
                .solution = solution.values,
                .prediction = prediction.values,
                .shape = domain.is_grid() ? domain.shape() : Resolution::own().numbers(),
                .query_channel = scenario.readout.terms().front().query.channel};
  if (scenario.readout.is_query()) {
    row.query = domain.position(scenario.readout.query().point);
  } else {
    row.target = scenario.readout.describe();
  }
  if (!domain.is_grid()) row.cells = domain.as_mesh().cells;
  if (scenario.partition.players != domain.points()) row.player_of = scenario.partition.player_of;
  return row;
}

ValuesRow in_float32(ValuesRow row) {
  const auto rounded = [](double value) {
    const auto narrow = static_cast<float>(value);
    if (!std::isnormal(narrow)) return value;
    std::array<char, 32> digits;
    const std::to_chars_result written =
        std::to_chars(digits.data(), digits.data() + digits.size(), narrow, std::chars_format::scientific);
    double shortest = value;
    std::from_chars(digits.data(), written.ptr, shortest);
    return shortest;
  };
  for (std::vector<double>* numbers : {&row.values, &row.standard_errors})
    std::ranges::transform(*numbers, numbers->begin(), rounded);
  return row;
}

std::vector<double> OperatorRow::defined_errors() const {
  std::vector<double> defined;
  for (const Measured& error : relative_errors) {
    if (error.value) defined.push_back(*error.value);
  }
  return defined;
}

std::int64_t points_of(const std::vector<int>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

bool is_own(const std::vector<int>& shape) { return Resolution(shape).is_own(); }

std::string shape_in_words(const std::vector<int>& shape) {
  if (is_own(shape)) return "its own mesh";
  std::string words;
  for (const int points : shape) words += message(words.empty() ? "" : " × ", points);
  return words;
}

/// A row of a program that leaves out what older rows leave out is written whole, and one that cannot be is not
/// written.
template <typename Row>
std::string to_json_line(Row row) {
  complete(row);
  json_row::Writer writer(Row::schema);
  fields(writer, row);
  return writer.line();
}

template std::string to_json_line(AttributionRow);
template std::string to_json_line(ValuesRow);
template std::string to_json_line(OperatorRow);
template std::string to_json_line(TrainingRow);
template std::string to_json_line(FieldsRow);
template std::string to_json_line(GamesRow);
template std::string to_json_line(DriftRow);
template std::string to_json_line(MethodRow);
template std::string to_json_line(HeldOutRow);

std::string schema_of(const std::string& line) {
  try {
    std::string schema;
    const Json json = json_row::row_of_line(line);
    json_row::Reader reader(json);
    reader("schema", schema);
    return schema;
  } catch (const DataError&) {
    return {};
  }
}

Results read_results(const std::filesystem::path& run) {
  std::tuple<Latest<AttributionRow>, Latest<ValuesRow>, Latest<OperatorRow>, Latest<TrainingRow>, Latest<FieldsRow>,
             Latest<DriftRow>, Latest<GamesRow>>
      found;
  const auto take = [&found](const std::string& schema, const Json& json) {
    const bool known = std::apply([&](auto&... of_type) { return (of_type.take(schema, json) || ...); }, found);
    require<DataError>(known, "schema=", schema, " (is not known to this program)");
  };
  for (const char* name : {"results.jsonl", "training.jsonl", "attributions.jsonl", "references.jsonl", "fields.jsonl"})
    json_row::for_each_row(file_of_rows(run, name), json_row::LastLine::is_a_row,
                           "Remove results.jsonl and run the command of the run again, or take a whole copy.", take);
  return std::apply([](auto&... of_type) { return Results{of_type.rows()...}; }, found);
}

std::vector<MethodRow> read_method_rows(const std::filesystem::path& file) { return read_rows<MethodRow>(file); }
std::vector<HeldOutRow> read_held_out_rows(const std::filesystem::path& file) { return read_rows<HeldOutRow>(file); }

}  // namespace opshap::runs
