#include "statistics/tail_probability.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "core/error.hpp"

namespace opshap::statistics {

double fisher_tail(double statistic, double numerator, double denominator) {
  require(numerator > 0 && denominator > 0, "fisher tail: degrees of freedom=", numerator, ", ", denominator,
          " (must be positive). Give samples of two or more.");
  if (std::isinf(statistic)) return 0;
  const double clamped = std::max(statistic, 0.0);
  // From here on the two laws agree to 1e-8, and the incomplete beta function loses digits.
  if (denominator > 1e9) return boost::math::cdf(complement(boost::math::chi_squared(numerator), numerator * clamped));
  return boost::math::cdf(complement(boost::math::fisher_f(numerator, denominator), clamped));
}

double chi_squared_quantile(double probability, double degrees) {
  require(probability > 0 && probability < 1 && degrees > 0, "chi squared quantile: probability=", probability,
          ", degrees of freedom=", degrees, " (must be in (0, 1), and positive). Give samples of two or more.");
  return boost::math::quantile(boost::math::chi_squared(degrees), probability);
}

double student_quantile(double probability, double degrees) {
  require(probability > 0 && probability < 1 && degrees > 0, "student quantile: probability=", probability,
          ", degrees of freedom=", degrees, " (must be in (0, 1), and positive). Give samples of two or more.");
  return boost::math::quantile(boost::math::students_t(degrees), probability);
}

}  // namespace opshap::statistics
