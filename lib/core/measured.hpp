#pragma once

#include <optional>
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

}  // namespace opshap
