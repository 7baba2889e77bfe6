#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "operators/golden.hpp"

namespace opshap {

/// The rows of reference_data/<table>.csv, which say which operator and which input. Throws DataError for another
/// version of the table.
inline std::vector<CsvRow> operator_golden_rows(const std::string& table) {
  return read_csv(OPSHAP_SOURCE_DIR "/reference_data/" + table + ".csv", {"first", "middle", "last", "mean", "l2"},
                  "# version 1");
}

/// The values of such a row.
inline networks::GoldenValues golden_values(const CsvRow& row) {
  return {.first = row.number("first"),
          .middle = row.number("middle"),
          .last = row.number("last"),
          .mean = row.number("mean"),
          .l2 = row.number("l2")};
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
