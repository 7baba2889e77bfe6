#include "reporting/json_row.hpp"

#include <cmath>

namespace opshap::reporting::json_row {

double finite(const char* key, double value) {
  require<NumericalError>(std::isfinite(value), "results: ", key, "=", value,
                          " (is not finite). Store why there is no number instead.");
  return value;
}

const std::vector<double>& finite(const char* key, const std::vector<double>& values) {
  for (const double value : values) finite(key, value);
  return values;
}

Json to_json(const Measured& measured) {
  if (measured.value) return finite("score", *measured.value);
  return {{"value", nullptr}, {"why", measured.why}};
}

Json to_json(const std::optional<std::int64_t>& count) { return count ? Json(*count) : Json(nullptr); }

}  // namespace opshap::reporting::json_row
