#include "reporting/paper.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <vector>

#include "core/error.hpp"
#include "core/names.hpp"
#include "reporting/csv.hpp"
#include "reporting/embedded.hpp"

namespace opshap::reporting {

namespace {

/// The rows below the version and the heading, each with as many cells as the heading.
std::vector<std::vector<std::string>> csv_rows(std::string_view file, std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line;
  std::getline(lines, line);
  require<DataError>(line == "version,1", file, ": version=", line,
                     " (expected version,1). Build the program from one source tree.");
  std::getline(lines, line);
  const std::size_t columns = csv_cells(line).size();
  std::vector<std::vector<std::string>> rows;
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    rows.push_back(csv_cells(line));
    require<DataError>(rows.back().size() == columns, file, ": line=", line, " (has not ", columns,
                       " columns). Restore reference_data/", file, ".");
  }
  return rows;
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

const std::vector<std::vector<std::string>>& problem_rows() {
  static const std::vector<std::vector<std::string>> rows = csv_rows("paper_problems.csv", embedded::paper_problems);
  return rows;
}

/// A cell of the table of the paper's problems; empty for a PDE that is not in it.
std::string_view of_problem(std::string_view pde, std::size_t column) {
  const auto& rows = problem_rows();
  const auto found = std::find_if(rows.begin(), rows.end(), [pde](const auto& row) { return row[0] == pde; });
  return found == rows.end() ? std::string_view() : std::string_view((*found)[column]);
}

}  // namespace

const PaperSentence& paper_sentence(std::string_view id) {
  static const std::map<std::string, PaperSentence, std::less<>> sentences = [] {
    std::map<std::string, PaperSentence, std::less<>> table;
    for (const auto& row : csv_rows("paper_sentences.csv", embedded::paper_sentences))
      table[row[0]] = {.id = row[0], .where = row[2] + " (LaTeX line " + row[1] + ")", .sentence = row[3]};
    return table;
  }();
  return entry(sentences, "sentence of the paper", id);
}

double paper_constant(std::string_view name) {
  static const std::map<std::string, double, std::less<>> constants = [] {
    std::map<std::string, double, std::less<>> table;
    for (const auto& row : csv_rows("paper_constants.csv", embedded::paper_constants))
      table[row[0]] = std::strtod(row[1].c_str(), nullptr);
    return table;
  }();
  return entry(constants, "constant of the paper", name);
}

std::vector<std::string> paper_problems() {
  std::vector<std::string> names;
  for (const auto& row : problem_rows()) names.push_back(row[0]);
  return names;
}

std::string_view paper_label(std::string_view pde) { return of_problem(pde, 4); }

std::string_view paper_domain(std::string_view pde) { return of_problem(pde, 3); }

const std::vector<DataRemark>& data_remarks() {
  static const std::vector<DataRemark> remarks = [] {
    std::vector<DataRemark> table;
    for (const auto& row : csv_rows("paper_data_remarks.csv", embedded::paper_data_remarks)) {
      std::istringstream names(row[0]);
      for (std::string pde; names >> pde;)
        table.push_back({.pde = pde, .finding = row[1] == "finding", .subject = row[2], .text = row[3]});
    }
    return table;
  }();
  return remarks;
}

const std::vector<PaperCell>& paper_quality() {
  static const std::vector<PaperCell> cells = [] {
    std::vector<PaperCell> table;
    for (const auto& row : csv_rows("paper_quality.csv", embedded::paper_quality)) {
      const char* inputs = paper_domain(row[0]) == "mesh" ? "mesh_test_inputs" : "test_inputs";
      table.push_back({.pde = row[0],
                       .players = std::atoi(row[1].c_str()),
                       .method = row[2],
                       .metric = row[3],
                       .quartiles = {.q25 = std::strtod(row[5].c_str(), nullptr),
                                     .median = std::strtod(row[4].c_str(), nullptr),
                                     .q75 = std::strtod(row[6].c_str(), nullptr),
                                     .count = static_cast<std::size_t>(paper_constant(inputs))},
                       .tex_line = std::atoi(row[7].c_str())});
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
