#pragma once

#include <chrono>
#include <nlohmann/json.hpp>

namespace opshap::runs {

/// Who had the processors of this machine since the object was made: what says whether a wall time may be compared with
/// another one.
class Load {
 public:
  Load();

  /// {"wall_seconds", "processors", "cpu_seconds" of this program and of its children that have ended,
  /// "other_cpu_seconds" of everything else on the machine}. The last one is null where the system does not say it
  /// (/proc/stat). The system counts in hundredths of a second, and a child that still runs, as a peer that is kept,
  /// counts as something else.
  nlohmann::ordered_json since() const;

 private:
  std::chrono::steady_clock::time_point start_;
  double own_ = 0, machine_ = 0;
};

}  // namespace opshap::runs
