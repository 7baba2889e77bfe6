#include "statistics/study.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/error.hpp"

namespace opshap::statistics {

namespace {

std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace

Study::Study(std::string title, std::string effort, std::string error)
    : title_(std::move(title)), effort_(std::move(effort)), error_(std::move(error)) {}

void Study::add(double effort, double error) {
  require(effort > 0 && std::isfinite(effort) && error > 0 && std::isfinite(error), title_, ": ", effort_, "=", effort,
          ", ", error_, "=", error, " (a power law needs positive numbers). Leave the point out and say so.");
  points_.push_back({.effort = effort, .error = error});
}

void Study::add(double effort, double error, double low, double high) {
  require(low > 0 && low <= error && error <= high && std::isfinite(high), title_, ": low=", low, ", ", error_, "=",
          error, ", high=", high, " (a band has its curve inside). Give them in this order.");
  add(effort, error);
  points_.back().low = low;
  points_.back().high = high;
}

Fit Study::fit() const {
  const auto count = static_cast<double>(points_.size());
  double x_mean = 0, y_mean = 0;
  for (const Point& point : points_) {
    x_mean += std::log(point.effort) / count;
    y_mean += std::log(point.error) / count;
  }
  double xx = 0, xy = 0;
  for (const Point& point : points_) {
    xx += std::pow(std::log(point.effort) - x_mean, 2);
    xy += (std::log(point.effort) - x_mean) * (std::log(point.error) - y_mean);
  }
  require(xx > 0, title_, ": points=", points_.size(), " (a slope needs two different efforts). Add a point.");
  const double slope = xy / xx;
  double residual = 0;
  for (const Point& point : points_)
    residual += std::pow(std::log(point.error) - y_mean - slope * (std::log(point.effort) - x_mean), 2);
  return {.slope = slope,
          .slope_error = points_.size() > 2 ? std::sqrt(residual / (count - 2) / xx) : 0,
          .constant = std::exp(y_mean - slope * x_mean)};
}

std::string Study::markdown() const {
  std::string text = "## " + title_ + "\n\n| " + effort_ + " | " + error_ + " | local slope |\n|---:|---:|---:|\n";
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const bool has_slope = i > 0 && points_[i].effort != points_[i - 1].effort;
    const double slope = has_slope ? std::log(points_[i].error / points_[i - 1].error) /
                                         std::log(points_[i].effort / points_[i - 1].effort)
                                   : 0;
    text += "| " + digits(points_[i].effort) + " | " + digits(points_[i].error) + " | " +
            (has_slope ? digits(slope) : "") + " |\n";
  }
  const bool has_line = std::any_of(points_.begin(), points_.end(),
                                    [this](const Point& point) { return point.effort != points_.front().effort; });
  if (has_line) {
    const Fit line = fit();
    text += "\n" + error_ + " = " + digits(line.constant) + " · " + effort_ + "^(" + digits(line.slope) + " ± " +
            digits(line.slope_error) + ")\n";
  }
  return text;
}

std::string Study::csv() const {
  std::string text = effort_ + "," + error_ + "\n";
  for (const Point& point : points_) text += digits(point.effort) + "," + digits(point.error) + "\n";
  return text;
}

}  // namespace opshap::statistics
