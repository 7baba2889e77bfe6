#include "reporting/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.hpp"

namespace opshap::reporting {

namespace {

/// A power of ten that has too many zeros to be read: "10⁶".
std::string power_of_ten(int exponent) {
  static constexpr std::array<const char*, 10> digits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) text += digits[static_cast<std::size_t>(digit - '0')];
  return text;
}

std::string label(double factor, int exponent, TickLabels labels) {
  const double value = factor * std::pow(10.0, exponent);
  if (labels == TickLabels::seconds) {
    if (exponent >= 0) return fmt::format("{:g} s", value);
    if (exponent >= -3) return fmt::format("{:g} ms", value * 1e3);
    return fmt::format("{:g} µs", value * 1e6);
  }
  if (exponent >= -3 && exponent <= 3) return fmt::format("{:g}", value);
  return factor == 1 ? power_of_ten(exponent) : fmt::format("{:g}·{}", factor, power_of_ten(exponent));
}

/// Ticks at these multiples of powers of ten that lie in the range, whose ends are finite, as gnuplot lists them.
template <std::size_t N>
std::string ticks_at(const std::array<double, N>& factors, double low, double high, int every, TickLabels labels) {
  std::string ticks;
  for (int exponent = static_cast<int>(std::floor(std::log10(low))); std::pow(10.0, exponent) <= high; ++exponent) {
    if (exponent % every != 0) continue;
    for (const double factor : factors) {
      const double value = factor * std::pow(10.0, exponent);
      if (value < low || value > high) continue;
      ticks += fmt::format("{}'{}' {:g}", ticks.empty() ? "" : ", ", label(factor, exponent, labels), value);
    }
  }
  return ticks;
}

constexpr double least_margin = 1.15;

struct Ends {
  double low, high;
};

/// A share of the decades more at both ends, as far as there are doubles.
Ends with_margin(double low, double high, double share, double least) {
  const double ratio = high / low;
  // The quotient of two doubles may be none.
  const double widened =
      std::isfinite(ratio) ? std::pow(ratio, share) : std::pow(10.0, share * (std::log10(high) - std::log10(low)));
  const double margin = std::max(least, widened);
  // Between the least and the largest normal number, and never empty.
  const double from = std::max(low / margin, std::numeric_limits<double>::min());
  return {.low = from,
          .high = std::min(std::max(high * margin, from * margin * margin), std::numeric_limits<double>::max())};
}

/// Every second power of ten where there are many; fewer where they fill the range of doubles.
int step_of(double decades) { return decades > 28 ? static_cast<int>(std::ceil(decades / 14)) : decades > 7 ? 2 : 1; }

// Neighbours differ by less than the square of the least margin, so that every range has one of them.
constexpr std::array<double, 13> fine_factors = {1, 1.2, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8.5};

}  // namespace

void LogRange::include(double value) {
  if (!(value > 0 && std::isfinite(value))) return;
  low_ = empty() ? value : std::min(low_, value);
  high_ = std::max(high_, value);
}

std::string log_axis(char axis, const LogRange& range, TickLabels labels) {
  require(!range.empty(),
          "axis: range=0 values (a logarithmic axis needs one that is positive). Leave the figure out.");
  const Ends ends = with_margin(range.low(), range.high(), 0.06, least_margin);
  const double low = ends.low, high = ends.high, decades = std::log10(high) - std::log10(low);
  const bool only_powers = decades > (labels == TickLabels::seconds ? 1.5 : 2.5);  // labels with units are longer
  std::string ticks = only_powers ? ticks_at(std::array{1.0}, low, high, step_of(decades), labels)
                                  : ticks_at(std::array{1.0, 2.0, 5.0}, low, high, 1, labels);
  if (ticks.empty()) ticks = ticks_at(fine_factors, low, high, 1, labels);
  return fmt::format("set logscale {0}\nset {0}range [{1:.6g}:{2:.6g}]\nset {0}tics ({3})\n", axis, low, high, ticks);
}

std::string log_axis_at(char axis, const std::vector<double>& values) {
  require(!values.empty(), "axis: values=0 (an axis needs one). Leave the figure out.");
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const std::size_t step = (sorted.size() + 7) / 8;
  std::string ticks;
  for (std::size_t i = 0; i < sorted.size(); i += step)
    ticks += fmt::format("{}'{:.0f}' {:.0f}", ticks.empty() ? "" : ", ", sorted[i], sorted[i]);
  const Ends ends = with_margin(sorted.front(), sorted.back(), 0.05, 1.1);
  return fmt::format("set logscale {0}\nset {0}range [{1:.6g}:{2:.6g}]\nset {0}tics ({3})\n", axis, ends.low, ends.high,
                     ticks);
}

}  // namespace opshap::reporting
