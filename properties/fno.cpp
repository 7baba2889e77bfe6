// The Fourier neural operator against golden values, a direct Fourier sum, and itself.

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "operators/golden.hpp"

namespace opshap {
namespace {

struct GoldenRow {
  std::string id;
  OperatorConfig config;
  std::vector<std::int64_t> input_shape;
  GoldenValues values;
};

std::vector<GoldenRow> golden_table() {
  std::istringstream lines(read_file(OPSHAP_SOURCE_DIR "/reference_data/fno_golden.csv"));
  std::string line, cell;
  std::getline(lines, line);
  require<DataError>(line.starts_with("# version 1"), "fno_golden.csv: ", line,
                     " (expected version 1). Update the test.");
  std::getline(lines, line);
  std::vector<GoldenRow> rows;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    while (std::getline(cells, cell, ',')) row.push_back(cell);
    const std::size_t axes = row.at(1) == "1" ? 1 : 2;
    GoldenRow golden{.id = row.at(0), .config = {}, .input_shape = {std::stoi(row.at(3)), 1}, .values = {}};
    golden.config.n_modes.assign(axes, 16);
    golden.config.domain_padding_mode = row.at(2);
    golden.input_shape.insert(golden.input_shape.end(), axes, std::stoi(row.at(4)));
    golden.values = {.first = std::stod(row.at(5)),
                     .middle = std::stod(row.at(6)),
                     .last = std::stod(row.at(7)),
                     .mean = std::stod(row.at(8)),
                     .l2 = std::stod(row.at(9))};
    rows.push_back(golden);
  }
  return rows;
}

TEST(GoldenNumbers, AreTheOnesOfTheFormula) {
  EXPECT_DOUBLE_EQ(0.76662161642728521, golden_number(0, 0));
  EXPECT_DOUBLE_EQ(0.13312315034456179, golden_number(0, 1));
  EXPECT_DOUBLE_EQ(0.18237946839615882, golden_number(0, 2));
  EXPECT_DOUBLE_EQ(0.7353710165340428, golden_number(1000, 0));
  EXPECT_DOUBLE_EQ(-0.33009477833339873, golden_number(1000, 1));
}

TEST(Fno, GivesTheGoldenValuesInDoublePrecision) {
  const auto table = golden_table();
  ASSERT_EQ(6U, table.size());
  constexpr double digits = 1e-8;  // relative; the table has ten digits, of which the last is rounded
  for (const GoldenRow& row : table) {
    const GoldenValues found = golden_values(row.config, row.input_shape, Precision::float64);
    EXPECT_NEAR(row.values.first, found.first, digits * std::abs(row.values.first)) << row.id;
    EXPECT_NEAR(row.values.middle, found.middle, digits * std::abs(row.values.middle)) << row.id;
    EXPECT_NEAR(row.values.last, found.last, digits * std::abs(row.values.last)) << row.id;
    EXPECT_NEAR(row.values.mean, found.mean, digits * std::abs(row.values.mean)) << row.id;
    EXPECT_NEAR(row.values.l2, found.l2, digits * row.values.l2) << row.id;
  }
}

}  // namespace
}  // namespace opshap
