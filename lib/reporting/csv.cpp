#include "reporting/csv.hpp"

#include <algorithm>
#include <sstream>

#include "core/error.hpp"
#include "core/file.hpp"

namespace opshap::reporting {

std::vector<std::string> csv_cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char letter : line) {
    if (letter == '"') {
      quoted = !quoted;
    } else if (letter == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += letter;
    }
  }
  return cells;
}

std::vector<CsvRow> read_csv(const std::filesystem::path& file, const std::vector<std::string>& columns) {
  std::istringstream lines(read_file(file));
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> headings = csv_cells(line);
  for (const std::string& column : columns) {
    require<DataError>(std::find(headings.begin(), headings.end(), column) != headings.end(),
                       "csv: path=", file.string(), ", column=", column, " (is not there). Make the file again.");
  }
  std::vector<CsvRow> rows;
  for (int number = 2; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    const std::vector<std::string> cells = csv_cells(line);
    require<DataError>(cells.size() == headings.size(), "csv: path=", file.string(), ":", number,
                       ", cells=", cells.size(), " (the heading has ", headings.size(), "). Make the file again.");
    CsvRow& row = rows.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) row[headings[i]] = cells[i];
  }
  return rows;
}

}  // namespace opshap::reporting
