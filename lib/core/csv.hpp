#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opshap {

/// A row of a table in CSV. Every cell is asked for by the heading of its column; a heading that the file was not read
/// for, and that it does not have, is a std::out_of_range.
class CsvRow {
 public:
  const std::string& text(std::string_view column) const;
  /// The finite number that is all of the cell. With `until`, of the part of the cell before the first such letter.
  /// Throws DataError with file, line and column.
  double number(std::string_view column, char until = '\0') const;
  /// The same of a whole number.
  std::int64_t whole(std::string_view column) const;

  /// What all rows of a file share.
  struct Heading {
    std::string file;
    std::map<std::string, std::size_t, std::less<>> place_of;
  };
  CsvRow(std::shared_ptr<const Heading> heading, std::size_t line, std::vector<std::string> cells)
      : heading_(std::move(heading)), line_(line), cells_(std::move(cells)) {}

 private:
  [[noreturn]] void refuse(std::string_view column, std::string_view why) const;

  std::shared_ptr<const Heading> heading_;
  std::size_t line_;
  std::vector<std::string> cells_;
};

/// The rows below the heading. Cells are separated by commas. A cell in quotation marks may hold commas, line breaks
/// and, written twice, quotation marks. Empty lines count for nothing.
///
/// With `version` the first line has to begin with it, and the heading stands in the second one. Throws DataError for
/// another version, for a heading that has not all of these columns, for a row with another number of cells than the
/// heading, and for a quotation mark that is never closed.
std::vector<CsvRow> read_csv(const std::filesystem::path& file, const std::vector<std::string>& columns,
                             std::string_view version = {});

/// read_csv() of a text; messages call it `file`.
std::vector<CsvRow> parse_csv(std::string_view text, const std::string& file, const std::vector<std::string>& columns,
                              std::string_view version = {});

}  // namespace opshap
