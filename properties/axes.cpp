// Logarithmic axes can be read: whatever their range, they have a tick in it.

#include "reporting/axes.hpp"

#include <algorithm>
#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "support/for_all.hpp"
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

TEST(LogAxis, HasATickWhateverItsRange) {
  for_all([](std::uint32_t start, std::uint32_t width, bool seconds) {
    const double low = std::pow(10.0, -6 + 12 * (start % 100'000) / 1e5);
    const double high = low * std::pow(10.0, 9 * std::pow((width % 100'000) / 1e5, 3));
    const std::string commands =
        log_axis('x', range_of(low, high), seconds ? TickLabels::seconds : TickLabels::numbers);
    const std::vector<double> ticks = ticks_of(commands);
    RC_ASSERT(!ticks.empty());
    RC_ASSERT(ticks.size() <= 9u);  // at most 2.5 decades with three of each, or seven with one
    // An axis is wider than its range by at most 6 % of its logarithm, or by 15 %.
    const double margin = std::max(1.15, std::pow(high / low, 0.06)) * (1 + 1e-5);  // values are printed to six digits
    for (const double tick : ticks) RC_ASSERT(tick >= low / margin && tick <= high * margin);
  });
}

TEST(LogAxis, TakesRoundValuesWhereItCan) {
  EXPECT_EQ((std::vector<double>{1, 2, 5, 10}), ticks_of(log_axis('x', range_of(1, 10))));
  EXPECT_EQ((std::vector<double>{1, 10, 100, 1000}), ticks_of(log_axis('x', range_of(1, 1000))));
  // Between 2 and 5, with 15 % beside it.
  EXPECT_EQ((std::vector<double>{300'000, 350'000}), ticks_of(log_axis('x', range_of(310'000, 320'000))));
  EXPECT_EQ(1u, count(log_axis('x', range_of(310'000, 320'000)), "'3·10⁵' 300000"));
  EXPECT_EQ(1u, count(log_axis('y', range_of(0.00303, 0.00304), TickLabels::seconds), "'3 ms' 0.003"));
}

}  // namespace
}  // namespace opshap
