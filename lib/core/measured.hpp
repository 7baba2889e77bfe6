#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

namespace opshap {

/// A number, or the reason why there is none ({"value":null,"why":"..."} in JSON).
struct Measured {
  std::optional<double> value;
  std::string why;  ///< non-empty iff there is no value

  static Measured of(double value) { return {.value = value, .why = {}}; }
  static Measured undefined(std::string why) { return {.value = std::nullopt, .why = std::move(why)}; }

  bool operator==(const Measured&) const = default;
};

/// ‖values‖₂. No square overflows or underflows: the values are brought to the size of 1 by a power of two. Infinite or
/// NaN where a value is. Shape [n].
double norm(std::span<const double> values);

/// ‖values‖₂ over the root of their number; 0 of no values.
double root_mean_square(std::span<const double> values);

/// ‖a − b‖₂, in the same way. Shapes [n], [n].
double distance(std::span<const double> a, std::span<const double> b);

/// error / size, the only rule of this project for an error that is relative: 0 where both are 0, and undefined where
/// only the size is, where the ratio is beyond the largest double, or where a number is not finite. Both must be
/// lengths (not negative).
Measured relative(double error, double size);

}  // namespace opshap
