#pragma once

namespace opshap::statistics {

/// P(F > statistic) of Fisher's F with these degrees of freedom, which need not be whole numbers; with infinitely many
/// in the denominator it is that of χ²/numerator. Throws InvalidArgument unless both are positive.
double fisher_tail(double statistic, double numerator, double denominator);

}  // namespace opshap::statistics
