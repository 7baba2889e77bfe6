#include "reporting/results.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "reporting/json_row.hpp"

namespace opshap::reporting {

namespace {

using Json = nlohmann::ordered_json;
using json_row::finite;
using json_row::Row;
using json_row::to_json;

/// Rows of one kind in the order of their first appearance, the last one of a key.
template <typename Key, typename T>
class Latest {
 public:
  void put(Key key, T&& row) {  // by reference: a key made of the row is read before the row is moved from
    const auto [place, fresh] = places_.emplace(std::move(key), rows_.size());
    if (fresh) {
      rows_.push_back(std::move(row));
    } else {
      rows_[place->second] = std::move(row);
    }
  }
  std::vector<T> take() { return std::move(rows_); }

 private:
  std::map<Key, std::size_t> places_;
  std::vector<T> rows_;
};

class Reader {
 public:
  void read(const std::filesystem::path& file) {
    if (!std::filesystem::exists(file)) return;
    std::istringstream lines(read_file(file));
    std::int64_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.empty()) continue;
      try {
        const Json json = Json::parse(line, nullptr, false);
        require<DataError>(json.is_object(), "row (is not a JSON object)");
        add(json);
      } catch (const DataError& error) {
        throw DataError(
            message(file.string(), ":", number, ": ", error.what(), ". Run the evaluation again, or remove the line."));
      }
    }
  }

  Results take() { return {attributions_.take(), values_.take(), operators_.take(), training_.take(), fields_.take()}; }

 private:
  void add(const Json& json) {
    const Row row(json);
    std::string schema;
    row.read("schema", schema);
    if (schema == "opshap.attribution/1") {
      add_attribution(row);
    } else if (schema == "opshap.values/1") {
      add_values(row);
    } else if (schema == "opshap.operator/1") {
      OperatorRow found;
      row.read("pde", found.pde);
      row.read("points", found.points);
      row.read("relative_errors", found.relative_errors);
      operators_.put({found.pde, found.points}, std::move(found));
    } else if (schema == "opshap.training/1") {
      add_training(row);
    } else if (schema == "opshap.fields/1") {
      add_fields(row);
    } else {
      throw DataError(message("schema=", schema, " (is not known to this program)"));
    }
  }

  void add_attribution(const Row& row) {
    AttributionRow found;
    row.read("pde", found.pde);
    row.read("players", found.players);
    row.read("sample", found.sample);
    row.read("method", found.method);
    row.read("access", found.access);
    row.read("budget", found.budget);
    row.read("distinct", found.distinct);
    row.read("evaluations", found.evaluations);
    row.read("gradients", found.gradients);
    row.read("seed", found.seed);
    row.read("game_seconds", found.game_seconds);
    row.read("estimator_seconds", found.estimator_seconds);
    row.read("pearson", found.pearson);
    row.read("nrmse", found.nrmse);
    row.read("r2", found.r2);
    row.read("efficiency_gap", found.efficiency_gap);
    row.read("reference", found.reference);
    row.read("reference_error", found.reference_error);
    row.read("reference_evaluations", found.reference_evaluations);
    attributions_.put({found.pde, found.players, found.sample, found.method, found.budget}, std::move(found));
  }

  void add_values(const Row& row) {
    ValuesRow found;
    row.read("pde", found.pde);
    row.read("players", found.players);
    row.read("sample", found.sample);
    row.read("method", found.method);
    row.read("budget", found.budget);
    row.read("empty", found.empty);
    row.read("grand", found.grand);
    row.read("values", found.values);
    row.read("standard_errors", found.standard_errors);
    require<DataError>(found.values.size() == static_cast<std::size_t>(found.players), "values=", found.values.size(),
                       " (there are ", found.players, " players)");
    require<DataError>(found.standard_errors.empty() || found.standard_errors.size() == found.values.size(),
                       "standard_errors=", found.standard_errors.size(), " (there are ", found.players, " players)");
    values_.put({found.pde, found.players, found.sample, found.method, found.budget}, std::move(found));
  }

  void add_training(const Row& row) {
    TrainingRow found;
    row.read("pde", found.pde);
    row.read("stage", found.stage);
    row.read("epochs", found.epochs);
    row.read("best_epoch", found.best_epoch);
    row.read("best_validation", found.best_validation);
    row.read("operator_evaluations", found.operator_evaluations);
    row.read("seconds", found.seconds);
    training_.put({found.pde, found.stage}, std::move(found));
  }

  void add_fields(const Row& row) {
    FieldsRow found;
    row.read("pde", found.pde);
    row.read("sample", found.sample);
    row.read("x", found.x);
    row.read("input", found.input);
    row.read("solution", found.solution);
    row.read("prediction", found.prediction);
    require<DataError>(found.input.size() == found.x.size() && found.solution.size() == found.x.size() &&
                           found.prediction.size() == found.x.size(),
                       "x=", found.x.size(), " points (the fields have other lengths)");
    fields_.put({found.pde, found.sample, found.x.size()}, std::move(found));
  }

  Latest<std::tuple<std::string, int, std::int64_t, std::string, std::optional<std::int64_t>>, AttributionRow>
      attributions_;
  Latest<std::tuple<std::string, int, std::int64_t, std::string, std::optional<std::int64_t>>, ValuesRow> values_;
  Latest<std::pair<std::string, int>, OperatorRow> operators_;
  Latest<std::pair<std::string, std::string>, TrainingRow> training_;
  Latest<std::tuple<std::string, std::int64_t, std::size_t>, FieldsRow> fields_;
};

}  // namespace

std::string to_json_line(const AttributionRow& row) {
  return Json{{"schema", "opshap.attribution/1"},
              {"pde", row.pde},
              {"players", row.players},
              {"sample", row.sample},
              {"method", row.method},
              {"access", row.access},
              {"budget", to_json(row.budget)},
              {"distinct", row.distinct},
              {"evaluations", row.evaluations},
              {"gradients", row.gradients},
              {"seed", row.seed},
              {"game_seconds", finite("game_seconds", row.game_seconds)},
              {"estimator_seconds", finite("estimator_seconds", row.estimator_seconds)},
              {"pearson", to_json(row.pearson)},
              {"nrmse", to_json(row.nrmse)},
              {"r2", to_json(row.r2)},
              {"efficiency_gap", to_json(row.efficiency_gap)},
              {"reference", row.reference},
              {"reference_error", finite("reference_error", row.reference_error)},
              {"reference_evaluations", row.reference_evaluations}}
      .dump();
}

std::string to_json_line(const ValuesRow& row) {
  return Json{{"schema", "opshap.values/1"},
              {"pde", row.pde},
              {"players", row.players},
              {"sample", row.sample},
              {"method", row.method},
              {"budget", to_json(row.budget)},
              {"empty", finite("empty", row.empty)},
              {"grand", finite("grand", row.grand)},
              {"values", finite("values", row.values)},
              {"standard_errors", finite("standard_errors", row.standard_errors)}}
      .dump();
}

std::string to_json_line(const OperatorRow& row) {
  return Json{{"schema", "opshap.operator/1"},
              {"pde", row.pde},
              {"points", row.points},
              {"relative_errors", finite("relative_errors", row.relative_errors)}}
      .dump();
}

std::string to_json_line(const TrainingRow& row) {
  return Json{{"schema", "opshap.training/1"},
              {"pde", row.pde},
              {"stage", row.stage},
              {"epochs", row.epochs},
              {"best_epoch", row.best_epoch},
              {"best_validation", finite("best_validation", row.best_validation)},
              {"operator_evaluations", row.operator_evaluations},
              {"seconds", finite("seconds", row.seconds)}}
      .dump();
}

std::string to_json_line(const FieldsRow& row) {
  return Json{{"schema", "opshap.fields/1"},
              {"pde", row.pde},
              {"sample", row.sample},
              {"x", finite("x", row.x)},
              {"input", finite("input", row.input)},
              {"solution", finite("solution", row.solution)},
              {"prediction", finite("prediction", row.prediction)}}
      .dump();
}

const Measured& score(const AttributionRow& row, std::string_view metric) {
  if (metric == "pearson") return row.pearson;
  if (metric == "nrmse") return row.nrmse;
  if (metric == "r2") return row.r2;
  if (metric == "efficiency_gap") return row.efficiency_gap;
  throw_unknown_name("metric", metric, {"pearson", "nrmse", "r2", "efficiency_gap"});
}

Results read_results(const std::filesystem::path& run) {
  Reader reader;
  for (const char* file : {"results.jsonl", "training.jsonl", "attributions.jsonl", "fields.jsonl"})
    reader.read(run / file);
  return reader.take();
}

}  // namespace opshap::reporting
