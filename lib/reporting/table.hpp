#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reporting/html.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::reporting {

/// A table of texts, for Markdown, CSV and HTML alike.
struct Table {
  std::string name;     ///< file name without extension
  std::string caption;  ///< one sentence or two: what is shown, and how to read it
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes = {};  ///< sentences below the rows, in Markdown and HTML: what a cell has no room for

  /// Throws std::logic_error unless the row has a cell a column and none of them is empty: what is missing is said in
  /// words.
  void add(std::vector<std::string> row);
  std::string markdown() const;
  /// A table of LaTeX with the rules of package booktabs, and the label `tab:<name>`; one of more than 40 rows is a
  /// longtable, which goes over pages. All text is escaped. Characters outside ASCII that our tables use become
  /// commands, other ones stay as they are and need an engine that reads them.
  std::string latex() const;
  std::string csv() const;
  /// In a box that scrolls by itself when the table is wider than the page. On a narrow page a table of more than four
  /// columns stands row by row, each cell beside its heading.
  Html html() const;
  /// html() below the caption; of a table without rows the caption and "Not in this run."
  Html html_with_caption() const;
};

/// A column of a table whose rows are made of things of one kind: its heading, and what it says of a thing.
template <typename Thing>
struct ColumnOf {
  std::string heading;
  std::function<std::string(const Thing& thing)> cell;
  bool number = false;  ///< as in Column
};

/// A table with a row for each of the things. Throws as Table::add().
template <typename Thing>
Table table_of(std::string name, std::string caption, const std::vector<Thing>& things,
               const std::vector<ColumnOf<std::type_identity_t<Thing>>>& columns) {
  Table table{.name = std::move(name), .caption = std::move(caption), .columns = {}, .rows = {}};
  for (const auto& column : columns) table.columns.push_back({column.heading, column.number});
  for (const Thing& thing : things) {
    std::vector<std::string> row;
    for (const auto& column : columns) row.push_back(column.cell(thing));
    table.add(std::move(row));
  }
  return table;
}

/// What `say` says of the things, one after the other; things of which it says nothing are left out.
template <typename Things, typename Say>
std::string listing(const Things& things, const Say& say, std::string_view between = ", ") {
  std::string words;
  for (const auto& thing : things) {
    const std::string said = std::invoke(say, thing);
    if (!words.empty() && !said.empty()) words += between;
    words += said;
  }
  return words;
}

/// "0.138"; three decimals like the paper, or three significant digits from 10 on, or two where three decimals show too
/// little: "29.0", "0.0050", "0.00025", and "2.5e-05" from there on.
std::string show(double value);
/// "0.138 [0.110, 0.192]".
std::string show(const statistics::Quartiles& quartiles);
/// show() of the quartiles, or the reason why there are none.
std::string show(const std::optional<statistics::Quartiles>& quartiles, std::string_view otherwise);
/// "12 345 678", with narrow spaces.
std::string show_count(double count);
/// "0.42 ms", "3.1 s", "2 min 05 s".
std::string show_seconds(double seconds);

}  // namespace opshap::reporting
