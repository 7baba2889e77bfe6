#include "statistics/squared_length.hpp"

#include <cmath>
#include <cstddef>
#include <numeric>

#include "core/error.hpp"

namespace opshap::statistics {

namespace {

double product(const std::vector<double>& a, const std::vector<double>& b) {
  require(a.size() == b.size(), "squared length: size=", b.size(), " (another estimate has ", a.size(),
          " numbers). Give estimates of one vector.");
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double pairs(std::size_t of) { return static_cast<double>(of * (of - 1) / 2); }

}  // namespace

Mean squared_length(const std::vector<std::vector<double>>& estimates) {
  const std::size_t count = estimates.size();
  require(count == 1 || count >= 3, "squared length: estimates=", count,
          " (the standard error needs three, or the vector itself). Give more.");
  if (count == 1) return {.value = product(estimates[0], estimates[0]), .count = 1};
  std::vector<double> with(count, 0.0);  // sums of an estimate's products with all others
  double all = 0;
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const double both = product(estimates[a], estimates[b]);
      with[a] += both;
      with[b] += both;
      all += both;
    }
  }
  const double mean = all / pairs(count);
  double squares = 0;
  for (const double own : with) squares += std::pow((all - own) / pairs(count - 1) - mean, 2);
  const auto number = static_cast<double>(count);
  return {.value = mean, .standard_error = std::sqrt((number - 1) / number * squares), .count = count};
}

}  // namespace opshap::statistics
