#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "reporting/scoreboard.hpp"
#include "statistics/bootstrap.hpp"

namespace opshap::reporting {

/// Scores of several things on the same inputs, and how sure what is made of their medians is.
///
/// Two things make a median uncertain. Other inputs might have been drawn: every resample draws the inputs anew, the
/// same for all series. And an NRMSE is measured against a reference that has an error itself: in every resample the
/// NRMSE is off by the reference's error times a standard normal number, independent between inputs and series. That is
/// the worst direction that the reference's error can have, by the triangle inequality.
class PairedScores {
 public:
  /// One number an input, and by how much the reference's error may move it; both [inputs], the latter [] where it
  /// moves none of them.
  struct Series {
    std::vector<double> scores, reference_errors;
  };
  using Score = std::function<std::optional<double>(const runs::AttributionRow& row)>;
  using Cells = const std::vector<const Cell*>&;

  /// All series of the same length.
  explicit PairedScores(std::vector<Series> series);

  /// On the inputs where all cells have a score. Only an NRMSE is moved by the reference's error: R² needs no
  /// reference, and a correlation is moved by the square of that error only.
  static PairedScores of(Cells cells, std::string_view metric);
  /// Any number of a row, on the inputs where all cells have it; not moved by the reference's error.
  static PairedScores of(Cells cells, const Score& score);
  /// NRMSE net of the reference's error: the reference's squared error is taken off the squared NRMSE of every input,
  /// since that is what an independent reference adds on average. The median is of these differences, and its root is
  /// taken after it, with 0 as the floor.
  static PairedScores net(Cells cells);

  /// One series: the NRMSE of the first cell over that of the second, input by input. It compares two methods more
  /// sharply than their medians do, because an input that is hard for one is mostly hard for the other. The reference's
  /// error moves a ratio by what it moves its two parts by, to first order.
  static PairedScores ratios(const Cell& first, const Cell& second);

  std::size_t inputs() const { return series_.empty() ? 0 : series_.front().scores.size(); }
  /// One a series. Needs an input.
  std::vector<double> medians() const;

  /// A number made of the medians, one a series. NaN where it is undefined, as the ratio of two infinite errors.
  using Function = std::function<double(std::span<const double> medians)>;
  /// The number for the medians of resamples. The same for the same scores. Needs an input.
  statistics::Resamples resamples(const Function& function) const;

 private:
  double to_score(double median) const;

  std::vector<Series> series_;
  bool net_ = false;
};

/// a / b; 1 when both are 0, infinity when only b is.
double ratio(double a, double b);

/// Slope of the least-squares line through (log effort, log error). Errors of 0 count as the smallest number.
double log_slope(std::span<const double> efforts, std::span<const double> errors);

}  // namespace opshap::reporting
