#pragma once

namespace opshap::training {

/// Games smaller than this share of the mean count as if they were of that size, in losses that are relative.
inline constexpr double small_share = 0.1;

}  // namespace opshap::training
