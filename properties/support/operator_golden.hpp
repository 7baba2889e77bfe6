#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/field.hpp"
#include "core/measured.hpp"
#include "core/operator.hpp"
#include "data/npy.hpp"
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
  return distance(a, b) / norm(a);
}

/// The fields <prefix>input.npy [B, C, points...] of reference_data/.
inline FieldBatch stored_input(const std::string& prefix) {
  const std::string file = OPSHAP_SOURCE_DIR "/reference_data/" + prefix + "input.npy";
  const data::NpyArray stored = data::read_npy(file);
  return {.domain = Domain::unit(std::vector<int>(stored.shape.begin() + 2, stored.shape.end())),
          .batch = stored.shape[0],
          .channels = static_cast<int>(stored.shape[1]),
          .values = stored.reals(file)};
}

/// What the reference computed from them.
inline std::vector<double> stored_output(const std::string& prefix) {
  const std::string file = OPSHAP_SOURCE_DIR "/reference_data/" + prefix + "output.npy";
  return data::read_npy(file).reals(file);
}

/// How far an operator is from that, relative L2.
inline double distance_from_reference(const Operator& op, const std::string& prefix) {
  return l2_distance(stored_output(prefix), op.apply(stored_input(prefix)).values);
}

}  // namespace opshap
