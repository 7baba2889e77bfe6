#pragma once

#include <cstdint>
#include <optional>

#include "reporting/scoreboard.hpp"

namespace opshap::reporting {

/// ‖summed − coarse‖₂ / ‖coarse‖₂, where coarse is the stored reference of an input on a line of `players` points, and
/// summed is the one on a line of `finer` points, a power of two times as many, added up over the coarse cells. Both
/// grids have a point at 0 of a periodic line and cells centred at their points, so a fine cell on the border of two
/// coarse ones is shared by both. None when one of the two is not stored or the coarse one is zero.
std::optional<double> distance_of_references(const Scoreboard& scores, std::int64_t sample, int players, int finer);

}  // namespace opshap::reporting
