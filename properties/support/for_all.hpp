#pragma once

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <sstream>
#include <utility>

#include "core/rng.hpp"
#include "support/test_seed.hpp"

namespace opshap {

/// Holds a property of generated values to be true; a failing case is shrunk and fails the running GoogleTest test.
/// Inside, RC_ASSERT(mismatch(...) == "") shows what went wrong. A property whose cases cost tens of milliseconds says
/// what share of the usual number it gets (use_test_seed()); with RC_PARAMS=max_success=1000 all get more.
void for_all(double share, auto&& property) {
  use_test_seed();
  SCOPED_TRACE(replay());
  rc::detail::TestParams parameters = rc::detail::configuration().testParams;
  parameters.maxSuccess = std::max(1, static_cast<int>(parameters.maxSuccess * share));
  const rc::detail::TestResult result =
      rc::detail::checkTestable(std::forward<decltype(property)>(property), rc::detail::TestMetadata{}, parameters);
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  if (!result.is<rc::detail::SuccessResult>()) FAIL() << message.str();
  if (!result.get<rc::detail::SuccessResult>().distribution.empty()) std::cout << message.str() << '\n';
}
void for_all(auto&& property) { for_all(1, std::forward<decltype(property)>(property)); }

/// A property of what is easier to draw than to generate: each case draws from a stream of its own.
void for_all_streams(double share, const auto& property) {
  for_all(share, [&property] {
    Rng rng(*rc::gen::arbitrary<std::uint64_t>());
    property(rng);
  });
}
void for_all_streams(const auto& property) { for_all_streams(1, property); }

}  // namespace opshap
