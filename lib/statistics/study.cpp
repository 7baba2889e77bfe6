#include "statistics/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"

namespace opshap::statistics {

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
  std::string text = fmt::format("## {}\n\n| {} | {} | local slope |\n|---:|---:|---:|\n", title_, effort_, error_);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    std::string slope;
    if (i > 0 && points_[i].effort != points_[i - 1].effort) {
      slope = fmt::format("{:.4g}", std::log(points_[i].error / points_[i - 1].error) /
                                        std::log(points_[i].effort / points_[i - 1].effort));
    }
    text += fmt::format("| {:.4g} | {:.4g} | {} |\n", points_[i].effort, points_[i].error, slope);
  }
  const auto elsewhere = [this](const Point& point) { return point.effort != points_.front().effort; };
  if (std::ranges::none_of(points_, elsewhere)) return text;
  const Fit line = fit();
  return text + fmt::format("\n{} = {:.4g} · {}^({:.4g} ± {:.4g})\n", error_, line.constant, effort_, line.slope,
                            line.slope_error);
}

std::string Study::csv() const {
  std::string text = effort_ + "," + error_ + "\n";
  for (const Point& point : points_) text += fmt::format("{:.4g},{:.4g}\n", point.effort, point.error);
  return text;
}

}  // namespace opshap::statistics
