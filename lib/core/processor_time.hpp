#pragma once

#include <string_view>

namespace opshap {

/// Processor time in seconds, counted by the system. Only differences of two readings mean something.
struct ProcessorTime {
  double own = 0;  ///< of this process and of its children that have ended
  double all = 0;  ///< of all processes, and of other guests on the same host; 0 where the system does not say
  double wall = 0;
  int processors = 1;  ///< that `all` was counted on

  /// What was used since an earlier reading: own, all, wall.
  ProcessorTime since(const ProcessorTime& earlier) const;
  /// Of a difference: seconds of other processes. At least 0, since `all` is counted in whole ticks of the system. A
  /// child counts as another process until it has ended and was waited for.
  double of_others() const;
};

/// The reading now, from getrusage() and /proc/stat.
ProcessorTime processor_time();

/// The same with another text in the place of /proc/stat. Without a line that begins with "cpu " `all` is 0.
ProcessorTime processor_time(std::string_view stat);

}  // namespace opshap
