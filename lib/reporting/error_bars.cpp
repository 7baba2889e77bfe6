#include "reporting/error_bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "statistics/quantiles.hpp"

namespace opshap::reporting {

namespace {

/// Ranks from 0 on; equal numbers share the mean of theirs.
std::vector<double> ranks_of(std::span<const double> numbers) {
  std::vector<double> found;
  for (const double number : numbers) {
    const auto below = std::ranges::count_if(numbers, [&](double other) { return other < number; });
    const auto same = std::ranges::count(numbers, number);
    found.push_back(static_cast<double>(below) + static_cast<double>(same - 1) / 2);
  }
  return found;
}

/// Spearman's rank correlation.
double rank_correlation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = ranks_of(a), y = ranks_of(b);
  const double middle = statistics::mean(x).value;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - middle) * (y[i] - middle);
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
  }
  return xy / std::sqrt(xx * yy);
}

std::string percents(std::ptrdiff_t some, std::size_t all) {
  return fmt::format("{:.0f} %", 100 * (static_cast<double>(some) / static_cast<double>(all)));
}

}  // namespace

double without_reference(double distance, double reference_error) {
  return std::max(std::sqrt(std::max(0.0, distance * distance - reference_error * reference_error)),
                  reference_error / 3);
}

const std::vector<Column>& columns_of_bars() {
  static const std::vector<Column> all = {
      {"games", true},         {"rank correlation", true},        {"error/bar", true},     {"error ≤ bar", true},
      {"error ≤ 2 bar", true}, {"failures with a warning", true}, {"other warnings", true}};
  return all;
}

std::vector<std::string> bars_judged(std::span<const double> errors, std::span<const double> bars) {
  std::vector<double> ratios;
  std::ptrdiff_t covered = 0, covered_twice = 0, failures = 0, caught = 0, warned = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    ratios.push_back(bars[i] > 0 ? errors[i] / bars[i] : std::numeric_limits<double>::infinity());
    covered += errors[i] <= bars[i] ? 1 : 0;
    covered_twice += errors[i] <= 2 * bars[i] ? 1 : 0;
    failures += errors[i] > failed_from ? 1 : 0;
    caught += errors[i] > failed_from && bars[i] > warns_above ? 1 : 0;
    warned += bars[i] > warns_above ? 1 : 0;
  }
  return {std::to_string(errors.size()),
          errors.size() < 3 ? "too few" : fmt::format("{:.2f}", rank_correlation(errors, bars)),
          show(statistics::quartiles(ratios)),
          percents(covered, errors.size()),
          percents(covered_twice, errors.size()),
          fmt::format("{} of {}", caught, failures),
          fmt::format("{} of {}", warned - caught, static_cast<std::ptrdiff_t>(errors.size()) - failures)};
}

}  // namespace opshap::reporting
