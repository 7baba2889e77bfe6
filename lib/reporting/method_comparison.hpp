#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reporting/figures.hpp"
#include "reporting/table.hpp"
#include "runs/results.hpp"
#include "statistics/bootstrap.hpp"

namespace opshap::reporting {

/// All runs of one method at one budget.
struct MethodCell {
  std::string method;  ///< "<method>:<explainer>" for a trained explainer
  std::string access;
  std::optional<std::int64_t> budget;
  std::vector<const runs::MethodRow*> rows;
  std::string exact;      ///< why the method is exact in all of them; empty when it is not
  std::string undefined;  ///< why the first run that was refused has no score; empty when none was
  std::string failure;    ///< how the first run that did not finish ended; empty when all finished
};

/// The place of a method that is ranked at some budget.
struct MethodRank {
  std::string method;
  std::map<std::int64_t, statistics::Rank> at;  ///< by budget
  std::optional<statistics::Rank> overall;      ///< over MethodComparison::common_budgets()
};

/// "3.5 [2.0, 4.0]"; "3.5" where the interval is a point.
std::string show(const statistics::Rank& rank);
/// "4 096", with narrow spaces; "none" for methods without a budget.
std::string show_budget(std::optional<std::int64_t> budget);

/// Methods on one game: what their rows say, and who is ahead of whom.
///
/// Ranked are methods that see values alone, at the budgets where all their runs have a score and they are not exact:
/// where a method cannot but be right, its row is a check of the program and says nothing about the others. A run that
/// did not finish (DNF) counts as worse than any that did; where no run of anybody did there are no ranks.
class MethodComparison {
 public:
  /// Throws InvalidArgument for no rows. `seed` is that of the bootstrap.
  MethodComparison(std::vector<runs::MethodRow> rows, std::uint64_t seed);
  MethodComparison(MethodComparison&&) = default;
  MethodComparison(const MethodComparison&) = delete;  // cells point to rows
  MethodComparison& operator=(const MethodComparison&) = delete;

  const std::vector<runs::MethodRow>& rows() const { return rows_; }
  const std::vector<MethodCell>& cells() const { return cells_; }
  const std::vector<MethodRank>& ranks() const { return ranks_; }
  /// Methods without a rank, with the reason: they take no budget, are exact, or refuse every budget.
  std::vector<std::pair<std::string, std::string>> not_ranked() const;
  /// Budgets at which every ranked method is ranked.
  const std::vector<std::int64_t>& common_budgets() const { return common_budgets_; }
  /// Methods that are declared to be exact on this game and are not: a bug in the method or in its declaration. Empty
  /// when the truth itself has an error.
  std::vector<std::string> less_exact_than_declared() const;

  Table errors() const;
  Table runtime() const;
  Table ranking() const;
  /// Median NRMSE with quartile bands against the budget; exact methods are named in the caption instead.
  Figure budget_error() const;
  /// Everything in words and tables.
  std::string markdown() const;

 private:
  void rank(std::uint64_t seed);

  std::vector<runs::MethodRow> rows_;
  std::vector<MethodCell> cells_;
  std::vector<std::int64_t> budgets_, common_budgets_;
  std::vector<MethodRank> ranks_;
};

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
