#include "core/csv.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"

namespace opshap {

namespace {

/// A line of the file with its cells; a cell in quotation marks may go over several lines.
struct CsvLine {
  std::size_t number = 0;
  std::vector<std::string> cells;
};

std::vector<CsvLine> csv_lines(std::string_view text, const std::string& file, std::size_t number) {
  std::vector<CsvLine> lines;
  CsvLine line{.number = number, .cells = {""}};
  bool quoted = false;
  const auto end_of_line = [&] {
    if (line.cells.back().ends_with('\r')) line.cells.back().pop_back();
    if (line.cells.size() > 1 || !line.cells.front().empty()) lines.push_back(line);
    line = {.number = ++number, .cells = {""}};
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    std::string& cell = line.cells.back();
    if (letter == '"' && quoted && at + 1 < text.size() && text[at + 1] == '"') {
      cell += text[++at];
    } else if (letter == '"') {
      quoted = !quoted;
    } else if (letter == ',' && !quoted) {
      line.cells.emplace_back();
    } else if (letter == '\n' && !quoted) {
      end_of_line();
    } else {
      number += letter == '\n';
      cell += letter;
    }
  }
  require<DataError>(!quoted, "csv: path=", file, ":", line.number,
                     " (a quotation mark is never closed). Make the file again.");
  end_of_line();
  return lines;
}

}  // namespace

const std::string& CsvRow::text(std::string_view column) const {
  const auto found = heading_->place_of.find(column);
  return cells_[found != heading_->place_of.end() ? found->second : heading_->place_of.at(std::string(column))];
}

double CsvRow::number(std::string_view column, char until) const {
  const std::string_view cell = text(column);
  const auto found = number_of<double>(until == '\0' ? cell : cell.substr(0, cell.find(until)));
  if (!found || !std::isfinite(*found)) refuse(column, "is not a finite number");
  return *found;
}

std::int64_t CsvRow::whole(std::string_view column) const {
  const auto found = number_of<std::int64_t>(text(column));
  if (!found) refuse(column, "is not a whole number");
  return *found;
}

void CsvRow::refuse(std::string_view column, std::string_view why) const {
  throw DataError(message("csv: path=", heading_->file, ":", line_, ", column=", column, ", value=", text(column), " (",
                          why, "). Make the file again."));
}

std::vector<CsvRow> parse_csv(std::string_view text, const std::string& file, const std::vector<std::string>& columns,
                              std::string_view version) {
  std::size_t first = 1;
  if (!version.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    require<DataError>(text.starts_with(version), "csv: path=", file, ":1, line=", text.substr(0, end),
                       " (has to begin with ", version, "). Make the file again, by the same version of the sources.");
    text.remove_prefix(std::min(end + 1, text.size()));
    ++first;
  }
  const std::vector<CsvLine> lines = csv_lines(text, file, first);
  const auto heading = std::make_shared<CsvRow::Heading>();
  heading->file = file;
  const std::size_t width = lines.empty() ? 0 : lines.front().cells.size();
  for (std::size_t place = 0; place < width; ++place) heading->place_of[lines.front().cells[place]] = place;
  for (const std::string& column : columns)
    require<DataError>(heading->place_of.contains(column), "csv: path=", file, ", column=", column,
                       " (is not there). Make the file again.");
  std::vector<CsvRow> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    require<DataError>(lines[i].cells.size() == width, "csv: path=", file, ":", lines[i].number,
                       ", cells=", lines[i].cells.size(), " (the heading has ", width, "). Make the file again.");
    rows.emplace_back(heading, lines[i].number, lines[i].cells);
  }
  return rows;
}

std::vector<CsvRow> read_csv(const std::filesystem::path& file, const std::vector<std::string>& columns,
                             std::string_view version) {
  return parse_csv(read_file(file), file.string(), columns, version);
}

}  // namespace opshap
