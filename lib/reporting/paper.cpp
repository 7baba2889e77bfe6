#include "reporting/paper.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/names.hpp"
#include "reporting/embedded.hpp"

namespace opshap::reporting {

namespace {

/// The rows of a table of reference_data/ that is compiled into the program.
std::vector<CsvRow> embedded_rows(std::string_view text, const char* name, const std::vector<std::string>& columns) {
  return parse_csv(text, std::string("reference_data/") + name, columns, "version,1");
}

template <typename T>
const T& entry(const std::map<std::string, T, std::less<>>& table, std::string_view what, std::string_view name) {
  const auto found = table.find(name);
  if (found != table.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, value] : table) names.push_back(known);
  throw InvalidArgument(message(what, ": name=", name, " (is not in reference_data).", suggestion(name, names)));
}

/// What the cells of the result table have in one column, each once, in the order of the table.
std::vector<std::string> column_of_quality(std::string PaperCell::*column) {
  std::vector<std::string> found;
  for (const PaperCell& cell : paper_quality()) {
    if (std::find(found.begin(), found.end(), cell.*column) == found.end()) found.push_back(cell.*column);
  }
  return found;
}

const std::vector<CsvRow>& problem_rows() {
  static const std::vector<CsvRow> rows =
      embedded_rows(embedded::paper_problems, "paper_problems.csv", {"pde", "domain", "label"});
  return rows;
}

/// A cell of the table of the paper's problems; empty for a PDE that is not in it.
std::string_view of_problem(std::string_view pde, std::string_view column) {
  const auto& rows = problem_rows();
  const auto found = std::ranges::find_if(rows, [pde](const CsvRow& row) { return row.text("pde") == pde; });
  return found == rows.end() ? std::string_view() : std::string_view(found->text(column));
}

}  // namespace

const PaperSentence& paper_sentence(std::string_view id) {
  static const std::map<std::string, PaperSentence, std::less<>> sentences = [] {
    std::map<std::string, PaperSentence, std::less<>> table;
    for (const CsvRow& row :
         embedded_rows(embedded::paper_sentences, "paper_sentences.csv", {"id", "tex_line", "where", "sentence"})) {
      table[row.text("id")] = {.where = message(row.text("where"), " (LaTeX line ", row.whole("tex_line"), ")"),
                               .sentence = row.text("sentence")};
    }
    return table;
  }();
  return entry(sentences, "sentence of the paper", id);
}

double paper_constant(std::string_view name) {
  static const std::map<std::string, double, std::less<>> constants = [] {
    std::map<std::string, double, std::less<>> table;
    for (const CsvRow& row : embedded_rows(embedded::paper_constants, "paper_constants.csv", {"name", "value"}))
      table[row.text("name")] = row.number("value");
    return table;
  }();
  return entry(constants, "constant of the paper", name);
}

std::vector<std::string> paper_problems() {
  std::vector<std::string> names;
  for (const CsvRow& row : problem_rows()) names.push_back(row.text("pde"));
  return names;
}

std::string_view paper_label(std::string_view pde) { return of_problem(pde, "label"); }

std::string_view paper_domain(std::string_view pde) { return of_problem(pde, "domain"); }

const std::vector<DataRemark>& data_remarks() {
  static const std::vector<DataRemark> remarks = [] {
    std::vector<DataRemark> table;
    for (const CsvRow& row :
         embedded_rows(embedded::paper_data_remarks, "paper_data_remarks.csv", {"pde", "kind", "subject", "text"})) {
      const std::string& kind = row.text("kind");
      DataRemark remark{.finding = kind == "finding", .subject = row.text("subject"), .text = row.text("text")};
      std::istringstream names(row.text("pde"));
      if (kind == "standing") table.push_back(remark);
      while (kind != "standing" && names >> remark.pde) table.push_back(remark);
    }
    return table;
  }();
  return remarks;
}

std::vector<std::pair<std::string, std::string>> standing_differences(std::string_view pde) {
  std::vector<std::pair<std::string, std::string>> differences;
  for (const std::string_view of : {pde, std::string_view()}) {
    for (const DataRemark& remark : data_remarks()) {
      if (remark.pde == of) differences.emplace_back(remark.subject, remark.text);
    }
  }
  return differences;
}

const std::vector<PaperCell>& paper_quality() {
  static const std::vector<PaperCell> cells = [] {
    std::vector<PaperCell> table;
    for (const CsvRow& row :
         embedded_rows(embedded::paper_quality, "paper_quality.csv",
                       {"pde", "players", "method", "metric", "median", "q25", "q75", "tex_line"})) {
      const char* inputs = paper_domain(row.text("pde")) == "mesh" ? "mesh_test_inputs" : "test_inputs";
      table.push_back({.pde = row.text("pde"),
                       .players = static_cast<int>(row.whole("players")),
                       .method = row.text("method"),
                       .metric = row.text("metric"),
                       .quartiles = {.q25 = row.number("q25"),
                                     .median = row.number("median"),
                                     .q75 = row.number("q75"),
                                     .count = static_cast<std::size_t>(paper_constant(inputs))},
                       .tex_line = static_cast<int>(row.whole("tex_line"))});
    }
    return table;
  }();
  return cells;
}

const PaperCell* find(const std::vector<PaperCell>& cells, std::string_view pde, int players, std::string_view method,
                      std::string_view metric) {
  const auto found = std::find_if(cells.begin(), cells.end(), [&](const PaperCell& cell) {
    return cell.pde == pde && cell.players == players && cell.method == method && cell.metric == metric;
  });
  return found == cells.end() ? nullptr : &*found;
}

std::vector<std::string> paper_methods() {
  std::vector<std::string> methods = column_of_quality(&PaperCell::method);
  std::reverse(methods.begin(), methods.end());  // the paper's own method is its last column
  return methods;
}

std::vector<std::string> paper_metrics() { return column_of_quality(&PaperCell::metric); }

}  // namespace opshap::reporting
