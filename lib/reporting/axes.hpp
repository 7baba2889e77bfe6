#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reporting/methods.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::reporting {

/// The smallest and largest positive value an axis has to show.
class LogRange {
 public:
  /// Values that are not positive have no place on a logarithmic axis and are left out.
  void include(double value);
  bool empty() const { return high_ == 0; }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  double low_ = 0, high_ = 0;
};

enum class TickLabels { numbers, seconds };

// The labels of an axis have one notation: plain decimals where all ticks but 0 have a size from 0.001 to 1000, else
// powers of ten.

/// gnuplot commands for a logarithmic axis ('x' or 'y') a little wider than the range, with ticks at 1, 2, 5 of each
/// decade, at decades when there are many, or at finer values where the range is too narrow for one of these. So there
/// is always a tick. The range must not be empty.
std::string log_axis(char axis, const LogRange& range, TickLabels labels = TickLabels::numbers);

/// A logarithmic axis with ticks at given whole numbers, at most six of them labelled. The numbers are written in full.
std::string log_axis_at(char axis, const std::vector<double>& values);

/// gnuplot commands for a linear axis ("x", "y" or "cb") from `low` to `high`, with two to seven ticks at multiples of
/// 1, 2 or 5 times a power of ten. An interval without length is widened.
std::string linear_axis(std::string_view axis, double low, double high);

/// linear_axis() of values: a little wider than their range. Numbers that are not finite have no place on it.
std::string linear_axis(std::string_view axis, const std::vector<double>& values);

/// The error of a method at one budget.
struct ErrorPoint {
  double budget = 0;
  statistics::Quartiles error;
};

/// Median errors with quartile bands against budgets, both axes logarithmic, as a gnuplot script.
class ErrorCurves {
 public:
  /// Points whose lower quartile is not positive have no place on a logarithmic axis and are left out.
  void add(const MethodStyle& style, const std::vector<ErrorPoint>& points);
  /// A horizontal line; `style` is gnuplot's: "lw 2.4 lc rgb '#D55E00'".
  void add_level(double error, const std::string& style);

  /// No curve, so nothing to draw.
  bool empty() const { return count_ == 0; }
  std::string script() const;

 private:
  std::string data_, bands_, lines_;
  std::vector<double> budgets_;
  LogRange errors_;
  int count_ = 0;
};

}  // namespace opshap::reporting
