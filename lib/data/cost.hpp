#pragma once

#include "data/generate.hpp"

namespace opshap::data {

/// What a data set will cost.
struct Cost {
  double seconds_per_sample = 0;  ///< on one thread
  double seconds = 0;             ///< of the whole set on all threads, as if every sample cost the same
  double bytes = 0;               ///< of its fields; the rest of the file is small
};

/// Makes samples of the set on this thread and throws them away: two at least, then more for a twentieth of a second.
/// They are those that the set begins with. Throws as generate().
Cost measured_cost(const DatasetRequest& request);

}  // namespace opshap::data
