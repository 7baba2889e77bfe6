#pragma once

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <utility>

#include "support/test_seed.hpp"

namespace opshap {

/// Holds a property of generated values to be true; a failing case is shrunk and fails the running GoogleTest test.
/// Inside, RC_ASSERT(mismatch(...) == "") shows what went wrong.
template <typename Property>
void for_all(Property&& property) {
  use_test_seed();
  SCOPED_TRACE(replay());
  rc::detail::checkGTest(std::forward<Property>(property));
}

}  // namespace opshap
