#include "reporting/error_curves.hpp"

#include <fmt/format.h>

#include "reporting/figures.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting {

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
