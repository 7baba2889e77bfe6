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

#include "support/text.hpp"

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
