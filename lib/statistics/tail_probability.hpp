#pragma once

namespace opshap::statistics {

/// P(F > statistic) of Fisher's F with these degrees of freedom, which need not be whole numbers; with infinitely many
/// in the denominator it is that of χ²/numerator. Throws InvalidArgument unless both are positive.
double fisher_tail(double statistic, double numerator, double denominator);

/// The value that χ² with these degrees of freedom is below with this probability. Throws InvalidArgument unless they
/// are positive and the probability is in (0, 1).
double chi_squared_quantile(double probability, double degrees);

/// The same of Student's t, which is what an estimate over its standard error follows where the error is of
/// degrees + 1 normal samples.
double student_quantile(double probability, double degrees);

}  // namespace opshap::statistics
