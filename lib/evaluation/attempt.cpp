#include "evaluation/attempt.hpp"

#include "core/error.hpp"
#include "peers/ending.hpp"

namespace opshap::evaluation {

Attempt attempted(const methods::Method& method, const methods::Question& question) try {
  return {.found = method.attribute(question), .why = {}, .failure = {}};
} catch (const InvalidArgument& error) {
  return {.found = std::nullopt, .why = error.what(), .failure = {}};
} catch (const NumericalError& error) {
  return {.found = std::nullopt, .why = error.what(), .failure = {}};
} catch (const peers::Failure& failure) {
  return {
      .found = std::nullopt,
      .why = failure.what(),
      .failure = failure.ending() == peers::Ending::refused ? std::string() : std::string(to_string(failure.ending()))};
}

}  // namespace opshap::evaluation
