// Logarithmic axes can be read: whatever their range, they have a tick in it.

#include "reporting/axes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using reporting::LogRange;
using reporting::TickLabels;

LogRange range_of(double low, double high) {
  LogRange range;
  range.include(low);
  range.include(high);
  return range;
}

/// The values at which the commands set ticks: "'2 ms' 0.002".
std::vector<double> ticks_of(const std::string& commands) {
  static const std::regex tick("'[^']+' ([^,)]+)");
  std::vector<double> ticks;
  for (std::sregex_iterator match(commands.begin(), commands.end(), tick), end; match != end; ++match)
    ticks.push_back(std::stod((*match)[1]));
  return ticks;
}

/// The labels of the ticks: "2 ms".
std::vector<std::string> labels_of(const std::string& commands) {
  static const std::regex tick("'([^']+)' [^,)]+");
  std::vector<std::string> labels;
  for (std::sregex_iterator match(commands.begin(), commands.end(), tick), end; match != end; ++match)
    labels.push_back((*match)[1]);
  return labels;
}

/// "2·10⁻³", and not "10".
bool has_power(const std::string& label) {
  static constexpr const char* raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹", "⁻"};
  return std::ranges::any_of(raised, [&](const char* digit) { return label.find(digit) != std::string::npos; });
}

/// The number that a label says.
double value_of(std::string label) {
  static constexpr const char* raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (!has_power(label)) return std::stod(label);
  for (int digit = 0; digit < 10; ++digit)
    label = std::regex_replace(label, std::regex(raised[digit]), std::to_string(digit));
  label = std::regex_replace(label, std::regex("⁻"), "-");
  std::smatch parts;
  EXPECT_TRUE(std::regex_match(label, parts, std::regex("(?:([-0-9.]+)·)?10(-?[0-9]+)"))) << label;
  return std::stod((parts[1].matched ? parts[1].str() : "1") + "e" + parts[2].str());
}

/// Plain decimals from 0.001 to 1000, powers of ten for the whole axis where a tick is outside.
void expect_one_notation(const std::string& commands) {
  const std::vector<double> ticks = ticks_of(commands);
  const std::vector<std::string> labels = labels_of(commands);
  const bool outside = std::ranges::any_of(ticks, [](double tick) {
    return tick != 0 && (std::abs(tick) < 0.001 * (1 - 1e-9) || std::abs(tick) > 1000 * (1 + 1e-9));
  });
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    ASSERT_EQ(outside && ticks[i] != 0, has_power(labels[i])) << commands;
    // Labels and commands have six digits.
    ASSERT_EQ("", mismatch(ticks[i], value_of(labels[i]), rounding(1e-6 * 0x1p52, std::abs(ticks[i])))) << commands;
  }
}

// Steps of a five hundredth of a decade are finer than what the margins of a point leave beyond the finest ticks.
TEST(LogAxis, HasATickWhateverItsRange) {
  constexpr int steps = 500;
  for (const int decade : {-6, 0, 5}) {
    for (int step = 0; step < steps; ++step) {
      const double low = std::pow(10.0, decade + step / double{steps});
      for (const double width : {0.0, 0.05, 0.3, 1.0, 2.4, 6.0, 9.0}) {  // in decades
        const double high = low * std::pow(10.0, width);
        for (const TickLabels labels : {TickLabels::numbers, TickLabels::seconds}) {
          const std::vector<double> ticks = ticks_of(log_axis('x', range_of(low, high), labels));
          ASSERT_FALSE(ticks.empty()) << low << " to " << high;
          ASSERT_LE(ticks.size(), 9u) << "2.5 decades with three of each, or seven with one: " << low << " to " << high;
          // An axis is wider than its range by 6 % of its logarithm, at least by 15 %. Values have six digits.
          const double margin = std::max(1.15, std::pow(high / low, 0.06)) * (1 + 1e-5);
          for (const double tick : ticks) ASSERT_TRUE(tick >= low / margin && tick <= high * margin) << tick;
        }
      }
    }
  }
}

TEST(LogAxis, TakesRoundValuesWhereItCan) {
  EXPECT_EQ((std::vector<double>{1, 2, 5, 10}), ticks_of(log_axis('x', range_of(1, 10))));
  EXPECT_EQ((std::vector<double>{1, 10, 100, 1000}), ticks_of(log_axis('x', range_of(1, 1000))));
  // Between 2 and 5, with 15 % beside it.
  EXPECT_EQ((std::vector<double>{300'000, 350'000}), ticks_of(log_axis('x', range_of(310'000, 320'000))));
  EXPECT_EQ(1u, count(log_axis('x', range_of(310'000, 320'000)), "'3·10⁵' 300000"));
  EXPECT_EQ(1u, count(log_axis('y', range_of(0.00303, 0.00304), TickLabels::seconds), "'3 ms' 0.003"));
}

TEST(LogAxis, HasOneNotation) {
  for (int decade = -9; decade <= 9; ++decade) {
    for (const double start : {1.0, 1.3, 3.2, 7.7}) {
      for (const double width : {0.0, 0.3, 1.0, 2.4, 6.0, 9.0}) {  // in decades
        const double low = start * std::pow(10.0, decade);
        expect_one_notation(log_axis('y', range_of(low, low * std::pow(10.0, width))));
      }
    }
  }
  EXPECT_EQ(1u, count(log_axis('y', range_of(0.0004, 0.02)), "'5·10⁻⁴' 0.0005, '10⁻³' 0.001,"));
  EXPECT_EQ(1u, count(log_axis('y', range_of(0.001, 1)), "'0.001' 0.001, '0.01' 0.01,"));
}

TEST(LinearAxis, HasRoundTicksInOneNotation) {
  for (int decade = -12; decade <= 12; ++decade) {
    for (const double start : {-3.0, -1.0, -0.3, 0.0, 0.2, 1.0, 7.7}) {
      for (const double length : {1e-4, 0.03, 0.7, 1.0, 2.2, 40.0}) {
        const double unit = std::pow(10.0, decade), low = start * unit, high = (start + length) * unit;
        const std::string commands = reporting::linear_axis("y", low, high);
        const std::vector<double> ticks = ticks_of(commands);
        ASSERT_TRUE(ticks.size() >= 2 && ticks.size() <= 7) << commands;
        for (const double tick : ticks)
          ASSERT_TRUE(tick >= low - 1e-8 * unit && tick <= high + 1e-8 * unit) << commands;
        if (length > 1e-3) expect_one_notation(commands);  // else its labels need more than six digits
      }
    }
  }
  EXPECT_EQ("set xrange [0:1]\nset xtics ('0' 0, '0.2' 0.2, '0.4' 0.4, '0.6' 0.6, '0.8' 0.8, '1' 1)\n",
            reporting::linear_axis("x", 0, 1));
  EXPECT_EQ("set cbrange [-3e-05:3e-05]\nset cbtics ('-2·10⁻⁵' -2e-05, '0' 0, '2·10⁻⁵' 2e-05)\n",
            reporting::linear_axis("cb", -3e-5, 3e-5));
}

TEST(LinearAxis, TakesAnyNumbers) {
  const double infinity = std::numeric_limits<double>::infinity(), largest = std::numeric_limits<double>::max();
  for (const std::vector<double>& values : {std::vector<double>{},
                                            {0, 0},
                                            {5},
                                            {-infinity, 1, 2},
                                            {infinity},
                                            {-largest, largest},
                                            {5e-324},
                                            {1, 1 + 1e-15}}) {
    const std::string commands = reporting::linear_axis("y", values);
    EXPECT_GE(ticks_of(commands).size(), 2u) << commands;
    EXPECT_EQ(0u, count(commands, "inf") + count(commands, "nan")) << commands;
  }
  EXPECT_EQ(1u, count(reporting::linear_axis("y", std::vector<double>{1, 2, 3}), "set yrange [0.92:3.08]"));
  EXPECT_THROW(reporting::linear_axis("y", 2, 1), InvalidArgument);
  EXPECT_THROW(reporting::linear_axis("y", 0, infinity), InvalidArgument);
}

TEST(LogAxis, HasFewTicksInTheRangeOfAllDoubles) {
  const double largest = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  for (const auto& [low, high] : {std::pair(1.0, 1e300), std::pair(1e-300, 1e300), std::pair(least, largest),
                                  std::pair(largest, largest), std::pair(least, least), std::pair(1e291, 1e308)}) {
    const std::string commands = log_axis('y', range_of(low, high), TickLabels::numbers);
    EXPECT_FALSE(ticks_of(commands).empty()) << low << " " << high << "\n" << commands;
    EXPECT_LE(ticks_of(commands).size(), 20u) << commands;
    EXPECT_EQ(std::string::npos, commands.find("inf")) << commands;
    EXPECT_EQ(std::string::npos, reporting::log_axis_at('x', {low, high}).find("inf"));
  }
  LogRange range = range_of(1, 2);
  range.include(std::numeric_limits<double>::infinity());
  EXPECT_EQ(2, range.high());
}

}  // namespace
}  // namespace opshap
