#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace opshap::statistics {

/// A place among competitors, 1 the best, and where it lies when the repeats are drawn anew.
struct Rank {
  double rank = 0;
  double low = 0, high = 0;    ///< percentile interval; equal to the rank when there is one repeat only
  std::size_t conditions = 0;  ///< at which it took part; without one there is no rank
};

/// Errors of one competitor under one condition (a budget), one per repeat; smaller is better. Empty: it takes no part
/// in this condition.
using Repeats = std::vector<double>;

/// Ranks by median error among those that take part in a condition, averaged over the conditions of each:
/// errors[condition][competitor][repeat]. Ties share the mean of their ranks.
///
/// The interval is the percentile bootstrap (Efron 1979): in each resample the repeats of every cell are drawn with
/// replacement, independently of each other, and everybody is ranked again. It says how sure the order is on these
/// games at these budgets, not on others. Deterministic in the seed. Cost: resamples × all repeats. Throws
/// InvalidArgument unless every condition has the same competitors.
std::vector<Rank> bootstrap_ranks(const std::vector<std::vector<Repeats>>& errors, std::uint64_t seed,
                                  double confidence = 0.95, int resamples = 2000);

}  // namespace opshap::statistics
