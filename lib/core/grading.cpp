#include "core/grading.hpp"

#include <cmath>

#include "core/error.hpp"

namespace opshap {

Grading::Grading(double ratio) : log_ratio_(std::log(ratio)) {
  require(ratio >= 1 / most && ratio <= most, "grading: ratio=", ratio, " (needs ", 1 / most, "..", most,
          "; 1 makes equal cells). Give a ratio in that range.");
}

double Grading::operator()(double x) const {
  return log_ratio_ == 0 ? x : std::expm1(x * log_ratio_) / std::expm1(log_ratio_);
}

double Grading::inverse(double y) const {
  return log_ratio_ == 0 ? y : std::log1p(y * std::expm1(log_ratio_)) / log_ratio_;
}

}  // namespace opshap
