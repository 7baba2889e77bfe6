#pragma once

#include "core/coalitions.hpp"

namespace opshap::estimators {

/// The coalitions of size 1 and of size n − 1: {i} in row i, N∖i in row n + i.
Coalitions border_coalitions(int players);

}  // namespace opshap::estimators
