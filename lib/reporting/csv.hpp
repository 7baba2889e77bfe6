#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace opshap::reporting {

/// A row of a table in CSV: cells by the headings of their columns. Cells are separated by commas, and one in quotation
/// marks may hold commas. A cell holds no quotation mark and no line break.
using CsvRow = std::map<std::string, std::string, std::less<>>;

/// The cells of one line.
std::vector<std::string> csv_cells(const std::string& line);

/// The rows below the heading. Throws DataError when the file has not all of these columns, and for a line with another
/// number of cells than the heading.
std::vector<CsvRow> read_csv(const std::filesystem::path& file, const std::vector<std::string>& columns);

}  // namespace opshap::reporting
