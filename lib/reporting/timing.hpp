#pragma once

#include <string>

#include "runs/run.hpp"

namespace opshap::reporting {

/// Whether the wall times of a run can be compared with each other.
struct Timing {
  std::string machine;  ///< processor, device and threads, in words
  std::string why_not;  ///< a sentence; empty where all sittings had one machine with nothing beside them

  bool comparable() const { return why_not.empty(); }
};

/// Sittings that do not say what ran beside them, which is those of before, are not comparable.
Timing timing_of(const runs::Run& run);

}  // namespace opshap::reporting
