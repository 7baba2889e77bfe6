#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace opshap::statistics {

/// A power law fitted to a study: error ≈ constant · effort^slope.
struct Fit {
  double slope = 0;
  double slope_error = 0;  ///< standard error of the slope from the scatter around the line; 0 for two points
  double constant = 0;
};

/// How an error falls with effort (budget, resolution, steps): points, the power law through all of them, and a table.
class Study {
 public:
  /// `title` heads the table; `effort` and `error` name its columns.
  Study(std::string title, std::string effort, std::string error);

  /// Throws InvalidArgument unless both are positive and finite: a logarithm is taken.
  void add(double effort, double error);
  /// The same with a band around the error, for the figure; `low` must be positive too.
  void add(double effort, double error, double low, double high);

  struct Point {
    double effort, error;
    double low = error, high = error;
  };

  const std::string& title() const { return title_; }
  const std::string& effort() const { return effort_; }
  const std::string& error() const { return error_; }
  const std::vector<Point>& points() const { return points_; }
  std::size_t size() const { return points_.size(); }
  /// Least squares on logarithms over the whole range. Throws InvalidArgument unless there are two different efforts.
  Fit fit() const;
  /// A table with the local slope of each step and the fit below it; 4 significant digits, no dates.
  std::string markdown() const;
  std::string csv() const;

 private:
  std::string title_, effort_, error_;
  std::vector<Point> points_;
};

}  // namespace opshap::statistics
