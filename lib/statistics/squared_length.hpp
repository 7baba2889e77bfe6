#pragma once

#include <vector>

#include "statistics/quantiles.hpp"

namespace opshap::statistics {

/// The squared Euclidean length of a vector that is known by independent unbiased estimates of it: the mean product of
/// two different ones. Noise of one meets noise of another, so none of it adds up, however large it is and whatever the
/// estimates say of it; the squared length of their mean would hold it. The value may be negative where noise is all.
///
/// The standard error is that of the jackknife over the estimates. It is too large rather than too small (Efron and
/// Stein 1981): right where the vector is longer than its noise, and for four estimates √3 times too large where there
/// is nothing but noise. A single estimate is the vector itself, without an error.
///
/// `count` is the number of estimates. Cost: count² products of vectors. Throws InvalidArgument for no estimate, for
/// two (the jackknife needs three), and for unequal sizes.
Mean squared_length(const std::vector<std::vector<double>>& estimates);

}  // namespace opshap::statistics
