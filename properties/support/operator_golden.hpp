#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "operators/golden.hpp"

namespace opshap {

/// A row of a table of golden values.
struct OperatorGoldenRow {
  std::map<std::string, std::string> columns;  ///< those that say which operator and which input
  networks::GoldenValues values;

  int number(const std::string& column) const { return std::stoi(columns.at(column)); }
};

/// The rows of reference_data/<table>.csv. Throws DataError for another version of the table.
inline std::vector<OperatorGoldenRow> operator_golden_rows(const std::string& table) {
  std::istringstream lines(read_file(OPSHAP_SOURCE_DIR "/reference_data/" + table + ".csv"));
  const auto cells = [](const std::string& line) {
    std::istringstream text(line);
    std::vector<std::string> found;
    for (std::string cell; std::getline(text, cell, ',');) found.push_back(cell);
    return found;
  };
  std::string line;
  std::getline(lines, line);
  require<DataError>(line.starts_with("# version 1"), table, ".csv: ", line, " (expected version 1). Update the test.");
  std::getline(lines, line);
  const std::vector<std::string> names = cells(line);
  std::vector<OperatorGoldenRow> rows;
  while (std::getline(lines, line)) {
    OperatorGoldenRow row;
    const std::vector<std::string> entries = cells(line);
    for (std::size_t i = 0; i < names.size(); ++i) row.columns[names[i]] = entries.at(i);
    const auto take = [&](const std::string& column) { return std::stod(row.columns.extract(column).mapped()); };
    row.values = {
        .first = take("first"), .middle = take("middle"), .last = take("last"), .mean = take("mean"), .l2 = take("l2")};
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The worst relative error of the five numbers.
inline double relative_error(const networks::GoldenValues& expected, const networks::GoldenValues& found) {
  const auto relative = [](double a, double b) { return std::abs(a - b) / std::abs(a); };
  return std::max({relative(expected.first, found.first), relative(expected.middle, found.middle),
                   relative(expected.last, found.last), relative(expected.mean, found.mean),
                   relative(expected.l2, found.l2)});
}

/// ‖a − b‖/‖a‖.
inline double l2_distance(const std::vector<double>& a, const std::vector<double>& b) {
  require(a.size() == b.size(), "l2_distance: sizes=", a.size(), " and ", b.size(), " (differ). Compare equal shapes.");
  double sum = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
    scale += a[i] * a[i];
  }
  return std::sqrt(sum / scale);
}

}  // namespace opshap
