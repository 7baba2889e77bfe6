#include "reporting/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "reporting/figures.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

namespace {

/// A power of ten that has too many zeros to be read: "10⁶".
std::string power_of_ten(int exponent) {
  static constexpr std::array<const char*, 10> digits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) text += digits[static_cast<std::size_t>(digit - '0')];
  return text;
}

/// The value of a tick: factor · 10^exponent.
struct Tick {
  double factor = 1;
  int exponent = 0;
  double value() const { return factor * std::pow(10.0, exponent); }
};

std::string seconds_label(const Tick& tick) {
  if (tick.exponent >= 0) return fmt::format("{:g} s", tick.value());
  if (tick.exponent >= -3) return fmt::format("{:g} ms", tick.value() * 1e3);
  return fmt::format("{:g} µs", tick.value() * 1e6);
}

std::string label(const Tick& tick, bool plain) {
  if (plain) return fmt::format("{:g}", tick.value());
  return tick.factor == 1 ? power_of_ten(tick.exponent)
                          : fmt::format("{:g}·{}", tick.factor, power_of_ten(tick.exponent));
}

/// Ticks as gnuplot lists them. Numbers are plain decimals where all of an axis can be read as such: ten to the third
/// is the last power that is written out.
std::string listed(const std::vector<Tick>& ticks, TickLabels labels) {
  const bool plain = std::ranges::all_of(ticks, [](const Tick& tick) {
    return tick.exponent >= -3 && (tick.exponent < 3 || (tick.exponent == 3 && tick.factor == 1));
  });
  return listing(ticks, [&](const Tick& tick) {
    const std::string text = labels == TickLabels::seconds ? seconds_label(tick) : label(tick, plain);
    return fmt::format("'{}' {:g}", text, tick.value());
  });
}

/// Ticks at these multiples of powers of ten that lie in the range, whose ends are finite.
template <std::size_t N>
std::vector<Tick> ticks_at(const std::array<double, N>& factors, double low, double high, int every) {
  std::vector<Tick> ticks;
  for (int exponent = static_cast<int>(std::floor(std::log10(low))); std::pow(10.0, exponent) <= high; ++exponent) {
    if (exponent % every != 0) continue;
    for (const double factor : factors) {
      const Tick tick{.factor = factor, .exponent = exponent};
      if (tick.value() >= low && tick.value() <= high) ticks.push_back(tick);
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
  return {from, std::min(std::max(high * margin, from * margin * margin), std::numeric_limits<double>::max())};
}

/// Every second power of ten where there are many; fewer where they fill the range of doubles.
int step_of(double decades) { return decades > 28 ? static_cast<int>(std::ceil(decades / 14)) : decades > 7 ? 2 : 1; }

/// Ends whose distance is a double, and which are not neighbouring doubles.
Ends widened_ends(double low, double high) {
  const double largest = std::numeric_limits<double>::max() / 4, least = std::numeric_limits<double>::min() * 1e9;
  low = std::clamp(low, -largest, largest);
  high = std::clamp(high, -largest, largest);
  const double size = std::max({std::abs(low), std::abs(high), least});
  if (high - low >= 1e-6 * size) return {.low = low, .high = high};
  const double half = low == 0 && high == 0 ? 1 : size / 2;
  return {.low = low - half, .high = high + half};
}

/// The least of 1, 2 and 5 times a power of ten that is not below a positive number.
Tick step_at_least(double wanted) {
  const int exponent = static_cast<int>(std::floor(std::log10(wanted)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (const Tick step{.factor = factor, .exponent = exponent}; step.value() >= wanted) return step;
  }
  return {.factor = 1, .exponent = exponent + 1};
}

/// Ticks of a linear axis as gnuplot lists them. Powers are that of the largest tick for all.
std::string multiples_of(const Tick& step, const Ends& ends) {
  std::vector<double> multiples;
  for (double multiple = std::ceil(ends.low / step.value()); multiple * step.value() <= ends.high; ++multiple)
    multiples.push_back(multiple);
  double largest_tick = 0, least_tick = std::numeric_limits<double>::max();
  for (const double multiple : multiples) {
    if (multiple == 0) continue;
    largest_tick = std::max(largest_tick, std::abs(multiple) * step.value());
    least_tick = std::min(least_tick, std::abs(multiple) * step.value());
  }
  constexpr double rounding = 1e-9;
  const bool plain = least_tick >= 0.001 * (1 - rounding) && largest_tick <= 1000 * (1 + rounding);
  const int power = largest_tick > 0 ? static_cast<int>(std::floor(std::log10(largest_tick * (1 + rounding)))) : 0;
  return listing(multiples, [&](double multiple) {
    const double value = multiple * step.value(),
                 mantissa = multiple * step.factor * std::pow(10.0, step.exponent - power);
    const std::string text = multiple == 0 ? "0"
                             : plain       ? fmt::format("{:g}", value)
                                           : fmt::format("{:g}·{}", mantissa, power_of_ten(power));
    return fmt::format("'{}' {:.9g}", text, value);
  });
}

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
  const auto [low, high] = with_margin(range.low(), range.high(), 0.06, least_margin);
  const double decades = std::log10(high) - std::log10(low);
  const bool only_powers = decades > (labels == TickLabels::seconds ? 1.5 : 2.5);  // labels with units are longer
  std::vector<Tick> ticks = only_powers ? ticks_at(std::array{1.0}, low, high, step_of(decades))
                                        : ticks_at(std::array{1.0, 2.0, 5.0}, low, high, 1);
  if (ticks.empty()) ticks = ticks_at(fine_factors, low, high, 1);
  return fmt::format("set logscale {0}\nset {0}range [{1:.6g}:{2:.6g}]\nset {0}tics ({3})\n", axis, low, high,
                     listed(ticks, labels));
}

std::string log_axis_at(char axis, const std::vector<double>& values) {
  require(!values.empty(), "axis: values=0 (an axis needs one). Leave the figure out.");
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const std::size_t step = (sorted.size() + 5) / 6;
  std::string ticks;
  for (std::size_t i = 0; i < sorted.size(); i += step)
    ticks += fmt::format("{}'{:.0f}' {:.0f}", ticks.empty() ? "" : ", ", sorted[i], sorted[i]);
  const auto [low, high] = with_margin(sorted.front(), sorted.back(), 0.05, 1.1);
  return fmt::format("set logscale {0}\nset {0}range [{1:.6g}:{2:.6g}]\nset {0}tics ({3})\n", axis, low, high, ticks);
}

std::string linear_axis(std::string_view axis, double low, double high) {
  require(std::isfinite(low) && std::isfinite(high) && low <= high, "axis: low=", low, ", high=", high,
          " (an axis goes from a finite number to one that is not smaller). Leave the figure out.");
  const Ends ends = widened_ends(low, high);
  const Tick step = step_at_least((ends.high - ends.low) / 5);
  const std::string ticks = multiples_of(step, ends);
  return fmt::format("set {0}range [{1:.7g}:{2:.7g}]\nset {0}tics ({3})\n", axis, ends.low, ends.high, ticks);
}

std::string linear_axis(std::string_view axis, const std::vector<double>& values) {
  std::vector<double> finite = values;
  std::erase_if(finite, [](double value) { return !std::isfinite(value); });
  if (finite.empty()) finite = {0};
  const double low = std::ranges::min(finite), high = std::ranges::max(finite);
  const double margin = 0.04 * (high - low);
  return std::isfinite(margin) ? linear_axis(axis, low - margin, high + margin) : linear_axis(axis, low, high);
}

using figures::digits;

void ErrorCurves::add(const MethodStyle& style, const std::vector<ErrorPoint>& points) {
  std::string rows;
  for (const ErrorPoint& point : points) {
    budgets_.push_back(point.budget);
    if (point.error.q25 <= 0) continue;
    rows += fmt::format("{:.0f} {} {} {}\n", point.budget, digits(point.error.q25), digits(point.error.median),
                        digits(point.error.q75));
    errors_.include(point.error.q25);
    errors_.include(point.error.q75);
  }
  if (rows.empty()) return;
  data_ += fmt::format("$m{} << EOD\n{}EOD\n", count_, rows);
  bands_ +=
      fmt::format("{}$m{} using 1:2:4 with filledcurves lc rgb '{}'", bands_.empty() ? "" : ", ", count_, style.color);
  lines_ += fmt::format(", $m{} using 1:3 {}", count_, figures::line_style(style));
  ++count_;
}

void ErrorCurves::add_level(double error, const std::string& style) {
  errors_.include(error);
  if (error > 0) lines_ += fmt::format(", {} with lines {}", digits(error), style);
}

std::string ErrorCurves::script() const {
  return data_ + log_axis_at('x', budgets_) + log_axis('y', errors_) +
         "set xlabel 'budget (distinct coalitions)'\nset ylabel 'NRMSE'\nplot " + bands_ + lines_ + "\n";
}

}  // namespace opshap::reporting
