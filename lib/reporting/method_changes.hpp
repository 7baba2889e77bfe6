#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runs/method_rows.hpp"
#include "statistics/bootstrap.hpp"

namespace opshap::reporting {

/// What became of a method since a baseline.
enum class Change {
  better,
  worse,
  none_seen,  ///< the interval holds a ratio of 1
  too_few,    ///< errors differ, but by chance alone so few runs would agree too often
};

/// "better", "worse", "no change seen", "too few runs".
std::string_view to_string(Change change);

/// One method in two comparisons.
struct MethodChange {
  std::string method;  ///< "<method>:<explainer>" for a trained explainer
  Change change = Change::none_seen;
  double ratio = 1;  ///< geometric mean over the pairs: NRMSE now / NRMSE in the baseline
  statistics::Interval interval = {1, 1};
  std::size_t pairs = 0;   ///< runs that both comparisons have, with a score in both
  std::size_t lost = 0;    ///< runs with a score in the baseline and none now
  std::size_t gained = 0;  ///< runs with a score now and none in the baseline
};

/// Two comparisons, method by method.
struct MethodChanges {
  std::vector<MethodChange> methods;               ///< with runs in common, in the order of today's rows
  std::vector<std::string> only_now, only_before;  ///< methods of one side; of both sides without a common run

  bool any_worse() const;
  /// A line for each method: "permutation: worse, errors 1.31 [1.20, 1.42] times those of the baseline over 30 runs".
  std::vector<std::string> lines() const;
};

/// Pairs the runs of one game, players, method, budget and repeat, and asks how the errors of each method changed.
///
/// The interval is the 95 % percentile bootstrap of the geometric mean over the pairs. A method is worse when the whole
/// interval lies above 1.001, and better when it lies below 1/1.001: a smaller change is not seen in three digits, and
/// other instruction sets make changes of that size in games of float32 operators. A method that lost a run is worse
/// whatever its other errors are. Where a method is exact to rounding its error counts as the rounding unit, so a pair
/// of exact runs has ratio 1. A method with a budget that has fewer than five pairs is not judged: all of four agree by
/// chance in one of eight cases.
///
/// Throws InvalidArgument when the two have no run in common. Deterministic in the seed.
MethodChanges method_changes(const std::vector<runs::MethodRow>& now, const std::vector<runs::MethodRow>& baseline,
                             std::uint64_t seed);

}  // namespace opshap::reporting
