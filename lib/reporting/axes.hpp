#pragma once

#include <string>
#include <vector>

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

/// gnuplot commands for a logarithmic axis ('x' or 'y') a little wider than the range, with ticks at 1, 2, 5 of each
/// decade, at decades when there are many, or at finer values where the range is too narrow for one of these. So there
/// is always a tick. The range must not be empty.
std::string log_axis(char axis, const LogRange& range, TickLabels labels = TickLabels::numbers);

/// A logarithmic axis with ticks at given values, at most eight of them labelled.
std::string log_axis_at(char axis, const std::vector<double>& values);

}  // namespace opshap::reporting
