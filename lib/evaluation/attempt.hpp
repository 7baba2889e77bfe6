#pragma once

#include <optional>
#include <string>

#include "core/attribution.hpp"
#include "methods/method.hpp"

namespace opshap::evaluation {

/// What a method answered to a question, or why it did not.
struct Attempt {
  std::optional<Attribution> found;
  std::string why;      ///< in words; empty where there is an answer
  std::string failure;  ///< of a program that did not finish: to_string(peers::Ending). Else empty.
};

/// Asks a method. A budget or a game that cannot work, a numerical failure, and a program that fails or refuses are
/// reasons; one method that fails costs its own row and no other. What stops the whole run passes through: Stopped,
/// EnvironmentError, DataError.
Attempt attempted(const methods::Method& method, const methods::Question& question);

}  // namespace opshap::evaluation
