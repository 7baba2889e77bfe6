#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/rng.hpp"

namespace opshap::statistics {

/// Where a number lies when its inputs are drawn anew.
struct Interval {
  double low = 0, high = 0;
};

/// Standard normal numbers of a stream, which are kept: whoever begins anew gets the same ones for the price of
/// reading.
class Noise {
 public:
  explicit Noise(const Rng& stream) : stream_(stream) {}

  void begin() { next_ = 0; }
  /// Asks for the memory of the first numbers ahead of time.
  void fetch() const {
    constexpr std::size_t a_line = 8, lines = 4;
    for (std::size_t number = 0; number < std::min(known_.size(), lines * a_line); number += a_line)
      __builtin_prefetch(known_.data() + number);
  }
  double normal() {
    if (next_ == known_.size()) known_.push_back(stream_.normal());
    return known_[next_++];
  }

 private:
  Rng stream_;
  std::vector<double> known_;
  std::size_t next_ = 0;
};

/// One draw of the inputs of a sample, with replacement, and a stream for whatever else is uncertain.
struct Draw {
  std::span<const std::uint32_t> inputs;  ///< as many indices as there are inputs
  Noise& noise;
};

/// A number made of the drawn inputs. Infinity is allowed and sorts last. NaN says that it is undefined for this draw.
using Statistic = std::function<double(Draw&)>;

/// A number of each resample.
class Resamples {
 public:
  explicit Resamples(std::vector<double> found);

  /// The percentile interval with so much of the resamples on either side of it. An undefined number may lie anywhere,
  /// so it counts on both sides. Throws InvalidArgument for a tail outside (0, 1/2).
  Interval interval(double tail = 0.025) const;

 private:
  std::vector<double> sorted_;
  std::size_t undefined_ = 0;
};

/// The number of resamples: an end at a tail of .025/25 still has ten of them beyond it.
inline constexpr int resamples_by_default = 10'000;

/// Percentile bootstrap (Efron 1979) over inputs. It is paired: whatever the statistic looks at, it looks at the same
/// inputs. It says how sure the statistic is about inputs of the same law, not about another training or another law.
///
/// Deterministic in the seed. Cost: resamples × statistic. The draws of the last samples are kept, since a report asks
/// for hundreds of intervals over the same inputs. Throws InvalidArgument for no inputs and no resamples.
Resamples bootstrap(std::size_t inputs, const Statistic& statistic, std::uint64_t seed,
                    int resamples = resamples_by_default);

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
