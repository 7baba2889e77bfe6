#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reporting/axes.hpp"
#include "reporting/methods.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::reporting {

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
